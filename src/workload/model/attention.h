#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/layers.h"

namespace profline::workload {

enum class Masking {
  None,    ///< every query attends to every key
  Causal,  ///< query i attends to keys 0..i; as many queries as keys
};

/// softmax(scale q kᵀ) v, heads in the second dimension: q [B, H, Q, d], k [B, K, N, d], v [B, K,
/// N, e]; K divides H and each key head serves H/K consecutive query heads.
///
/// Fused, it is libtorch's scaled_dot_product_attention, which chooses a kernel; otherwise the
/// formula as separate operators, softmax in fp32.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                  Masking masking, bool fused);
/// The same with `mask` added to the scores: [B, 1, Q, N] in the dtype of q, 0 or −∞; every query
/// attends to at least one key.
at::Tensor attend_masked(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const at::Tensor& mask, double scale, bool fused);
/// softmax(scale q kᵀ + bias) v as separate operators; `bias` [B, H, Q, N], or undefined.
at::Tensor attend_explicitly(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& bias, double scale, Masking masking);

/// [B, N, 3 H d] with rows [q | k | v], each head-major, as three [B, H, N, d]; views.
struct QueryKeyValue {
  at::Tensor q, k, v;
};
QueryKeyValue split_heads(const at::Tensor& qkv, std::int64_t heads);
/// [B, H, N, d] as [B, N, H d].
at::Tensor join_heads(const at::Tensor& x);

/// Rotary positions, half-split: pair (i, i + d/2) rotates by position · theta^(−2i/d). Tables in
/// fp32.
class Rope {
 public:
  Rope() = default;
  /// Extends its tables if a position exceeds them.
  Rope(std::int64_t head_dim, double theta, std::int64_t positions, at::Device device);

  /// x [B, T, H, d] of the tokens first, first + 1, …; fp32 when x is not.
  at::Tensor operator()(const at::Tensor& x, std::int64_t first) const;
  /// The same with a position for each token of each sequence: [B, T] int64, all below `end`.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions, std::int64_t end) const;

 private:
  at::Tensor rotated(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) const;
  void reserve(std::int64_t positions) const;

  std::int64_t head_dim_ = 0;
  double theta_ = 0;
  at::Device device_ = at::kCPU;
  mutable at::Tensor cos_;  // [positions, 1, d]
  mutable at::Tensor sin_;  // the same, the first half negated
};

/// Resizes a square table of position vectors [1, s, s, C] to another side: bicubic with
/// antialiasing, in fp32 and then back to the table's dtype. Returns the table itself if the side
/// is unchanged.
at::Tensor resize_position_grid(const at::Tensor& table, std::int64_t side);

/// Resizes a table of relative positions [n, d] to another length: linear, in fp32 and then back.
at::Tensor resize_relative_positions(const at::Tensor& table, std::int64_t length);

/// Where the tokens of one pass are, if the sequences of a batch begin at different places.
struct Places {
  at::Tensor positions;  ///< [B, T] int64, from the beginning of each sequence; 0 for padding
  at::Tensor mask;  ///< [B, 1, T, N] in the dtype of queries: 0, or −∞ where none may attend
};

/// Keys (after RoPE) and values of every layer, allocated once for the maximum number of tokens.
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
  /// Appends the keys and values [B, H, T, d] of T more tokens to the layer, in the cache's dtype,
  /// and returns all of them. There must be room.
  View append(std::int64_t layer, const at::Tensor& keys, const at::Tensor& values);
  /// Call after all layers have appended theirs.
  void advance(std::int64_t tokens) { length_ += tokens; }
  /// A layer's memory, [2, B, H, capacity, d]: keys, then values.
  const at::Tensor& memory(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer)];
  }
  /// Discards the tokens, keeps the memory.
  void clear() { length_ = 0; }

  /// Prompts of different lengths end at the same place, so shorter ones begin with padding: as
  /// many tokens of each sequence, to which no other token attends. The cache must be empty.
  void pad(const std::vector<std::int64_t>& tokens);
  bool is_padded() const { return padding_.defined(); }
  /// The places of the next `tokens` tokens; only if the cache is padded.
  Places places(std::int64_t tokens) const;

 private:
  std::int64_t batch_;
  std::int64_t capacity_;
  std::int64_t length_ = 0;
  at::ScalarType dtype_;
  at::Tensor padding_;              // [B, 1] int64; undefined: none
  std::vector<at::Tensor> layers_;  // [2, B, H, capacity, d] each: keys, values
};

}  // namespace profline::workload
