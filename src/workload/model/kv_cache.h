#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/options.h"

namespace profline::workload {

/// Keys (after RoPE) and values of every layer, allocated once for as many tokens as will come.
class KvCache {
 public:
  KvCache(const DeepseekOcrConfig& config, const ModelOptions& options, std::int64_t batch,
          std::int64_t capacity);

  std::int64_t batch() const { return batch_; }
  std::int64_t capacity() const { return capacity_; }
  /// Tokens of all sequences so far; those of the step in progress count after `advance`.
  std::int64_t length() const { return length_; }

  struct View {
    at::Tensor keys;    // [B, H, length + T, d]
    at::Tensor values;  // likewise
  };
  /// Puts T more tokens' keys and values [B, H, T, d] behind those of the layer, in the cache's
  /// dtype, and gives all of them. There must be room.
  View append(std::int64_t layer, const at::Tensor& keys, const at::Tensor& values);
  /// After all layers had theirs.
  void advance(std::int64_t tokens) { length_ += tokens; }
  /// A layer's memory, [2, B, H, capacity, d]: keys, then values.
  const at::Tensor& memory(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer)];
  }
  /// Forgets the tokens, keeps the memory.
  void clear() { length_ = 0; }

 private:
  std::int64_t batch_;
  std::int64_t capacity_;
  std::int64_t length_ = 0;
  std::vector<at::Tensor> layers_;  // [2, B, H, capacity, d] each: keys, values
};

}  // namespace profline::workload
