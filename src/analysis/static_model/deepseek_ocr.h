#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/static_model/cost.h"
#include "analysis/static_model/decoder.h"
#include "records/deepseek_ocr_config.h"

namespace profline::static_model {

/// Pictures of one size that the vision towers process as one batch.
struct ViewBatch {
  std::uint64_t side = 1024;  ///< in pixels
  std::uint64_t views = 1;

  bool operator==(const ViewBatch&) const = default;
};

/// The towers' costs for all batches; each batch reads the weights once.
PhaseCost sam_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                   const std::vector<ViewBatch>& batches);
PhaseCost clip_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                    const std::vector<ViewBatch>& batches);
PhaseCost projector_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                         const std::vector<ViewBatch>& batches);

/// Tokens along one side of a view after the projector.
std::uint64_t tokens_on_side(const DeepseekOcrConfig& config, std::uint64_t side);

/// The language model of the same config as a decoder.
Decoder language_decoder(const DeepseekOcrConfig& config);

std::vector<ParameterGroup> parameter_groups(const DeepseekOcrConfig& config);

/// The phases of a request as the built-in workload names them, outermost ones first: paths.
std::span<const std::string_view> deepseek_ocr_phases();

/// Vision, prefill and decode. A request has one picture per sequence. `batches` are the views of
/// one picture, which the batch multiplies; if the request lists its sequences, of all pictures.
ModelCost deepseek_ocr_cost(const DeepseekOcrConfig& config, const NumberFormat& format,
                            const std::vector<ViewBatch>& batches, const Request& request);

}  // namespace profline::static_model
