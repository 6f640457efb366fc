#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "inputs/tokenizer/tokenizer.h"
#include "workload/fast/internal/graph_cache.h"
#include "workload/fast/kernels/decode_model.h"
#include "workload/model/attention.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload::fast {

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

}  // namespace profline::workload::fast
