#include "analysis/timeline/device_metrics.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace profline::timeline {
namespace {

/// Samples further apart than this many periods have others missing between them.
constexpr std::int64_t kMostPeriods = 3;

std::int64_t usual_distance(const std::vector<std::int64_t>& when_ns) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < when_ns.size(); ++i) {
    distances.push_back(when_ns[i] - when_ns[i - 1]);
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

void set(DeviceMetrics& metrics, GpuMetric metric, double value) {
  switch (metric) {
    case GpuMetric::SmActive:
      metrics.sm_active = value;
      break;
    case GpuMetric::SmIssue:
      metrics.sm_issue = value;
      break;
    case GpuMetric::TensorActive:
      metrics.tensor_active = value;
      break;
    case GpuMetric::DramRead:
      metrics.dram_read = value;
      break;
    case GpuMetric::DramWrite:
      metrics.dram_write = value;
      break;
    case GpuMetric::PcieReceive:
      metrics.pcie_receive = value;
      break;
    case GpuMetric::PcieSend:
      metrics.pcie_send = value;
      break;
    case GpuMetric::NvlinkReceive:
      metrics.nvlink_receive = value;
      break;
    case GpuMetric::NvlinkSend:
      metrics.nvlink_send = value;
      break;
  }
}

using Span = MetricIntegrals::Span;

/// The same time, each part once.
std::vector<Span> merged(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (result.empty() || span.begin_ns > result.back().end_ns) {
      result.push_back(span);
    } else {
      result.back().end_ns = std::max(result.back().end_ns, span.end_ns);
    }
  }
  return result;
}

}  // namespace

MetricIntegrals::MetricIntegrals(const Timeline& timeline) {
  for (const GpuSamples& samples : timeline.gpu_samples) {
    Device device;
    device.samples = &samples;
    device.period_ns = usual_distance(samples.when_ns);
    if (device.period_ns <= 0) continue;
    for (const Gpu& gpu : timeline.gpus) {
      if (gpu.device == samples.device) {
        device.memory_bytes_per_second = gpu.memory_bytes_per_second;
      }
    }
    device.sums.resize(kGpuMetrics);
    std::int64_t covered_ns = 0;
    std::vector<double> sums(kGpuMetrics);
    for (std::size_t i = 0; i < samples.when_ns.size(); ++i) {
      const std::int64_t since_ns = i == 0 ? 0 : samples.when_ns[i] - samples.when_ns[i - 1];
      const bool is_covered = since_ns <= kMostPeriods * device.period_ns;
      if (is_covered) covered_ns += since_ns;
      device.covered_ns.push_back(covered_ns);
      for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
        if (samples.values[metric].empty()) continue;
        if (is_covered) {
          sums[metric] +=
              static_cast<double>(samples.values[metric][i]) * static_cast<double>(since_ns);
        }
        device.sums[metric].push_back(sums[metric]);
      }
    }
    devices_.push_back(std::move(device));
  }
}

const MetricIntegrals::Device* MetricIntegrals::find(std::int32_t device) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const Device& known) {
    return known.samples->device == device;
  });
  return found == devices_.end() ? nullptr : &*found;
}

std::int64_t MetricIntegrals::period_ns(std::int32_t device) const {
  const Device* const found = find(device);
  return found == nullptr ? 0 : found->period_ns;
}

MetricIntegrals::At MetricIntegrals::at(const Device& device, std::int64_t when_ns) {
  const std::vector<std::int64_t>& times = device.samples->when_ns;
  const auto after = std::upper_bound(times.begin(), times.end(), when_ns);
  const auto next = static_cast<std::size_t>(after - times.begin());
  At result;
  result.sums.resize(kGpuMetrics);
  if (next == 0) return result;
  const std::size_t last = next - 1;
  // Between two samples the sums grow evenly.
  double part = 0;
  if (next < times.size()) {
    part =
        static_cast<double>(when_ns - times[last]) / static_cast<double>(times[next] - times[last]);
  }
  const auto between = [&](double before, double later) {
    return before + part * (later - before);
  };
  const std::size_t end = std::min(next, times.size() - 1);
  result.samples = static_cast<double>(last) + part;
  result.covered_ns = between(static_cast<double>(device.covered_ns[last]),
                              static_cast<double>(device.covered_ns[end]));
  for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
    if (device.sums[metric].empty()) continue;
    result.sums[metric] = between(device.sums[metric][last], device.sums[metric][end]);
  }
  return result;
}

