#include "load/internal/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics/significance.h"
#include "statistics/summary.h"

namespace profline::load::internal {
namespace {

constexpr double kLowerTail = 0.025;
constexpr double kUpperTail = 0.975;
constexpr std::size_t kResamples = 400;
constexpr std::size_t kLeastForInterval = 5;
constexpr std::size_t kMostBlocks = 50;

constexpr double kQuantiles[] = {0.5, 0.9, 0.95, 0.99};

/// The interval of a quantile of independent values, from their order alone: the number of values
/// below the quantile is binomial.
LoadFigure ordered_quantile(std::span<const double> sorted, double q) {
  LoadFigure figure{statistics::quantile(sorted, q), {}, {}};
  const auto n = static_cast<double>(sorted.size());
  const double half = statistics::normal_quantile(kUpperTail) * std::sqrt(n * q * (1 - q));
  const double low = std::floor(n * q - half) - 1;
  const double high = std::ceil(n * q + half);
  if (low >= 0) figure.low = std::min(figure.value, sorted[static_cast<std::size_t>(low)]);
  if (high < n) figure.high = std::max(figure.value, sorted[static_cast<std::size_t>(high)]);
  return figure;
}

struct Member {
  double value;
  std::size_t cluster;
};

/// Quantiles of values of which each cluster counts as often as its weight says.
void weighted_quantiles(std::span<const Member> sorted, std::span<const std::uint32_t> weights,
                        std::vector<double> (&results)[std::size(kQuantiles)]) {
  std::uint64_t total = 0;
  for (const Member& member : sorted) total += weights[member.cluster];
  if (total == 0) return;
  std::uint64_t below = 0;
  std::size_t next = 0;
  for (const Member& member : sorted) {
    below += weights[member.cluster];
    while (next < std::size(kQuantiles) &&
           static_cast<double>(below) > kQuantiles[next] * static_cast<double>(total - 1)) {
      results[next++].push_back(member.value);
    }
  }
}

/// The bootstrap over clusters.
void resample(const Clusters& clusters, std::span<const Member> sorted,
              std::vector<double> (&quantiles)[std::size(kQuantiles)], std::vector<double>& means) {
  std::vector<double> sums;
  for (const std::vector<double>& cluster : clusters) {
    sums.push_back(std::accumulate(cluster.begin(), cluster.end(), 0.0));
  }
  statistics::RandomNumbers random(statistics::Bootstrap{}.seed);
  const auto n = static_cast<std::uint32_t>(clusters.size());
  std::vector<std::uint32_t> weights(n);
  for (std::size_t i = 0; i < kResamples; ++i) {
    std::fill(weights.begin(), weights.end(), 0U);
    double sum = 0;
    std::size_t count = 0;
    for (std::uint32_t drawn = 0; drawn < n; ++drawn) {
      const std::uint32_t cluster = random.below(n);
      ++weights[cluster];
      sum += sums[cluster];
      count += clusters[cluster].size();
    }
    means.push_back(sum / static_cast<double>(count));
    weighted_quantiles(sorted, weights, quantiles);
  }
}

LoadFigure bootstrapped(double value, std::vector<double>& resampled) {
  std::sort(resampled.begin(), resampled.end());
  return {value, std::min(value, statistics::quantile(resampled, kLowerTail)),
          std::max(value, statistics::quantile(resampled, kUpperTail))};
}

/// Ten bins per factor of ten.
LoadHistogram histogram_of(std::span<const double> sorted) {
  constexpr double kPerDecade = 10;
  constexpr double kLeast = 1e-3;
  LoadHistogram histogram;
  const double least = std::max(kLeast, sorted.front());
  const auto first = static_cast<int>(std::floor(kPerDecade * std::log10(least)));
  double edge = sorted.front() < least ? 0 : std::pow(10, first / kPerDecade);
  histogram.edges_ms.push_back(edge);
  auto at = sorted.begin();
  for (int bin = first + 1; at != sorted.end(); ++bin) {
    edge = std::pow(10, bin / kPerDecade);
    const auto end = std::lower_bound(at, sorted.end(), edge);
    histogram.edges_ms.push_back(edge);
    histogram.counts.push_back(static_cast<std::uint64_t>(end - at));
    at = end;
  }
  return histogram;
}

bool has_groups(const Clusters& clusters) {
  return std::any_of(clusters.begin(), clusters.end(),
                     [](const std::vector<double>& cluster) { return cluster.size() > 1; });
}

void fill_grouped(const Clusters& clusters, LoadLatency& latency) {
  std::vector<Member> sorted;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (const double value : clusters[i]) sorted.push_back({value, i});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Member& a, const Member& b) { return a.value < b.value; });
  std::vector<double> quantiles[std::size(kQuantiles)];
  std::vector<double> means;
  resample(clusters, sorted, quantiles, means);
  std::optional<LoadFigure>* const figures[] = {&latency.p50, &latency.p90, &latency.p95,
                                                &latency.p99};
  for (std::size_t i = 0; i < std::size(kQuantiles); ++i) {
    *figures[i] = bootstrapped((*figures[i])->value, quantiles[i]);
  }
  latency.mean = bootstrapped(latency.mean->value, means);
}

}  // namespace

