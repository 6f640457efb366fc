#include "load/metrics.h"

#include <gtest/gtest.h>

#include "load/internal/figures.h"

namespace profline::load {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// A request due at `due`, sent `late` afterwards, whose tokens arrive every 10 ms from `ttft` on.
Outcome answered(std::uint64_t id, std::int64_t due_ms, std::int64_t ttft_ms, int tokens,
                 std::int64_t late_ms = 0) {
  Outcome outcome;
  outcome.id = id;
  outcome.measured = true;
  outcome.due_ns = due_ms * kMillisecond;
  outcome.sent_ns = (due_ms + late_ms) * kMillisecond;
  for (int i = 0; i < tokens; ++i) {
    outcome.events.push_back({(due_ms + ttft_ms + 10 * i) * kMillisecond, 100, 0});
  }
  outcome.end_ns = outcome.events.back().at_ns;
  outcome.usage_tokens = tokens;
  outcome.prompt_tokens = 7;
  outcome.has_done = true;
  return outcome;
}

Observation open_load(int requests) {
  Observation observation;
  observation.is_open = true;
  observation.rate = 10;
  for (int i = 0; i < requests; ++i) {
    observation.outcomes.push_back(answered(static_cast<std::uint64_t>(i), 100 * i, 20 + i % 3, 5));
  }
  return observation;
}

TEST(Latencies, CountFromTheIntendedStartOfAnOpenLoop) {
  const Outcome late = answered(0, 100, 50, 5, 30);
  const auto open = latencies_of(late, true);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->ttft_ns, 50 * kMillisecond);
  EXPECT_EQ(open->e2e_ns, 90 * kMillisecond);
  EXPECT_EQ(open->tpot_ns, 10.0 * kMillisecond);
  EXPECT_EQ(latencies_of(late, false)->ttft_ns, 20 * kMillisecond) << "from its sending";
  EXPECT_EQ(latencies_of(answered(0, 0, 50, 1), true)->tpot_ns, std::nullopt);
}

TEST(Latencies, UseTheServersCountOfTokens) {
  Outcome outcome = answered(0, 0, 50, 5);
  outcome.usage_tokens = 9;  // several tokens per event
  EXPECT_EQ(latencies_of(outcome, true)->tpot_ns, 5.0 * kMillisecond);
  outcome.usage_tokens.reset();
  EXPECT_EQ(outcome.tokens(), 5U);
}

TEST(Goodput, CountsRequestsThatMeetAllSlos) {
  const Outcome outcome = answered(0, 0, 50, 5);
  EXPECT_TRUE(is_good(outcome, true, {50.0, 10.0}));
  EXPECT_FALSE(is_good(outcome, true, {49.0, 10.0}));
  EXPECT_FALSE(is_good(outcome, true, {50.0, 9.0}));
  Outcome failed = outcome;
  failed.failure = Failure{"reset", ""};
  EXPECT_FALSE(is_good(failed, true, {50.0, 10.0}));
}

TEST(Metrics, AreThoseOfTheRequests) {
  Observation observation = open_load(100);
  observation.outcomes[10].failure = Failure{"http_503", "busy"};
  observation.outcomes[11].failure = Failure{"http_503", "still busy"};
  observation.outcomes[12].failure = Failure{"reset", "gone"};
  LoadRecord record;
  fill_in(observation, {21.5, {}}, record);
  EXPECT_EQ(record.counts.measured, 100U);
  EXPECT_EQ(record.counts.succeeded, 97U);
  EXPECT_EQ(record.counts.output_tokens, 485U);
  EXPECT_EQ(record.counts.prompt_tokens, 679U);
  EXPECT_EQ(record.metrics.ttft.n, 97U);
  EXPECT_DOUBLE_EQ(record.metrics.ttft.p50->value, 21);
  EXPECT_DOUBLE_EQ(record.metrics.e2e.p50->value, 61);
  EXPECT_EQ(record.metrics.itl.n, 97U * 4);
  EXPECT_DOUBLE_EQ(record.metrics.itl.p99->value, 10);
  EXPECT_DOUBLE_EQ(record.metrics.tpot.mean->value, 10);
  EXPECT_NEAR(record.metrics.requests.per_second->value, 9.7, 0.2);
  EXPECT_EQ(record.metrics.goodput->good, 65U);
  ASSERT_EQ(record.errors.size(), 2U);
  EXPECT_EQ(record.errors[0], (LoadError{"http_503", 2, "busy"}));
  EXPECT_EQ(record.errors[1], (LoadError{"reset", 1, "gone"}));
  EXPECT_EQ(record.failures.size(), 3U);
  EXPECT_EQ(record.limit, LoadLimit::Neither);
  std::uint64_t completed = 0;
  double tokens = 0;
  for (const LoadSecond& second : record.seconds) {
    completed += second.completed;
    tokens += second.output_tokens;
  }
  EXPECT_EQ(completed, 97U);
  EXPECT_DOUBLE_EQ(tokens, 500);
  EXPECT_EQ(record.seconds.back().in_flight, 0U);
}

TEST(Metrics, AreMarkedIfTheClientsOwnErrorCouldChangeThem) {
  Observation observation = open_load(100);
  for (Outcome& outcome : observation.outcomes) {
    outcome.sent_ns += 2 * kMillisecond;  // a tenth of the TTFT, 3 % of E2E
  }
  LoadRecord record;
  fill_in(observation, {}, record);
  EXPECT_DOUBLE_EQ(record.client.send_lateness.p50_ms, 2);
  EXPECT_EQ(record.metrics.ttft.marked,
            (std::vector<std::string>{"mean", "p50", "p90", "p95", "p99"}));
  EXPECT_TRUE(record.metrics.e2e.marked.empty());
  EXPECT_TRUE(record.metrics.itl.marked.empty());
  EXPECT_EQ(record.limit, LoadLimit::Neither);

  for (Outcome& outcome : observation.outcomes) {
    for (OutputEvent& event : outcome.events) event.error_us = 600;
  }
  LoadRecord marked;
  fill_in(observation, {}, marked);
  EXPECT_FALSE(marked.metrics.itl.marked.empty());
  EXPECT_TRUE(marked.metrics.tpot.marked.empty()) << "spread over the tokens";
}

