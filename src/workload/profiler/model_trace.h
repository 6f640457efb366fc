#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/image_tokens.h"
#include "workload/profiler/static_trace.h"

namespace profline::workload {

/// The shapes one picture and its prompt lead to.
struct TraceShape {
  std::int64_t page_side = 0;  ///< 0: no picture
  std::int64_t tile_side = 0;
  TileGrid grid{};                 ///< more than one tile: they are views of their own
  std::int64_t prompt_tokens = 0;  ///< image slots included
  std::int64_t context = 0;        ///< keys a decode step sees, its own included; at least 2
};

/// What the model's stages are made of.
struct ModelTrace {
  OperatorCounts sam;        ///< all views
  OperatorCounts clip;       ///< all views
  OperatorCounts projector;  ///< all views
  OperatorCounts prefill;    ///< the language model's part: embedding to the last token's logits
  OperatorCounts decode;     ///< one token at that context
};

/// Runs the real model on the meta device: at full size it takes no memory to speak of and a
/// second. Attention is taken apart into its products, so that FLOPs are those of its formula
/// whatever kernel a device would use.
Result<ModelTrace> trace_model(const DeepseekOcrConfig& config, at::ScalarType dtype,
                               const TraceShape& shape);

/// static_trace.json, `profline.static_trace/1`.
Node static_trace_document(const ModelTrace& trace, const TraceShape& shape);

}  // namespace profline::workload
