#pragma once

#include <cuda_runtime_api.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

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
