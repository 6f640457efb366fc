#include "workload/model/staged_copy.h"

#include <algorithm>
#include <cstdint>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/assert.h"

namespace profline::workload {
namespace {

/// More find no more bandwidth.
constexpr int kMostThreads = 8;

c10::Stream current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

StagedCopy::Piece& StagedCopy::next_free(at::Device device) {
  Piece& piece = pieces_[next_];
  next_ = (next_ + 1) % pieces_.size();
  if (!piece.memory.defined()) {
    piece.memory = at::empty({static_cast<std::int64_t>(piece_bytes_)},
                             at::TensorOptions().dtype(at::kByte).pinned_memory(!device.is_cpu()));
  }
  // Not synchronize(): libtorch 1.13 has none.
  while (piece.fetched && !piece.fetched->query()) std::this_thread::yield();
  return piece;
}

void StagedCopy::copy(std::span<const std::byte> bytes, const at::Tensor& destination) {
  PL_ASSERT(destination.is_contiguous() && destination.nbytes() == bytes.size(),
            "the caller compared shape and dtype");
  if (!threads_) {
    const int count = std::min(kMostThreads, at::get_num_threads());
    threads_ = std::make_unique<CopyThreads>(static_cast<std::size_t>(count));
  }
  const at::Device device = destination.device();
  const at::Tensor to = destination.view({-1}).view(at::kByte);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto part = bytes.subspan(done, std::min(piece_bytes_, bytes.size() - done));
    const auto size = static_cast<std::int64_t>(part.size());
    Piece& piece = next_free(device);
    threads_->copy(part, static_cast<std::byte*>(piece.memory.data_ptr()));
    to.narrow(0, static_cast<std::int64_t>(done), size)
        .copy_(piece.memory.narrow(0, 0, size), /*non_blocking=*/true);
    if (!device.is_cpu()) {
      if (!piece.fetched) piece.fetched.emplace(device.type());
      piece.fetched->record(current_stream(device));
    }
    done += part.size();
  }
}

}  // namespace profline::workload
