#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"
#include "workload/fast/kernels/decode_model.h"
#include "workload/fast/kernels/decode_step.h"
#include "workload/generation/generate.h"
#include "workload/model/attention.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/layers.h"

namespace profline::workload::fast {

/// Computations with a few shapes, replayed as CUDA graphs: hundreds of launches become one. A new
/// computation is run directly the first time, captured the second time, and replayed from then on.
class GraphCache {
 public:
  /// Besides its inputs and result, it may only access device memory that stays in place, and must
  /// never wait for the device.
  using Body = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

  GraphCache() : pool_(at::cuda::graph_pool_handle()) {}

  /// `key` identifies the computation and every shape in it. The result is valid until the next run
  /// with the same key.
  at::Tensor run(const std::string& key, const std::vector<at::Tensor>& inputs, const Body& body);
  void clear() { entries_.clear(); }
  /// How many graphs were captured so far, including those that are gone.
  std::size_t captured() const { return captured_; }

 private:
  struct Entry {
    std::vector<at::Tensor> inputs;
    at::Tensor output;
    std::unique_ptr<at::cuda::CUDAGraph> graph;  // null: seen once
  };
  void capture(Entry& entry, const std::vector<at::Tensor>& inputs, const Body& body);

  at::cuda::MempoolId_t pool_;  // shared: they never run at the same time
  std::map<std::string, Entry> entries_;
  std::size_t captured_ = 0;
};

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

/// Runs a prompt through the language model: library matrix products with our kernels between them,
/// as one CUDA graph per length.
class PrefillRunner {
 public:
  /// `model` must outlive this.
  PrefillRunner(const DeepseekOcr& model, Stored stored);

  /// Whether it can run: if libtorch has no grouped product for these weights, the model's own
  /// prefill must be used.
  bool can_run() const { return can_run_; }

  /// As DeepseekOcr::prefill. `cos` and `sin` are tables of at least the cache's capacity.
  at::Tensor run(const tokenizer::Prompt& prompt, const at::Tensor& image_rows, KvCache& cache,
                 const at::Tensor& cos, const at::Tensor& sin);
  /// The cache's memory has moved, so captured graphs are invalid.
  void forget() { graphs_.clear(); }
  /// How many graphs it has captured so far.
  std::size_t captured_graphs() const { return graphs_.captured(); }

 private:
  at::Tensor embed(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                   std::int64_t rows) const;
  at::Tensor forward(const at::Tensor& x, const at::Tensor& last, const KvCache& cache,
                     const at::Tensor& cos, const at::Tensor& sin) const;
  at::Tensor attention(std::size_t index, const at::Tensor& hidden, const KvCache& cache,
                       const at::Tensor& cos, const at::Tensor& sin) const;
  at::Tensor experts(std::size_t index, const at::Tensor& hidden) const;
  at::Tensor swiglu(const at::Tensor& gate_up) const;

  const DeepseekOcr& model_;
  Stored stored_;
  bool can_run_ = false;
  std::vector<at::Tensor> routers_;  // per layer, [D, E] fp32; undefined in a dense one
  GraphCache graphs_;
};

/// Turns pictures into rows. SAM is reformulated: patches as one product, one kernel that cuts
/// windows and puts relative positions into queries and keys, nothing computed for padding. The
/// second tower and the projector run as in the model. Each is one CUDA graph per number and size
/// of views.
class VisionRunner {
 public:
  /// `model` must outlive this and have fused attention.
  VisionRunner(const DeepseekOcr& model, Stored stored) : model_(model), stored_(stored) {}

  at::Tensor encode(const ImageViews& views, Scopes& scopes);
  /// As DeepseekOcr::sam, views in the model's dtype.
  at::Tensor sam(const at::Tensor& views);
  /// How many graphs it has captured so far.
  std::size_t captured_graphs() const { return graphs_.captured(); }

 private:
  at::Tensor encode_views(const at::Tensor& views, Scopes& scopes);
  at::Tensor attention(std::size_t block, const at::Tensor& normed, std::int64_t maps,
                       std::int64_t side);
  const at::Tensor& tables(std::size_t block, std::int64_t window);

  const DeepseekOcr& model_;
  Stored stored_;
  GraphCache graphs_;
  // By block and window: relative positions, [H, d, 4 window].
  std::map<std::pair<std::size_t, std::int64_t>, at::Tensor> tables_;
};

}  // namespace profline::workload::fast
