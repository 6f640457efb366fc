#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/safetensors.h"
#include "records/deepseek_ocr_config.h"

namespace profline::weights {

/// What a tensor is for, as far as its initial values depend on it.
enum class Role : std::uint8_t {
  Norm,       ///< scale of a LayerNorm or RMSNorm
  Bias,       ///< of anything
  Linear,     ///< matrix or convolution
  Router,     ///< logits of the experts
  Embedding,  ///< rows or single vectors that represent tokens
  Position,   ///< absolute or relative positions
  Head,       ///< logits of the vocabulary
};

/// One tensor that the model needs.
struct TensorSpec {
  std::string name;
  Shape shape;
  Role role;

  std::int64_t element_count() const;
  bool operator==(const TensorSpec&) const = default;
};

/// Every tensor of the model, in the order of the data flow: SAM, CLIP, projector, newline and
/// separator, decoder, head. 2710 with 3 336 106 240 elements for the release.
std::vector<TensorSpec> tensor_specs(const DeepseekOcrConfig& config);

std::int64_t element_count(std::span<const TensorSpec> specs);

/// Whether the checkpoint has each tensor with its shape, in a dtype that can be loaded. The Error
/// names what is missing or wrong, a handful of each, and how many more there are. The value: names
/// that the model does not use, without the `position_ids` buffers that some writers add; the
/// caller reports them.
Result<std::vector<std::string>> check(std::span<const TensorSpec> specs,
                                       const Checkpoint& checkpoint);

/// The config with each of its assumed sizes taken from the shape of a tensor that shows it. A
/// tensor that is missing or of another rank leaves the assumption; check() reports it.
DeepseekOcrConfig with_sizes_of(DeepseekOcrConfig config, const Checkpoint& checkpoint);

/// A model's folder, read and validated: config.json and weights that fit it.
struct Model {
  DeepseekOcrConfig config;
  Checkpoint checkpoint;
  std::vector<std::string> unused;  ///< tensors that the model does not use, to be reported
};
Result<Model> open_model(const std::filesystem::path& folder);

/// Weights that need no file: a function of the tensor's name, the element's number and the role,
/// the same on every machine. SplitMix64 over FNV-1a of the name; uniform around the role's offset;
/// rounded to bf16, so that fp32 and bf16 runs share the numbers.

/// Values of a tensor are uniform in offset ± scale, depending on its role: activations keep their
/// size, routing is spread out, the likeliest tokens seldom tie.
struct Spread {
  double offset;
  double scale;
};
Spread spread_of(const TensorSpec& spec);

/// FNV-1a, 64 bit.
std::uint64_t name_hash(std::string_view name);

/// Elements `first`, `first + 1`, … of the tensor, row-major. Each is a bf16 value.
void fill(const TensorSpec& spec, std::span<float> values, std::uint64_t first = 0);
/// The same as bf16.
void fill_bf16(const TensorSpec& spec, std::span<std::uint16_t> values, std::uint64_t first = 0);

}  // namespace profline::weights
