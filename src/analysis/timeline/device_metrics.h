#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/range_use.h"
#include "records/timeline.h"

namespace profline::timeline {

/// What the GPUs of a capture sampled, over any time.
class MetricIntegrals {
 public:
  /// The timeline must outlive it.
  explicit MetricIntegrals(const Timeline& timeline);

  bool empty() const { return devices_.empty(); }
  /// The usual distance of samples; 0 without samples of this device.
  std::int64_t period_ns(std::int32_t device) const;

  struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };
  /// Means over all spans together. Nothing without samples of this device, or if fewer than
  /// kFewestSamples cover them.
  std::optional<DeviceMetrics> over(std::int32_t device, const std::vector<Span>& spans) const;

  static constexpr std::uint64_t kFewestSamples = 5;

 private:
  /// A sample is the mean since the one before it; where that is much longer ago than usual,
  /// samples are missing. Sums up to each sample, so that a span costs two lookups.
  struct Device {
    const GpuSamples* samples = nullptr;
    std::int64_t period_ns = 0;
    double memory_bytes_per_second = 0;
    std::vector<std::int64_t> covered_ns;
    std::vector<std::vector<double>> sums;  ///< by metric; of value times ns
  };
  struct At {
    double covered_ns = 0;
    double samples = 0;
    std::vector<double> sums;
  };
  static At at(const Device& device, std::int64_t when_ns);
  const Device* find(std::int32_t device) const;

  std::vector<Device> devices_;
};

/// What was sampled while the work of ranges ran: from the first to the last work that an instance
/// launched. By label and domain of the ranges (as RangeAccount has them) and device.
std::map<std::tuple<std::string, Names::Id, std::int32_t>, DeviceMetrics> range_metrics(
    const Timeline& timeline, const Attribution& attribution, const MetricIntegrals& integrals);

/// The mean share of SMs that were active in long stretches in which no work of the capture ran on
/// the device: other programs use it. Nothing if there are no such stretches.
std::optional<double> active_without_work(const Timeline& timeline, std::int32_t device,
                                          const MetricIntegrals& integrals);

}  // namespace profline::timeline