LoadLatency latency(const Clusters& clusters) {
  std::vector<double> values;
  for (const std::vector<double>& cluster : clusters) {
    values.insert(values.end(), cluster.begin(), cluster.end());
  }
  LoadLatency latency;
  latency.n = values.size();
  if (values.empty()) return latency;
  latency.mean = mean_figure(values);
  std::sort(values.begin(), values.end());
  latency.p50 = ordered_quantile(values, 0.5);
  latency.p90 = ordered_quantile(values, 0.9);
  latency.p95 = ordered_quantile(values, 0.95);
  latency.p99 = ordered_quantile(values, 0.99);
  latency.min_ms = values.front();
  latency.max_ms = values.back();
  latency.histogram = histogram_of(values);
  if (has_groups(clusters)) {
    if (clusters.size() >= kLeastForInterval) {
      fill_grouped(clusters, latency);
    } else {
      for (auto* figure : {&latency.mean, &latency.p50, &latency.p90, &latency.p95, &latency.p99}) {
        (*figure)->low = (*figure)->high = std::nullopt;
      }
    }
  }
  return latency;
}

LoadFigure mean_figure(std::span<const double> in_order) {
  const double sum = std::accumulate(in_order.begin(), in_order.end(), 0.0);
  LoadFigure figure{sum / static_cast<double>(in_order.size()), {}, {}};
  const std::vector<double> blocks = statistics::block_means(in_order, kMostBlocks);
  if (blocks.size() < kLeastForInterval) return figure;
  const auto n = static_cast<double>(blocks.size());
  const double mean = std::accumulate(blocks.begin(), blocks.end(), 0.0) / n;
  double squares = 0;
  for (const double block : blocks) squares += (block - mean) * (block - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  const double half = statistics::student_quantile(kUpperTail, n - 1) * error;
  figure.low = std::max(std::min(0.0, figure.value), figure.value - half);
  figure.high = figure.value + half;
  return figure;
}

LoadFigure share_figure(std::uint64_t good, std::uint64_t all) {
  const double z = statistics::normal_quantile(kUpperTail);
  const auto n = static_cast<double>(all);
  const double p = static_cast<double>(good) / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {p, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr std::size_t kMostSeconds = 100'000;

/// Whether requests accumulate: many more are in flight in the last quarter than in the second.
bool accumulates(const std::vector<LoadSecond>& seconds, double steady_end_s) {
  constexpr double kGrowth = 1.5;
  constexpr double kNoise = 4;
  const auto end = std::min(seconds.size(), static_cast<std::size_t>(steady_end_s) + 1);
  const std::size_t quarter = end / 4;
  if (quarter == 0) return false;
  double early = 0;
  double late = 0;
  for (std::size_t i = 0; i < quarter; ++i) {
    early += static_cast<double>(seconds[quarter + i].in_flight);
    late += static_cast<double>(seconds[end - 1 - i].in_flight);
  }
  const auto n = static_cast<double>(quarter);
  return late > kGrowth * early + kNoise * n;
}

}  // namespace

std::vector<LoadSecond> seconds_of(const Observation& observation) {
  std::int64_t last = observation.start_ns;
  for (const Outcome& outcome : observation.outcomes) last = std::max(last, outcome.end_ns);
  const auto second_of = [&](std::int64_t at_ns) {
    const auto since = std::max<std::int64_t>(0, at_ns - observation.start_ns);
    return std::min(kMostSeconds,
                    static_cast<std::size_t>(static_cast<double>(since) * kSecondsPerNs));
  };
  std::vector<LoadSecond> seconds(observation.outcomes.empty() ? 0 : second_of(last) + 1);
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i].at_s = static_cast<double>(i);
  for (const Outcome& outcome : observation.outcomes) {
    ++seconds[second_of(outcome.sent_ns)].sent;
    LoadSecond& end = seconds[second_of(outcome.end_ns)];
    ++(outcome.succeeded() ? end.completed : end.failed);
    if (outcome.events.empty()) continue;
    const double per_event =
        static_cast<double>(outcome.tokens()) / static_cast<double>(outcome.events.size());
    for (const OutputEvent& event : outcome.events) {
      if (event.at_ns <= last) seconds[second_of(event.at_ns)].output_tokens += per_event;
    }
  }
  std::uint64_t in_flight = 0;
  for (LoadSecond& second : seconds) {
    in_flight += second.sent - second.completed - second.failed;
    second.in_flight = in_flight;
  }
  return seconds;
}

void decide_limit(const Observation& observation, LoadRecord& record) {
  constexpr double kTooBusy = 0.9;
  const bool was_full =
      std::any_of(record.errors.begin(), record.errors.end(),
                  [](const LoadError& error) { return error.kind == "client_limit"; });
  const double late_ms = record.client.send_lateness.p99_ms;
  const std::optional<LoadFigure>& e2e = record.metrics.e2e.p50;
  const auto client = [&](std::string why) {
    record.limit = LoadLimit::Client;
    record.limit_reason = std::move(why);
  };
  if (was_full) return client("the client could not keep more requests in flight");
  if (observation.busy_share > kTooBusy)
    return client("its event loop was busy almost all the time");
  if (e2e && late_ms > kErrorThatMatters * e2e->value) {
    return client("requests were sent late by more than 5 % of their latency");
  }
  if (!observation.is_open) {
    record.limit = LoadLimit::Server;
    record.limit_reason = "the client always had its requests in flight";
    return;
  }
  if (record.steady.verdict == "drifting" || accumulates(record.seconds, record.steady.end_s)) {
    record.limit = LoadLimit::Server;
    record.limit_reason = "it did not keep up with the offered rate";
    return;
  }
  record.limit = LoadLimit::Neither;
  record.limit_reason = "the server kept up with the offered rate";
}

}  // namespace profline::load::internal
