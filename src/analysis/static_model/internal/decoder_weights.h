#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/static_model/decoder.h"
#include "base/error.h"
#include "formats/node.h"

namespace profline::static_model::internal {

inline constexpr std::uint64_t kMostSize = std::uint64_t{1} << 24U;
inline constexpr std::uint64_t kMostLayers = 1U << 12U;

/// Reads values from a model's config and collects everything that is wrong with it.
class ConfigKeys {
 public:
  explicit ConfigKeys(const Node& config) : config_(config) {}

  /// A positive size. If the key is missing: `otherwise`, or a problem if that is absent or 0.
  std::uint64_t size(std::string_view key, std::optional<std::uint64_t> otherwise = {},
                     std::uint64_t most = kMostSize);
  /// The same for a key that has another name in some models or releases.
  std::uint64_t size(std::initializer_list<std::string_view> keys,
                     std::optional<std::uint64_t> otherwise = {}, std::uint64_t most = kMostSize);
  /// The same, where 0 means "none".
  std::uint64_t maybe(std::string_view key);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key) const;
  /// Python's configs treat null and absent alike.
  const Node* present(std::string_view key) const;
  void fail(const Node& at, std::string message);

  const Node& config() const { return config_; }
  const std::vector<Error>& problems() const { return problems_; }

 private:
  const Node& config_;
  std::vector<Error> problems_;
};

}  // namespace profline::static_model::internal

/// The weights of a decoder by kind of operator, which both its parameter count and its costs are
/// made of.
namespace profline::static_model::internal {

/// What one kind of operator has in each of `layers` layers.
struct Weights {
  Count layers;
  Count matrix;  ///< weights of linear layers
  Count bias{};
  Count tensors{};           ///< of the checkpoint
  bool is_quantized = true;  ///< if the model is

  Count parameters() const { return layers * (matrix + bias); }
  ParameterGroup group(std::string name) const;
};

Weights attention_weights(const Decoder& decoder);
/// Of one network of the given width, which may be that of an expert.
Weights network_weights(const Decoder& decoder, std::uint64_t width, Count layers, bool bias);
/// Of the layers without experts.
Weights dense_weights(const Decoder& decoder);
// Only for a decoder with experts.
Weights router_weights(const Decoder& decoder);
Weights expert_weights(const Decoder& decoder);  ///< of one routed expert
Weights shared_weights(const Decoder& decoder);

/// Norms of all layers, those of queries and keys included, and the last one.
Count norm_parameters(const Decoder& decoder);
/// Between an embedding and hidden states of different widths; 0 if they have the same.
Count embedding_projection(const Decoder& decoder);

}  // namespace profline::static_model::internal
