#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <ATen/ATen.h>
#include <c10/core/Event.h>

#include "workload/model/copy_threads.h"

namespace profline::workload {

/// Copies host memory into a GPU's by way of a few pieces of locked memory: several threads fill a
/// piece (and wait for a file's pages, where they are mapped) while the device fetches those
/// before. Straight from pageable memory the driver does both in turn, on one thread.
class StagedCopy {
 public:
  static constexpr std::size_t kPieceBytes = 16U << 20U;

  explicit StagedCopy(std::size_t piece_bytes = kPieceBytes) : piece_bytes_(piece_bytes) {}

  /// `destination` is contiguous and takes as many bytes, as they are. `bytes` may go when this
  /// returns; what the device does on its current stream from then on sees the copy.
  void copy(std::span<const std::byte> bytes, const at::Tensor& destination);

 private:
  struct Piece {
    at::Tensor memory;
    std::optional<c10::Event> fetched;
  };
  Piece& next_free(at::Device device);

  std::size_t piece_bytes_;
  std::array<Piece, 4> pieces_;
  std::size_t next_ = 0;
  std::unique_ptr<CopyThreads> threads_;  // from the first copy on
};

}  // namespace profline::workload
