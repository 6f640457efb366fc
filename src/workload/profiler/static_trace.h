#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "formats/node.h"
#include "records/deepseek_ocr_config.h"
#include "workload/model/vision.h"

namespace profline::workload {

/// One operator of a phase.
struct TracedOperator {
  std::string name;
  std::uint64_t calls = 0;
  std::int64_t flops = 0;  ///< a multiply-add is 2; only products, convolutions and attention

  bool operator==(const TracedOperator&) const = default;
};

/// The operators that a piece of work consists of.
struct OperatorCounts {
  std::vector<TracedOperator> operators;  ///< most FLOPs first, then by name

  std::int64_t flops() const;
};

/// Runs `work` and counts every operator that is not composed of others, and the FLOPs of products,
/// convolutions and attention, each at its outermost call (a product inside attention is part of
/// that). Tensors may be on any device; on the meta device nothing is computed and no memory is
/// needed.
Result<OperatorCounts> count_operators(const std::function<Result<void>()>& work);

/// While it lives, the meta device also has the operators that our models need but some versions of
/// libtorch lack there: convolution and a few others of 1.13.
class MetaKernels {
 public:
  MetaKernels();
  ~MetaKernels();
  MetaKernels(const MetaKernels&) = delete;
  MetaKernels& operator=(const MetaKernels&) = delete;

 private:
  struct Registrations;
  std::unique_ptr<Registrations> registrations_;
};

Node to_node(const OperatorCounts& counts);

/// The shapes that follow from one picture and its prompt.
struct TraceShape {
  std::int64_t page_side = 0;  ///< 0: no picture
  std::int64_t tile_side = 0;
  TileGrid grid{};                 ///< with more than one tile, tiles are separate views
  std::int64_t prompt_tokens = 0;  ///< image slots included
  std::int64_t context = 0;        ///< keys of a decode step, its own included; at least 2
};

/// The operators of the model's phases.
struct ModelTrace {
  OperatorCounts sam;        ///< all views
  OperatorCounts clip;       ///< all views
  OperatorCounts projector;  ///< all views
  OperatorCounts prefill;    ///< the language model's part: embedding to the last token's logits
  OperatorCounts decode;     ///< one token at that context
};

/// Runs the real model on the meta device: even at full size it takes a second and next to no
/// memory. Attention is decomposed into its products, so that FLOPs follow its formula, whatever
/// kernel a device would use.
Result<ModelTrace> trace_model(const DeepseekOcrConfig& config, at::ScalarType dtype,
                               const TraceShape& shape);

/// static_trace.json, `profline.static_trace/1`.
Node static_trace_document(const ModelTrace& trace, const TraceShape& shape);

}  // namespace profline::workload
