#pragma once

#include <cuda_runtime_api.h>

#include "workload/fast/kernels/decode_model.h"

// The kernels that a prompt needs between its matrix products. None of them waits for the host.

namespace profline::workload::fast {

/// Rotary positions 0 … tokens − 1 on queries and keys; keys and values into the cache.
struct RopeStep {
  const void* qkv = nullptr;  ///< [tokens, (H + 2K) d]
  void* queries = nullptr;    ///< [H, tokens, d]
  void* keys = nullptr;       ///< [K, capacity, d]
  void* values = nullptr;
  const float* cos = nullptr;  ///< [capacity, d/2]
  const float* sin = nullptr;
  int tokens = 0, heads = 0, kv_heads = 0, head_dim = 0, capacity = 0;
};
cudaError_t launch_rope(const RopeStep& step, Stored stored, cudaStream_t stream);

/// The router: logits, softmax, the likeliest experts of each token.
struct RouteStep {
  const void* x = nullptr;        ///< [tokens, D]
  const float* router = nullptr;  ///< [D, E]
  int* experts = nullptr;         ///< [tokens, k]
  float* weights = nullptr;       ///< [tokens, k]
  int tokens = 0, width = 0, expert_count = 0, experts_per_token = 0;
  float scaling = 1;
  bool normalise = false;
};
cudaError_t launch_route(const RouteStep& step, Stored stored, cudaStream_t stream);

/// Sorts tokens by expert: assignment i (of token i / k) goes to places[i], ordered by expert and
/// then by token; ends[e] is the end of expert e; rows[places[i]] is its token's x.
struct GroupStep {
  const int* experts = nullptr;  ///< [tokens · k]
  const void* x = nullptr;       ///< [tokens, D]
  int* places = nullptr;         ///< [tokens · k]
  int* ends = nullptr;           ///< [E]
  void* rows = nullptr;          ///< [tokens · k, D]
  int tokens = 0, width = 0, expert_count = 0, experts_per_token = 0;
};
cudaError_t launch_group(const GroupStep& step, Stored stored, cudaStream_t stream);

/// silu(gate) ⊙ up of rows [gate | up].
cudaError_t launch_swiglu(const void* gate_up, void* out, int rows, int inner, Stored stored,
                          cudaStream_t stream);

/// hidden + shared + Σ weight · the experts' rows, rounded once.
struct CombineStep {
  const void* hidden = nullptr;     ///< [tokens, D]
  const void* shared = nullptr;     ///< [tokens, D]
  const void* by_expert = nullptr;  ///< [tokens · k, D]
  const int* places = nullptr;      ///< [tokens · k]
  const float* weights = nullptr;   ///< [tokens, k]
  void* out = nullptr;              ///< [tokens, D]; may be `hidden`
  int tokens = 0, width = 0, experts_per_token = 0;
};
cudaError_t launch_combine(const CombineStep& step, Stored stored, cudaStream_t stream);

/// How maps of tokens are cut into square windows, zero-padded at the bottom and the right; a
/// window as large as the map is the whole map.
struct SamWindows {
  int maps = 0;
  int side = 0;    ///< of a map
  int window = 0;  ///< side of a window
  int heads = 0;
  int head_dim = 0;

  int across() const { return (side + window - 1) / window; }
  int count() const { return maps * across() * across(); }
};

/// Queries, keys and values in the form that fused attention takes, including SAM's relative
/// positions: appended to each query are its products with all relative rows and columns, and to
/// each key a one for its row and its column. A score of the longer vectors is then the score with
/// its bias.
struct SamPack {
  SamWindows windows;
  /// [maps · side² + 1, 3, H, d]; the last row is that of a padded token: the bias.
  const void* qkv = nullptr;
  /// [H, maps · side² + 1, 4 window]: each query times the relative rows −(w−1) … w−1, then the
  /// columns, then two unused entries.
  const void* products = nullptr;
  void* queries = nullptr;  ///< [windows, H, window², length]
  void* keys = nullptr;     ///< likewise
  void* values = nullptr;   ///< [windows, H, window², d]
  int length = 0;           ///< d + 2 window, rounded up to whole words
};
cudaError_t launch_sam_pack(const SamPack& pack, Stored stored, cudaStream_t stream);

/// [windows, H, window², d] back to the maps' tokens, [maps · side², H · d], without the padding.
cudaError_t launch_sam_unpack(const SamWindows& windows, const void* attended, void* tokens,
                              Stored stored, cudaStream_t stream);

}  // namespace profline::workload::fast