std::optional<DeviceMetrics> MetricIntegrals::over(std::int32_t device,
                                                   const std::vector<Span>& spans) const {
  const Device* const found = find(device);
  if (found == nullptr) return std::nullopt;
  double samples = 0;
  double covered_ns = 0;
  std::int64_t all_ns = 0;
  std::vector<double> sums(kGpuMetrics);
  for (const Span& span : spans) {
    const At begin = at(*found, span.begin_ns);
    const At end = at(*found, span.end_ns);
    samples += end.samples - begin.samples;
    covered_ns += end.covered_ns - begin.covered_ns;
    all_ns += span.end_ns - span.begin_ns;
    for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
      sums[metric] += end.sums[metric] - begin.sums[metric];
    }
  }
  DeviceMetrics metrics;
  metrics.samples = static_cast<std::uint64_t>(samples);
  metrics.covered_ns = static_cast<std::int64_t>(covered_ns);
  metrics.gap_ns = std::max<std::int64_t>(all_ns - metrics.covered_ns, 0);
  if (metrics.samples < kFewestSamples || covered_ns <= 0) return std::nullopt;
  for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
    if (found->sums[metric].empty()) continue;
    set(metrics, static_cast<GpuMetric>(metric), sums[metric] / covered_ns);
  }
  if (metrics.dram_read && metrics.dram_write && found->memory_bytes_per_second > 0) {
    constexpr double kNsPerSecond = 1e9;
    metrics.dram_bytes = (*metrics.dram_read + *metrics.dram_write) *
                         found->memory_bytes_per_second * covered_ns / kNsPerSecond;
  }
  return metrics;
}

std::map<std::tuple<std::string, Names::Id, std::int32_t>, DeviceMetrics> range_metrics(
    const Timeline& timeline, const Attribution& attribution, const MetricIntegrals& integrals) {
  std::map<std::tuple<std::string, Names::Id, std::int32_t>, DeviceMetrics> all;
  if (integrals.empty()) return all;
  std::map<std::pair<RowIndex, std::int32_t>, Span> spans;
  for (const DeviceWork& work : timeline.work) {
    if (work.stream == kNoRow) continue;
    const std::int32_t device = timeline.streams[work.stream].device;
    attribution.each(attribution.of_work(work), [&](RowIndex range) {
      const auto [entry, is_new] =
          spans.try_emplace({range, device}, Span{work.start_ns, work.end_ns});
      if (!is_new) entry->second.end_ns = std::max(entry->second.end_ns, work.end_ns);
    });
  }
  std::map<std::tuple<std::string, Names::Id, std::int32_t>, std::vector<Span>> by_label;
  for (const auto& [key, span] : spans) {
    const Range& range = timeline.ranges[key.first];
    by_label[{range_label(timeline.names.text(range.name)), range.domain, key.second}].push_back(
        span);
  }
  for (auto& [key, of_label] : by_label) {
    // Requests that run at the same time share what was sampled.
    const std::vector<Span> spans_of_label = merged(std::move(of_label));
    if (auto metrics = integrals.over(std::get<2>(key), spans_of_label)) all.emplace(key, *metrics);
  }
  return all;
}

std::optional<double> active_without_work(const Timeline& timeline, std::int32_t device,
                                          const MetricIntegrals& integrals) {
  // A sample at either end of an idle stretch may include work.
  constexpr std::int64_t kFewestPeriods = 10;
  const std::int64_t period_ns = integrals.period_ns(device);
  if (period_ns == 0) return std::nullopt;
  std::vector<Span> idle;
  std::int64_t busy_until_ns = timeline.begin_ns;
  const auto add = [&](std::int64_t until_ns) {
    if (until_ns - busy_until_ns < kFewestPeriods * period_ns) return;
    idle.push_back({busy_until_ns + 2 * period_ns, until_ns - 2 * period_ns});
  };
  for (const DeviceWork& work : timeline.work) {
    if (work.stream == kNoRow || timeline.streams[work.stream].device != device) continue;
    add(work.start_ns);
    busy_until_ns = std::max(busy_until_ns, work.end_ns);
  }
  add(timeline.end_ns);
  const auto metrics = integrals.over(device, idle);
  return metrics ? metrics->sm_active : std::nullopt;
}

}  // namespace profline::timeline
