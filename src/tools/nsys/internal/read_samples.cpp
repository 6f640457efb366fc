// What the GPUs sampled: GPU_METRICS (nsys profile --gpu-metrics-devices).

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

struct MetricRule {
  std::string_view part;
  GpuMetric metric;
};

// A name contains the first of these that applies. Sets of metrics differ between chips: an A100
// has `Tensor Active / FP16 Active [Throughput %]`, an H100 several metrics per direction of
// NVLink, whose shares add up.
constexpr std::array kMetricRules = {
    MetricRule{"SMs Active", GpuMetric::SmActive},
    MetricRule{"SM Active", GpuMetric::SmActive},
    MetricRule{"SM Issue", GpuMetric::SmIssue},
    MetricRule{"Tensor Active", GpuMetric::TensorActive},
    MetricRule{"DRAM Read", GpuMetric::DramRead},
    MetricRule{"DRAM Write", GpuMetric::DramWrite},
    MetricRule{"PCIe RX", GpuMetric::PcieReceive},
    MetricRule{"PCIe TX", GpuMetric::PcieSend},
    MetricRule{"NVLink RX", GpuMetric::NvlinkReceive},
    MetricRule{"NVLink TX", GpuMetric::NvlinkSend},
};

/// Nothing for a metric that is not read, or that is no share: `… [Throughput %]` is one, `… [Avg
/// Warps per Cycle]` and `… [MHz]` are not.
std::optional<GpuMetric> metric_of(std::string_view name) {
  const std::size_t unit = name.find('[');
  if (unit != std::string_view::npos && name.find('%', unit) == std::string_view::npos) {
    return std::nullopt;
  }
  for (const MetricRule& rule : kMetricRules) {
    if (name.find(rule.part) != std::string_view::npos) return rule.metric;
  }
  return std::nullopt;
}

struct Sample {
  std::int64_t when_ns = 0;
  std::int32_t device = 0;
  GpuMetric metric = GpuMetric::SmActive;
  float value = 0;
};

using Metrics = std::map<std::pair<std::int64_t, std::int64_t>, GpuMetric>;

/// By type and metric id, as in GPU_METRICS.
Metrics read_metric_names(Import& file) {
  Metrics metrics;
  const auto table = file.table({"TARGET_INFO_GPU_METRICS"});
  if (!table) return metrics;
  file.scan(*table, {"typeId", "metricId", "metricName"}, [&](const Rows& rows) {
    const auto metric = metric_of(rows.text(2).value_or(std::string_view()));
    if (metric) metrics.emplace(std::pair(rows.integer(0), rows.integer(1)), *metric);
  });
  return metrics;
}

/// One row per time; a metric of which a time has several rows, as of NVLink, is their sum.
GpuSamples samples_of(std::vector<Sample>::const_iterator first,
                      std::vector<Sample>::const_iterator last) {
  GpuSamples samples;
  samples.device = first->device;
  std::array<bool, kGpuMetrics> is_sampled{};
  for (auto sample = first; sample != last; ++sample) {
    is_sampled[static_cast<std::size_t>(sample->metric)] = true;
  }
  for (auto sample = first; sample != last; ++sample) {
    if (samples.when_ns.empty() || samples.when_ns.back() != sample->when_ns) {
      samples.when_ns.push_back(sample->when_ns);
      for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
        if (is_sampled[metric]) samples.values[metric].push_back(0);
      }
    }
    float& sum = samples.values[static_cast<std::size_t>(sample->metric)].back();
    sum = std::min(sum + sample->value, 1.0F);
  }
  return samples;
}

}  // namespace

void read_samples(Import& file) {
  const Metrics metrics = read_metric_names(file);
  const auto table = file.table({"GPU_METRICS"});
  if (!table) return;
  std::vector<Sample> samples;
  std::uint64_t others = 0;
  file.scan(*table, {"timestamp", "typeId", "metricId", "value"}, [&](const Rows& rows) {
    const auto found = metrics.find({rows.integer(1), rows.integer(2)});
    const auto when_ns = rows.maybe(0);
    const double percent = rows.real(3).value_or(-1);
    const bool is_plausible = when_ns && std::abs(*when_ns) < kFarthestTime && percent >= 0;
    if (found == metrics.end() || !is_plausible) {
      ++others;
      return;
    }
    // The type is the GPU's number, with that of the event in the upper bits.
    const auto device = static_cast<std::int32_t>(rows.integer(1) & 0xFF);
    samples.push_back({*when_ns, device, found->second, static_cast<float>(percent / 100)});
    file.use();
  });
  if (others > 0) {
    SkippedRows& skipped = file.skipped_rows[*table + ": a metric that is not read"];
    skipped.count = others;
    skipped.whole_table = true;
  }
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.device, a.when_ns, a.metric, a.value) <
           std::tie(b.device, b.when_ns, b.metric, b.value);
  });
  for (auto first = samples.cbegin(); first != samples.cend();) {
    const auto last = std::find_if(first, samples.cend(), [&](const Sample& sample) {
      return sample.device != first->device;
    });
    file.timeline.gpu_samples.push_back(samples_of(first, last));
    first = last;
  }
}

}  // namespace profline::nsys::internal
