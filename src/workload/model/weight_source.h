#pragma once

#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/Event.h>

#include "base/result.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/model_tensors.h"
#include "records/deepseek_ocr_config.h"

namespace profline::workload {

/// Threads that copy memory together: one thread reads from the page cache at 7.6 GB/s, eight at
/// 21.6 (on the host of an H200). Not libtorch's parallel_for, which is a template and becomes a
/// plain loop in code compiled without OpenMP.
class CopyThreads {
 public:
  /// The caller's thread is one of them.
  explicit CopyThreads(std::size_t count);
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads();

  /// Returns when everything is copied. Must not be called by two threads at once.
  void copy(std::span<const std::byte> from, std::byte* to);

 private:
  void work(std::size_t index);
  void copy_part(std::size_t index) const;

  std::size_t count_;
  std::span<const std::byte> from_;
  std::byte* to_ = nullptr;
  bool is_over_ = false;
  // The members above are written before `begin_` and read between the two.
  std::barrier<> begin_;
  std::barrier<> end_;
  std::vector<std::jthread> others_;
};

/// Copies host memory to a GPU through a few pieces of pinned memory: several threads fill a piece
/// (and wait for the pages of a mapped file) while the device fetches the previous ones. Directly
/// from pageable memory, the driver does both in turn on one thread.
class StagedCopy {
 public:
  static constexpr std::size_t kPieceBytes = 16U << 20U;

  explicit StagedCopy(std::size_t piece_bytes = kPieceBytes) : piece_bytes_(piece_bytes) {}

  /// `destination` is contiguous and takes exactly these bytes. `bytes` may be released when this
  /// returns; later work on the device's current stream sees the copy.
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
  std::unique_ptr<CopyThreads> threads_;  // created by the first copy
};

/// Gives the model's tensors their values. The model allocates them once, on its device and in its
/// dtype, with several tensors of a checkpoint in one of its own (all experts of a layer, q next to
/// k and v); values are written in place, so nothing exists twice.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Writes the tensor `name` into `destination`, which has the shape that the model expects.
  virtual Result<void> fill(std::string_view name, at::Tensor destination) = 0;
};

/// Values from files.
class CheckpointWeights : public WeightSource {
 public:
  /// `checkpoint` must outlive this.
  explicit CheckpointWeights(const weights::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  const weights::Checkpoint& checkpoint_;
  StagedCopy staged_;
};

/// Random values generated on the device from a seed, scaled so that activations stay reasonable:
/// for profiling at full size without a download. The same device and libtorch give the same
/// values.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
  at::Generator generator_;
};

/// Values that depend only on a tensor's name, the same on every machine; used by the tiny model of
/// tests and demonstrations.
class DeterministicWeights : public WeightSource {
 public:
  explicit DeterministicWeights(const DeepseekOcrConfig& config);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
};

/// Leaves all tensors unset: for the meta device, where they have shapes but no values.
class NoWeights : public WeightSource {
 public:
  Result<void> fill(std::string_view, at::Tensor) override { return {}; }
};

}  // namespace profline::workload
