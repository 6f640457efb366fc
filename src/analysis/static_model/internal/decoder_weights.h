#pragma once

#include <cstdint>

#include "analysis/static_model/decoder.h"

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
