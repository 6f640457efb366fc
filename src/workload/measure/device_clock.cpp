#include "workload/measure/device_clock.h"

#include <vector>

#if PROFLINE_TORCH_CUDA
#include <deque>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace profline::workload {
namespace {

#if PROFLINE_TORCH_CUDA

class CudaClock final : public DeviceClock {
 public:
  explicit CudaClock(const at::Device& device) : device_(device) {}

  std::size_t mark() override {
    // Events are created once and reused: creating one takes longer than recording it.
    if (used_ == events_.size()) events_.emplace_back(cudaEventDefault);
    events_[used_].record(at::cuda::getCurrentCUDAStream(device_.index()));
    return used_++;
  }
  void synchronise() override {
    const c10::cuda::CUDAGuard guard(device_);
    c10::cuda::device_synchronize();
  }
  std::chrono::nanoseconds between(std::size_t from, std::size_t to) const override {
    const double milliseconds = events_.at(from).elapsed_time(events_.at(to));
    return std::chrono::nanoseconds(static_cast<std::int64_t>(milliseconds * 1e6));
  }
  void restart() override { used_ = 0; }

 private:
  at::Device device_;
  // A deque, because events cannot be moved.
  std::deque<at::cuda::CUDAEvent> events_;
  std::size_t used_ = 0;
};

Result<std::unique_ptr<DeviceClock>> make_cuda_clock(const at::Device& device) {
  return std::unique_ptr<DeviceClock>(std::make_unique<CudaClock>(device));
}

std::int64_t cuda_peak_bytes(const at::Device& device) {
  // Its first counter covers all pools.
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
  return stats.allocated_bytes[0].peak;
}

std::string cuda_uuid(const at::Device& device) {
  constexpr const char* kHex = "0123456789abcdef";
  const auto& bytes = at::cuda::getDeviceProperties(device.index())->uuid.bytes;
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

#else

/// An Error of kind NotFound: this libtorch was built without CUDA.
Result<std::unique_ptr<DeviceClock>> make_cuda_clock(const at::Device& device) {
  return Error(ErrorKind::NotFound, "device '" + device.str() +
                                        "' is not available: this libtorch was built without CUDA");
}

std::int64_t cuda_peak_bytes(const at::Device& /*device*/) {
  return 0;
}

std::string cuda_uuid(const at::Device& /*device*/) {
  return {};
}

#endif

class CpuClock final : public DeviceClock {
 public:
  std::size_t mark() override {
    points_.push_back(std::chrono::steady_clock::now());
    return points_.size() - 1;
  }
  void synchronise() override {}
  std::chrono::nanoseconds between(std::size_t from, std::size_t to) const override {
    return points_.at(to) - points_.at(from);
  }
  void restart() override { points_.clear(); }

 private:
  std::vector<std::chrono::steady_clock::time_point> points_;
};

}  // namespace

Result<std::unique_ptr<DeviceClock>> make_device_clock(const at::Device& device) {
  if (device.is_cpu()) return std::unique_ptr<DeviceClock>(std::make_unique<CpuClock>());
  if (device.is_cuda()) return make_cuda_clock(device);
  return Error(ErrorKind::Config, "there is no clock for device '" + device.str() + "'");
}

std::optional<std::int64_t> peak_memory_bytes(const at::Device& device) {
  if (!device.is_cuda()) return std::nullopt;
  return cuda_peak_bytes(device);
}

std::string device_uuid(const at::Device& device) {
  return device.is_cuda() ? cuda_uuid(device) : std::string();
}

}  // namespace profline::workload
