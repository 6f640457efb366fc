#include "load/internal/limit.h"

#include <algorithm>

namespace profline::load::internal {
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
  if (observation.busy_share > kTooBusy) return client("its event loop hardly ever waited");
  if (e2e && late_ms > kErrorThatMatters * e2e->value) {
    return client("requests were sent late by more than 5 % of the time they take");
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
