#include "workload/measure/device_clock.h"

#include <vector>

#include "workload/measure/internal/cuda_clock.h"

namespace profline::workload {
namespace {

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
  if (device.is_cuda()) return internal::make_cuda_clock(device);
  return Error(ErrorKind::Config, "there is no clock for device '" + device.str() + "'");
}

std::optional<std::int64_t> peak_memory_bytes(const at::Device& device) {
  if (!device.is_cuda()) return std::nullopt;
  return internal::cuda_peak_bytes(device);
}

std::string device_uuid(const at::Device& device) {
  return device.is_cuda() ? internal::cuda_uuid(device) : std::string();
}

}  // namespace profline::workload
