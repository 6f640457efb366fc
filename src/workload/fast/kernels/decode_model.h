#pragma once

#include <cstdint>

// Plain structs that host code and kernels share: raw device pointers and sizes, no torch.

namespace profline::workload::fast {

/// The storage type of weights, cache and embeddings; sums, activations and logits are always fp32.
enum class Stored : std::uint8_t { Bf16, Fp32 };

constexpr int kMaxExpertsPerToken = 8;
constexpr int kMaxExperts = 64;
constexpr int kMaxSplits = 16;
/// The maximum number of slices of a down projection's input; one warp works on each.
constexpr int kMaxSlices = 8;

struct DecodeShape {
  int width = 0;     ///< D
  int heads = 0;     ///< H
  int kv_heads = 0;  ///< K
  int head_dim = 0;  ///< d
  int layers = 0;
  int vocabulary = 0;
  int experts = 0;            ///< E
  int experts_per_token = 0;  ///< k
  int expert_inner = 0;       ///< I, rows of an expert's gate; shared experts have a multiple of it
  int shared_inner = 0;
  int dense_inner = 0;
  float rms_eps = 0;
  float routed_scaling = 1;
  bool normalise_routing = false;  ///< scale the chosen experts' weights to sum to one
};

/// Weights of one layer, row-major, [out, in]. `Stored` elements unless said otherwise.
struct DecodeLayer {
  const void* attention_norm = nullptr;  ///< [D]
  const void* qkv = nullptr;             ///< [(H + 2K) d, D]
  const void* out = nullptr;             ///< [D, H d]
  const void* mlp_norm = nullptr;        ///< [D]
  /// For a dense layer [2 inner, D] and [D, inner]; otherwise the shared experts'.
  const void* gate_up = nullptr;
  const void* down = nullptr;
  /// Null in a dense layer. `router` is fp32, transposed: [D, E].
  const float* router = nullptr;
  const void* expert_gate_up = nullptr;  ///< [E, 2 I, D]
  const void* expert_down = nullptr;     ///< [E, D, I]
  /// Keys and values, [K, capacity, d] each.
  void* keys = nullptr;
  void* values = nullptr;

  bool is_moe() const { return router != nullptr; }
};

/// The state of a sequence. Lives on the device; only kernels write it while tokens are generated.
struct DecodeState {
  int position = 0;  ///< of the newest token, whose keys and values are not in the cache yet
  int token = 0;     ///< its id
  int stamp = 0;     ///< counts choices over all sequences, never reset; above 0 once one began
  int banned = 0;    ///< the stamp for which something was last banned
  int done = 0;      ///< the end-of-sequence id was chosen; nothing changes after that
};

/// The rules for choosing tokens. Lives on the device, set before a sequence begins.
struct ChoiceRules {
  int eos_id = -1;     ///< negative: no such id
  int ngram_size = 0;  ///< 0: no rule
};

/// The memory through which kernels pass their results; fp32 unless stated otherwise.
struct DecodeBuffers {
  float* hidden = nullptr;             ///< [D], the residual stream
  float* queries = nullptr;            ///< [H d]
  float* attended = nullptr;           ///< [kMaxSplits, H d], of each split of the keys
  float* attended_max = nullptr;       ///< [kMaxSplits, H]
  float* attended_sum = nullptr;       ///< [kMaxSplits, H]
  float* router_parts = nullptr;       ///< [router_part_count(D), E]
  float* inner = nullptr;              ///< [largest sum of inner sizes of a layer]
  unsigned* chosen_experts = nullptr;  ///< [layers, kMaxExpertsPerToken], with stamps of tokens
  float* logits = nullptr;             ///< [vocabulary]
  float* best_values = nullptr;        ///< [head_blocks]
  int* best_ids = nullptr;             ///< [head_blocks]
  const float* rope_cos = nullptr;     ///< [capacity, d/2]
  const float* rope_sin = nullptr;     ///< [capacity, d/2]
  int* history = nullptr;              ///< [capacity + 1], ids of prompt and output
  int* banned_at = nullptr;            ///< [vocabulary]: the stamp for which an id was last banned
  int* out_ids = nullptr;              ///< [capacity + 1], host memory: ids by position
  DecodeState* state = nullptr;
  ChoiceRules* rules = nullptr;
};

/// Everything a decode step reads and writes.
struct DecodePlan {
  DecodeShape shape;
  DecodeBuffers buffers;
  const DecodeLayer* layers = nullptr;  ///< on the host, shape.layers of them
  const void* embedding = nullptr;      ///< [vocabulary, D]
  const void* norm = nullptr;           ///< [D]
  const void* head = nullptr;           ///< [vocabulary, D]
  Stored stored = Stored::Bf16;
  int capacity = 0;  ///< of the cache, in tokens
  int splits = 1;    ///< maximum for the keys, ≤ kMaxSplits
  int sms = 1;       ///< multiprocessors of the device
  bool overlap =
      true;  ///< kernels may start while the previous one ends (from compute capability 9.0)
};

/// Rows of router_parts: one per block of the output projection.
int router_part_count(int width);
/// Entries of best_values and best_ids.
int head_blocks(int sms);

}  // namespace profline::workload::fast
