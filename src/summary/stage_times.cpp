#include "summary/stage_times.h"

#include <numeric>
#include <string>

#include "statistics/summary.h"

namespace profline::summary {
namespace {

constexpr double kNsPerMs = 1e6;

std::optional<std::int64_t> part_ns(const Sample& sample, std::string_view stage) {
  if (stage == "sam") return sample.sam_ns;
  if (stage == "clip") return sample.clip_ns;
  if (stage == "projector") return sample.projector_ns;
  if (stage == "lm") return sample.lm_ns;
  if (stage == "prefill") return sample.prefill_ns;
  if (stage == "preprocess") return sample.preprocess_ns;
  return std::nullopt;
}

double number(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  if (found == nullptr) return 0;
  if (found->is_int()) return static_cast<double>(found->as_int());
  return found->is_float() ? found->as_float() : 0;
}

std::optional<SummaryTimes> from_metrics(const Node& metrics, std::string_view stage) {
  const std::string path = stage == "decode" ? std::string("aggregates.token_ms")
                                             : "aggregates.stage_ms." + std::string(stage);
  const Node* found = metrics.find_path(path);
  if (found == nullptr || !found->is_map()) return std::nullopt;
  const auto ns = [&](std::string_view key) { return number(*found, key) * kNsPerMs; };
  SummaryTimes times;
  times.n = static_cast<std::uint64_t>(number(*found, "n"));
  if (times.n == 0) return std::nullopt;
  times.median_ns = ns("median");
  times.mean_ns = ns("mean");
  times.std_ns = ns("std");
  times.p90_ns = ns("p90");
  times.p99_ns = ns("p99");
  times.min_ns = ns("min");
  times.max_ns = ns("max");
  times.median_low_ns = ns("median_ci95.0");
  times.median_high_ns = ns("median_ci95.1");
  return times;
}

std::optional<SummaryTimes> from_samples(std::span<const Sample> samples, std::string_view stage) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    if (stage == "decode") {
      for (const std::int64_t ns : sample.token_ns) values.push_back(static_cast<double>(ns));
    } else if (const auto ns = part_ns(sample, stage)) {
      values.push_back(static_cast<double>(*ns));
    }
  }
  const auto summary = statistics::summarise(values);
  if (!summary) return std::nullopt;
  return SummaryTimes{summary->n,
                      summary->median,
                      summary->mean,
                      summary->std,
                      summary->p90,
                      summary->p99,
                      summary->min,
                      summary->max,
                      summary->median_ci95.low,
                      summary->median_ci95.high};
}

}  // namespace

StageTime stage_time(const Sample& sample, std::string_view stage) {
  if (stage == "decode") {
    const double ns = std::accumulate(
        sample.token_ns.begin(), sample.token_ns.end(), 0.0,
        [](double sum, std::int64_t token) { return sum + static_cast<double>(token); });
    return {static_cast<double>(sample.token_ns.size()), ns};
  }
  const auto ns = part_ns(sample, stage);
  return ns ? StageTime{1, static_cast<double>(*ns)} : StageTime{};
}

StageTime stage_time(std::span<const Sample> samples, std::string_view stage) {
  StageTime sum;
  for (const Sample& sample : samples) {
    const StageTime time = stage_time(sample, stage);
    sum.units += time.units;
    sum.ns += time.ns;
  }
  return sum;
}

std::optional<SummaryTimes> stage_spread(std::span<const Sample> samples, const Node* metrics,
                                         std::string_view stage) {
  if (metrics != nullptr) {
    if (auto times = from_metrics(*metrics, stage)) return times;
  }
  return from_samples(samples, stage);
}

}  // namespace profline::summary
