#include "summary/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run.h"
#include "summary/summarise.h"
#include "testing/runs/load_run.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

LoadFigure figure(double value) {
  return {value, value * 0.9, value * 1.1};
}

LoadLatency latency(double p50, double p99) {
  LoadLatency latency;
  latency.n = 100;
  latency.p50 = figure(p50);
  latency.p90 = latency.p95 = latency.p99 = figure(p99);
  latency.mean = figure(p50 * 1.1);
  return latency;
}

SummaryLoad closed_load() {
  SummaryLoad load;
  load.concurrency = 8;
  load.counts.measured = 200;
  load.counts.succeeded = load.counts.steady = 200;
  load.metrics.ttft = latency(40, 90);
  load.metrics.tpot = latency(8, 12);
  load.metrics.requests.per_second = figure(20);
  load.metrics.output_tokens.per_second = figure(640);
  load.limit_reason = "the client always had its requests in flight";
  return load;
}

RunSummary summary_of(const testing::LoadRun& made) {
  const testing::TempDir folder;
  made.write(folder / "run");
  const auto run = run::Run::open(folder / "run");
  EXPECT_TRUE(run) << run.error().to_string();
  return summarise(*run);
}

TEST(LoadSummary, HasWhatTheLoadFileHas) {
  const testing::LoadRun made({.slo = {.ttft_ms = 60.0, .tpot_ms = 10.0}});
  const RunSummary summary = summary_of(made);
  ASSERT_TRUE(summary.load);
  EXPECT_EQ(summary.load->metrics, made.load.metrics);
  EXPECT_EQ(summary.load->counts, made.load.counts);
  EXPECT_EQ(summary.load->slo_ttft_ms, 60);
  EXPECT_EQ(summary.load->slo_share, 0.9);
  EXPECT_EQ(summary.load->source, "load.json");
  EXPECT_EQ(
      summary.load->configuration,
      "Closed loop: 8 requests in flight at all times. 200 requests measured after 8 requests "
      "of warm-up; 64 synthetic prompts, 512 prompt tokens and 32 output tokens per request "
      "on average");
  EXPECT_TRUE(is_only_load(summary));
}

TEST(LoadSummary, MissesNothingThatALoadCannotHave) {
  const RunSummary summary = summary_of(testing::LoadRun());
  EXPECT_THAT(summary.absent, IsEmpty());
  EXPECT_THAT(summary.notes, IsEmpty());
  EXPECT_FALSE(summary.request);
  EXPECT_THAT(summary.phases, IsEmpty());
}

TEST(LoadSummary, LeavesOutFindingsThatTheRunHas) {
  testing::LoadRun made;
  const Finding both{Severity::Warning, "no_usage", "the server sends no usage", ""};
  const Finding one{Severity::Note, "slow_start", "the server was slow at first", ""};
  made.run.stages.front().findings = {both};
  made.load.findings = {both, one};
  EXPECT_EQ(summary_of(made).load->findings, std::vector{one});
}

TEST(LoadSummary, NamesTheLoopOfAnOpenLoad) {
  testing::LoadRun made({.rate = 25});
  EXPECT_THAT(summary_of(made).load->configuration,
              StartsWith("Open loop: 25.0 requests/s, Poisson arrivals. "));
  made.load.loop = "trace";
  made.load.rate.reset();
  EXPECT_THAT(summary_of(made).load->configuration,
              StartsWith("Open loop: requests sent at the times of a trace. "));
}

TEST(LoadVerdict, GivesSpeedLatencyAndTheLimit) {
  EXPECT_EQ(
      load_verdict(closed_load()),
      "With 8 requests in flight the server completes 20.0 requests/s (640 tokens/s). TTFT is "
      "40.0 ms at p50 and 90.0 ms at p99, TPOT is 8.00 ms at p50 and 12.0 ms at p99. The "
      "server was the bottleneck: the client always had its requests in flight");
}