TEST(Metrics, NameWhoWasTheLimit) {
  LoadRecord late;
  Observation observation = open_load(100);
  for (Outcome& outcome : observation.outcomes) outcome.sent_ns += 10 * kMillisecond;
  fill_in(observation, {}, late);
  EXPECT_EQ(late.limit, LoadLimit::Client);
  EXPECT_TRUE(late.metrics.requests.marked);

  LoadRecord overloaded;
  Observation queue = open_load(0);
  for (int i = 0; i < 200; ++i) {
    queue.outcomes.push_back(answered(static_cast<std::uint64_t>(i), 100 * i, 20 + 100 * i, 5));
  }
  fill_in(queue, {}, overloaded);
  EXPECT_EQ(overloaded.limit, LoadLimit::Server);

  LoadRecord closed;
  Observation loop = open_load(100);
  loop.is_open = false;
  fill_in(loop, {}, closed);
  EXPECT_EQ(closed.limit, LoadLimit::Server);
}

TEST(Metrics, OfNothingAreAbsent) {
  LoadRecord record;
  fill_in({}, {}, record);
  EXPECT_EQ(record.metrics.ttft.p50, std::nullopt);
  EXPECT_EQ(record.metrics.requests.per_second, std::nullopt);
  Observation failed = open_load(2);
  for (Outcome& outcome : failed.outcomes) {
    outcome.events.clear();
    outcome.failure = Failure{"refused", ""};
  }
  fill_in(failed, {100.0, {}}, record);
  EXPECT_EQ(record.counts.succeeded, 0U);
  EXPECT_EQ(record.metrics.goodput->share->value, 0);
}

TEST(Metrics, ShowAStallInTheTailOfAnOpenLoop) {
  Observation observation = open_load(200);
  for (int i = 100; i < 120; ++i) {  // the server stalls for 2 s at 10 s
    observation.outcomes[static_cast<std::size_t>(i)] =
        answered(static_cast<std::uint64_t>(i), 100 * i, 2000 - 100 * (i - 100) + 20, 5);
  }
  LoadRecord record;
  fill_in(observation, {}, record);
  EXPECT_GT(record.metrics.ttft.p99->value, 1500);
  EXPECT_LT(record.metrics.ttft.p50->value, 30);
}

TEST(Figures, HaveIntervalsThatContainThem) {
  internal::Clusters independent;
  internal::Clusters grouped;
  for (int i = 0; i < 300; ++i) {
    const double value = 10 + (i * 37) % 100;
    independent.push_back({value});
    grouped.push_back({value, value + 1, value + 2});
  }
  for (const internal::Clusters& clusters : {independent, grouped}) {
    const LoadLatency latency = internal::latency(clusters);
    for (const auto* figure : {&latency.mean, &latency.p50, &latency.p90, &latency.p95}) {
      ASSERT_TRUE((*figure)->low && (*figure)->high);
      EXPECT_LE(*(*figure)->low, (*figure)->value);
      EXPECT_GE(*(*figure)->high, (*figure)->value);
    }
    std::uint64_t counted = 0;
    for (const std::uint64_t count : latency.histogram.counts) counted += count;
    EXPECT_EQ(counted, latency.n);
    EXPECT_EQ(latency.histogram.edges_ms.size(), latency.histogram.counts.size() + 1);
  }
  const LoadLatency few = internal::latency({{1}, {2}, {3}, {4}, {5}, {6}});
  EXPECT_EQ(few.p99->high, std::nullopt) << "six values do not show it";
}

TEST(Trial, IsMetIfEnoughRequestsAreGood) {
  const Observation observation = open_load(99);
  EXPECT_TRUE(trial_of(observation, 10, {30.0, {}, 0.9}, false).met);
  EXPECT_FALSE(trial_of(observation, 10, {21.5, {}, 0.9}, false).met);
  EXPECT_TRUE(trial_of(observation, 10, {21.5, {}, 0.6}, false).met);
  EXPECT_FALSE(trial_of(observation, 10, {30.0, {}, 0.9}, true).met);
}

TEST(RequestRecords, HoldWhatWasMeasured) {
  Observation observation = open_load(3);
  observation.outcomes[1].failure = Failure{"reset", ""};
  observation.outcomes[2].sent_ns += kMillisecond;
  const std::vector<Request> requests = request_records(observation);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].id, 2U);
  EXPECT_EQ(requests[1].source, RequestSource::Client);
  EXPECT_EQ(requests[1].ttft_ns, 22 * kMillisecond);
  EXPECT_EQ(requests[1].new_tokens, 5U);
  EXPECT_EQ(requests[1].integer("lateness_ns"), kMillisecond);
  EXPECT_EQ(requests[1].integer("event_delay_ns"), 100'000);
  EXPECT_EQ(requests[1].find_phase("decode")->steps_ns->size(), 4U);
}

TEST(LatencyHistogram, KnowsQuantilesToThreePercent) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile_ms(0.5), std::nullopt);
  for (int i = 1; i <= 1000; ++i) histogram.add(i);
  EXPECT_NEAR(*histogram.quantile_ms(0.5), 500, 15);
  EXPECT_NEAR(*histogram.quantile_ms(0.99), 990, 30);
}

}  // namespace
}  // namespace profline::load
