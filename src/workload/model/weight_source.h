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

/// Threads that copy memory together: one reads what page cache has at 7.6 GB/s, eight at 21.6 (on
/// an H200's host). Not libtorch's parallel_for: that is a template, and a plain loop in code
/// compiled without OpenMP.
class CopyThreads {
 public:
  /// The caller's thread is one of them.
  explicit CopyThreads(std::size_t count);
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads();

  /// Returns when all is copied. Not to be called by two threads at once.
  void copy(std::span<const std::byte> from, std::byte* to);

 private:
  void work(std::size_t index);
  void copy_part(std::size_t index) const;

  std::size_t count_;
  std::span<const std::byte> from_;
  std::byte* to_ = nullptr;
  bool is_over_ = false;
  // What is above is written before `begin_` and read between the two.
  std::barrier<> begin_;
  std::barrier<> end_;
  std::vector<std::jthread> others_;
};

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

/// Gives the model's tensors their values. The model allocates them once, on its device and in its
/// dtype, several of a checkpoint's tensors in one of its own (all experts of a layer, q beside k
/// and v); so values are written into place and nothing exists twice.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Writes the tensor `name` into `destination`, whose shape is the one the model expects.
  virtual Result<void> fill(std::string_view name, at::Tensor destination) = 0;
};

/// Values from files.
class CheckpointWeights : public WeightSource {
 public:
  /// `checkpoint` outlives this.
  explicit CheckpointWeights(const weights::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  const weights::Checkpoint& checkpoint_;
  StagedCopy staged_;
};

/// Random values made on the device from a seed, spread so that activations stay sane: for
/// profiling at full size without a download. The same device and libtorch give the same values
/// again.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
  at::Generator generator_;
};

/// The values that follow from a tensor's name and nothing else, the same on every machine: what
/// the tiny model of tests and demonstrations has.
class DeterministicWeights : public WeightSource {
 public:
  explicit DeterministicWeights(const DeepseekOcrConfig& config);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
};

/// Leaves all tensors as they are: for the meta device, where they have shapes and no values.
class NoWeights : public WeightSource {
 public:
  Result<void> fill(std::string_view, at::Tensor) override { return {}; }
};

}  // namespace profline::workload
