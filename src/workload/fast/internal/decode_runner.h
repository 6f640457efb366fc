#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>

#include "workload/fast/kernels/decode_model.h"
#include "workload/fast/kernels/decode_step.h"
#include "workload/generation/generate.h"
#include "workload/model/attention.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload::fast {

DecodeShape decode_shape(const DeepseekOcrConfig& config);

/// Decoding with our own kernels: one CUDA graph per token, replayed. Owns the cache, the kernels'
/// memory and the graph; all of them are recreated when a longer sequence needs more room.
class DecodeRunner final : public DeviceLoop {
 public:
  /// `model` must be on a CUDA device, be accepted by `cannot_decode`, and outlive this.
  DecodeRunner(const DeepseekOcr& model, Stored stored);
  ~DecodeRunner() override;
  DecodeRunner(const DecodeRunner&) = delete;
  DecodeRunner& operator=(const DecodeRunner&) = delete;

  /// An empty cache for a sequence of this many tokens, to be filled by a prompt.
  KvCache& begin(std::int64_t capacity);
  /// cos and sin of rotary positions, [capacity, d/2] fp32 each, for the current cache.
  const at::Tensor& rope_cos() const { return rope_cos_; }
  const at::Tensor& rope_sin() const { return rope_sin_; }

  std::int64_t first(std::span<const std::int64_t> prompt, const at::Tensor& logits,
                     const GenerationOptions& options) override;
  void run(std::int64_t count, Scopes& scopes,
           const std::function<bool(std::int64_t id)>& on_id) override;

  /// The next token [1] int64 after those in the cache → its logits [1, vocabulary], valid until
  /// the next call.
  at::Tensor decode(const at::Tensor& token);
  /// How many graphs it has captured so far.
  std::size_t captured_graphs() const { return captured_graphs_; }

 private:
  void allocate(std::int64_t capacity);
  void point_layers();
  at::Tensor floats(std::int64_t count);
  at::Tensor ints(std::int64_t count);

  const DeepseekOcr& model_;
  DecodePlan plan_;
  std::vector<DecodeLayer> layers_;
  std::vector<at::Tensor> routers_;  // fp32, transposed
  std::vector<at::Tensor> memory_;   // owns the memory of the plan's buffers
  at::Tensor logits_;
  at::Tensor rope_cos_;
  at::Tensor rope_sin_;
  at::Tensor history_;
  at::Tensor out_ids_;  // host memory, read once their step is done
  std::optional<KvCache> cache_;
  bool begun_ = false;  // the device state belongs to the sequence in the cache
  DecodeGraph graph_;
  std::size_t captured_graphs_ = 0;
  std::int64_t position_ = 0;  // of the newest token, as the host knows it
  std::array<at::cuda::CUDAEvent, 2> step_done_;
};

}  // namespace profline::workload::fast