TEST(LoadVerdict, GivesGoodputWithTheSlosAndErrorsByKind) {
  SummaryLoad load = closed_load();
  load.concurrency.reset();
  load.rate = 25;
  load.slo_ttft_ms = 60;
  load.slo_tpot_ms = 10;
  load.metrics.goodput = LoadGoodput{150, figure(0.75), figure(15), false};
  load.counts.failed = 7;
  load.counts.succeeded = 193;
  load.errors = {{"http_503", 3, ""}, {"reset", 2, ""}, {"timeout", 1, ""}, {"truncated", 1, ""}};
  load.limit = LoadLimit::Neither;
  load.limit_reason = "the server kept up with the offered rate";
  const std::string verdict = load_verdict(load);
  EXPECT_THAT(verdict, StartsWith("At 25.0 requests/s the server completes 20.0 requests/s"));
  EXPECT_THAT(
      verdict,
      HasSubstr(". 75.0 % of the requests meet the SLOs (TTFT at most 60.0 ms and TPOT at most "
                "10.0 ms). 7 of 200 requests failed: 3 http_503, 2 reset, 1 timeout and 1 more. "
                "Neither the client nor the server was the bottleneck: the server kept up"));
}

TEST(LoadVerdict, MarksWhatTheClientCouldHaveChanged) {
  SummaryLoad load = closed_load();
  load.metrics.ttft.client_error_ms = 3;
  load.metrics.ttft.marked = {"p50"};
  load.limit = LoadLimit::Client;
  const std::string verdict = load_verdict(load);
  EXPECT_THAT(verdict, HasSubstr("TTFT is 40.0 ms* at p50 and 90.0 ms at p99,"));
  EXPECT_THAT(verdict, HasSubstr("The client was the bottleneck, so the server may be faster"));
  EXPECT_THAT(verdict, EndsWith(". *: may be off by more than 5 % because of the client"));
  EXPECT_EQ(mark_note(load),
            "the client's own error could change this figure by more than 5 % (TTFT by 3.00 ms at "
            "its own p99)");
  EXPECT_THAT(load_verdict(closed_load()), Not(HasSubstr("*")));
  EXPECT_THAT(mark_note(closed_load()), IsEmpty());
}

TEST(LoadVerdict, SaysThatNothingSucceeded) {
  SummaryLoad load;
  load.concurrency = 8;
  load.counts.measured = load.counts.failed = 200;
  load.errors = {{"refused", 200, "connection refused"}};
  EXPECT_EQ(load_verdict(load), "200 of 200 requests failed: 200 refused");
}

TEST(LoadVerdict, StartsWithTheResultOfASearch) {
  SummaryLoad load = closed_load();
  load.slo_ttft_ms = 200;
  load.slo_share = 0.9;
  load.search = testing::made_up_search();
  EXPECT_THAT(load_verdict(load),
              StartsWith("The highest rate that meets the SLOs (TTFT at most 200 ms, for 90 % of "
                         "the requests) is 12.0 requests/s; 14.0 requests/s does not meet them. "));
  load.search = LoadSearch();
  EXPECT_THAT(search_words(load),
              StartsWith("None of the rates that were tried meets the SLOs (TTFT at most 200 ms"));
}

TEST(LoadTables, HaveADashForWhatIsNotKnown) {
  SummaryLoad load = closed_load();
  EXPECT_EQ(latency_text(latency_figures(load.metrics.itl)[0]), "–");
  load.metrics.ttft.p99->high.reset();
  EXPECT_EQ(latency_interval(latency_figures(load.metrics.ttft)[3]), "81.0 ms to –");
  load.metrics.requests.per_second.reset();
  EXPECT_EQ(load_rates(load)[0].value, "–");
  EXPECT_EQ(load_rates(load)[1].interval, "576 tokens/s to 704 tokens/s");
  EXPECT_EQ(load_rates(load).size(), 2U) << "no goodput without SLOs";
}

TEST(LoadTables, SayIfTheLoadWasNotSteady) {
  SummaryLoad load = closed_load();
  load.steady = {1.25, 9.5, "steady"};
  EXPECT_EQ(steady_words(load),
            "Over the steady part: 200 requests, 1.2 s to 9.5 s after the start");
  load.steady.verdict = "drifting";
  EXPECT_THAT(steady_words(load), HasSubstr("latency still changed"));
  load.steady.verdict = "too_short";
  EXPECT_THAT(steady_words(load), HasSubstr("too few requests"));
}

}  // namespace
}  // namespace profline::summary
