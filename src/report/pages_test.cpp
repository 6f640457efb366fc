#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "report/write_reports.h"
#include "summary/summarise.h"
#include "testing/runs/load_run.h"
#include "testing/runs/program_run.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Result<Written> report_on(const std::filesystem::path& folder) {
  const run::Run run = PL_TRY(run::Run::open(folder));
  return write_reports(run, summary::summarise(run));
}

/// The reports of a run.
class Pages {
 public:
  template <typename AnyRun>
  explicit Pages(const AnyRun& run) {
    run.write(folder_.path());
    const auto written = report_on(folder_.path());
    EXPECT_TRUE(written) << written.error().to_string();
  }

  std::string page(const char* name) const { return testing::text_of(folder_ / name); }

 private:
  testing::TempDir folder_;
};

/// The page without code and escaped characters: what is left may be markup.
std::string markup_of(const std::string& page) {
  std::string rest;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '\\') {
      ++i;
      continue;
    }
    if (page[i] != '`') {
      rest += page[i];
      continue;
    }
    const std::size_t end = std::min(page.find_first_not_of('`', i), page.size());
    const std::string fence = page.substr(i, end - i);
    std::size_t close = page.find(fence, end);
    while (close != std::string::npos && page[close + fence.size()] == '`') {
      close = page.find(fence, page.find_first_not_of('`', close));
    }
    EXPECT_NE(close, std::string::npos) << "code that never ends: " << page.substr(i, 80);
    if (close == std::string::npos) return rest;
    EXPECT_EQ(page.substr(i, close - i).find('\n'), std::string::npos);
    i = close + fence.size() - 1;
  }
  return rest;
}

TEST(Pages, OneTimeCostsHaveATableOfTheirOwn) {
  testing::TestRun run = testing::h200_run();
  EXPECT_THAT(Pages(run).page("report.md"), Not(HasSubstr("One-time costs")));
  const Request like = run.baseline->front();
  for (const std::int64_t prefill_us : {17'200, 950, 1'050}) {
    Request& more = run.baseline->emplace_back(like);
    more.prompt_tokens = prefill_us > 10'000 ? 283 : 282;
    testing::phase_of(more, "prefill").ns = prefill_us * 1000;
  }
  const Pages pages(run);
  EXPECT_THAT(pages.page("report.md"),
              HasSubstr("| `prefill` | first use of a shape | 1 request | 17.2 ms | 1.00 ms | "
                        "`baseline/requests.jsonl` |"));
  EXPECT_THAT(pages.page("report.md"), HasSubstr("Requests without any: 3 of 4."));
  EXPECT_THAT(pages.page("report.md"), HasSubstr("- too short to tell: 4 requests"));
  EXPECT_THAT(pages.page("stakeholder_summary.md"),
              HasSubstr("- One-time cost, left out of the figures: first use of a shape in prefill "
                        "(17.2 ms instead of 1.00 ms, once)."));
  EXPECT_THAT(pages.page("stakeholder_summary.md"), HasSubstr("| Prefill | 1.00 ms |"));
}

TEST(Pages, KernelsThatRunBesideEachOtherAreReported) {
  testing::TestRun run = testing::h200_run();
  RangeUse& decode = run.nsys_ranges->ranges.front();
  const auto busy = static_cast<double>(decode.devices.front().own_busy_ns);
  decode.work_sum_ns = static_cast<std::int64_t>(busy * 1.5);
  EXPECT_THAT(Pages(run).page("kernels.md"),
              HasSubstr("In `decode`, 1.50 kernels or copies ran at a time while the GPU was busy "
                        "(`nsys/ranges.json`)"));
  decode.work_sum_ns = static_cast<std::int64_t>(busy);
  EXPECT_THAT(Pages(run).page("kernels.md"), Not(HasSubstr("at a time")));
}

TEST(Pages, CountersThatWereSampledHaveATable) {
  testing::TestRun run = testing::h200_run();
  EXPECT_THAT(Pages(run).page("report.md"), Not(HasSubstr("## Counters while it ran")));
  DeviceMetrics sampled;
  sampled.samples = 30;
  sampled.covered_ns = 3'000'000;
  sampled.sm_active = 0.85;
  sampled.tensor_active = 0.01;
  sampled.dram_read = 0.24;
  sampled.dram_write = 0.012;
  sampled.dram_bytes = 3.6e9;
  for (RangeUse& range : run.nsys_ranges->ranges) {
    if (range.name == "decode") range.devices.front().metrics = sampled;
  }
  const std::string page = Pages(run).page("report.md");
  EXPECT_THAT(page, HasSubstr("## Counters while it ran"));
  EXPECT_THAT(page, ::testing::ContainsRegex(
                        "`decode` +\\| +85.0 % \\| +1.0 % \\| +24.0 % \\| +1.2 % \\| +180 MB \\|"));
  EXPECT_THAT(page, HasSubstr("everything on the GPU is included. From `nsys/ranges.json`."));
}

TEST(Pages, SayWhyThereIsNothingToShow) {
  testing::TestRun run;
  run.run = testing::h200_run().run;
  for (StageRecord& stage : run.run.stages) stage.state = StageState::Off;
  run.stage("baseline").state = StageState::Ok;
  run.baseline = testing::h200_run().baseline;
  const Pages pages(run);
  EXPECT_THAT(pages.page("kernels.md"), HasSubstr("No kernels: "));
  EXPECT_THAT(pages.page("operators.md"),
              HasSubstr("No operators: torch\\_profiler/operators.json: stage torch\\_profiler is "
                        "off"));
}

TEST(Pages, OfAUsersProgramPromiseNothingFromProfiledTimes) {
  testing::ProgramRun program;
  program.capture().devices.front().busy_ns = 1'000'000;
  program.capture().launch.launches = 1;
  program.add_range("forward", 6'000'000);
  const Pages pages(program);
  for (const char* page : {"report.md", "stakeholder_summary.md"}) {
    SCOPED_TRACE(page);
    const std::string text = pages.page(page);
    EXPECT_THAT(text, Not(HasSubstr("faster")));
    EXPECT_THAT(text, Not(HasSubstr("at most 9")));
    EXPECT_THAT(text, Not(HasSubstr("the times above are from the run without one")));
    EXPECT_THAT(text, Not(HasSubstr("request")));
  }
  EXPECT_THAT(pages.page("stakeholder_summary.md"),
              HasSubstr("- Profilers slow the program down by up to 1.5x (nsys, the whole program, "
                        "with the tool's own work); times of captures and ranges include that.\n"));
}

TEST(Pages, RangesBelowOnePercentOfTheTimeAreNoNextSteps) {
  testing::ProgramRun program;
  program.add_range("tiny", 90'000);  // of 10 ms
  program.add_range("forward", 6'000'000);
  const Pages pages(program);
  const std::string page = pages.page("stakeholder_summary.md");
  const std::string steps = page.substr(page.find("## Next steps"));
  EXPECT_THAT(steps, HasSubstr("`forward`: find out what the host does between launches"));
  EXPECT_THAT(steps.substr(0, steps.find("\n## Measured")), Not(HasSubstr("tiny")));
  const std::string report = pages.page("report.md");
  EXPECT_THAT(report, HasSubstr("- `tiny`: host-bound, 0.9 % of the captured time; GPU busy"));
}

TEST(Pages, APhaseThatCouldSaveLessThanOnePercentIsNoNextStep) {
  testing::TestRun run = testing::h200_run();
  testing::phase_of(run.baseline->front(), "prefill/sam").ns = 60'000;  // 1.6 % of 3.7 ms
  RangeUse sam = run.nsys_ranges->ranges.front();
  sam.name = "sam";
  sam.instances = 1;
  sam.tokens.reset();
  RangeUse prefill = sam;
  prefill.name = "prefill";
  sam.devices.front().own_busy_ns = 42'000;  // of 60 us: less than a third can be saved
  run.nsys_ranges->ranges.push_back(prefill);
  run.nsys_ranges->ranges.push_back(sam);
  const Pages outcome(run);
  EXPECT_THAT(outcome.page("stakeholder_summary.md"), Not(HasSubstr(". `sam`: ")));
  EXPECT_THAT(outcome.page("stakeholder_summary.md"), HasSubstr("1. `decode`: launch less"));
}

TEST(Pages, ACountOfOneIsSingular) {
  testing::ProgramRun program;
  program.capture().launch.launches = 1;
  program.add_range("forward", 6'000'000);
  program.run.nsys_kernels = testing::h200_run().nsys_kernels;
  program.run.nsys_kernels->kernels.resize(1);
  program.run.nsys_kernels->kernels.front().launches = 1;
  program.run.nsys_kernels->launches = 1;
  const Pages pages(program);
  for (const char* page : {"report.md", "stakeholder_summary.md", "kernels.md", "summary.json"}) {
    EXPECT_THAT(pages.page(page),
                Not(::testing::ContainsRegex(
                    "[^0-9.,]1 (launches|kernels|rows|calls|images|operators|processes|tokens)")))
        << page;
  }
}

TEST(WriteReports, GivesTheSameBytesAgain) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  ASSERT_TRUE(report_on(folder.path()));
  std::vector<std::string> first;
  const auto written = report_on(folder.path());
  ASSERT_TRUE(written);
  EXPECT_THAT(written->files, SizeIs(5));
  for (const auto& file : written->files) first.push_back(testing::text_of(folder.path() / file));
  ASSERT_TRUE(report_on(folder.path()));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(testing::text_of(folder.path() / written->files[i]), first[i]) << written->files[i];
  }
}

TEST(WriteReports, AFolderWithoutARunIsAnError) {
  const testing::TempDir folder;
  const auto written = report_on(folder.path());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(folder / "report.md"));
}

TEST(Pages, SayHowToGetModelFlops) {
  const testing::TempDir folder;
  testing::TestRun run = testing::h200_run();
  run.trace = folder / "trace.json";
  ASSERT_TRUE(write_file_atomic(run.trace, R"({"traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9,
       "args": {"External id": 1}},
      {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2,
       "dur": 1, "args": {"correlation": 5, "External id": 1}},
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 4, "dur": 3,
       "args": {"correlation": 5, "External id": 1, "device": 0, "stream": 7}}]})"));
  EXPECT_THAT(Pages(run).page("kernels.md"),
              HasSubstr("Model FLOPs are not known, because no shapes were recorded "
                        "(pipeline.torch_profiler.record_shapes=true records them)."));
}

TEST(Pages, NamesAreNeverMarkup) {
  const std::string hostile = "evil|`x` <script>alert(1)</script> [a](http://b)\n# heading *x*";
  testing::TestRun run = testing::h200_run();
  run.nsys_kernels->kernels.front().printed_name = hostile;
  run.ncu_kernels->kernels.front().evidence = {hostile};
  run.nsys_ranges->captures.front().losses = {hostile};
  run.run.experiment = hostile;
  run.stage("nsys").findings = {{Severity::Warning, "code", hostile, hostile}};
  run.stage("nsys").limits = {hostile};
  const testing::TempDir folder;
  run.write(folder.path());
  const auto opened = run::Run::open(folder.path());
  ASSERT_TRUE(opened) << opened.error().to_string();
  ASSERT_TRUE(write_reports(*opened, summary::summarise(*opened)));
  for (const char* page : {"report.md", "kernels.md", "operators.md", "stakeholder_summary.md"}) {
    SCOPED_TRACE(page);
    const std::string text = markup_of(testing::text_of(folder / page));
    EXPECT_THAT(text, Not(HasSubstr("\n# heading")));
    EXPECT_THAT(text, Not(HasSubstr("<")));
    EXPECT_THAT(text, Not(HasSubstr("](http")));
    EXPECT_THAT(text, Not(HasSubstr("://")));
  }
  const std::string kernels = testing::text_of(folder / "kernels.md");
  EXPECT_THAT(kernels, HasSubstr("``evil\\|`x`"));
}

TEST(LoadPage, HasTheLoadAndNothingAboutModels) {
  const Pages pages(testing::LoadRun(
      {.rate = 25, .failures = 4, .lateness_ms = 2.5, .slo = {.ttft_ms = 60.0, .tpot_ms = 10.0}}));
  const std::string page = pages.page("report.md");
  for (const char* part :
       {"## Load\n\nOpen loop: 25.0 requests/s, Poisson arrivals. 200 requests measured after 8 "
        "requests of warm-up; 64 synthetic prompts",
        "| latency | n | p50 | p90 | p95 | p99 | mean |", "| TTFT | 196 | ", "| goodput | ",
        "192 of 200 requests met all SLOs (TTFT at most 60.0 ms and TPOT at most 10.0 ms)",
        "4 of 200 requests failed.", "| `http_503` | 2 | 1.0 % | HTTP 503: overloaded |",
        "| send lateness | 2.4", "the client's own error could change this figure by more than 5",
        "was the bottleneck", "- server http\\://127.0.0.1:8000, model tiny-llama, llama.cpp"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  for (const char* part : {"image", "floor", "phase", "GPU", "cpu", "missing",
                           "Where the time goes", "operators.md"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(LoadPage, HasTheRunsOfASearch) {
  testing::LoadRun run({.rate = 12, .slo = {.ttft_ms = 150.0, .tpot_ms = {}}});
  run.load.search = testing::made_up_search();
  const std::string page = Pages(run).page("report.md");
  EXPECT_THAT(page, HasSubstr("### Search\n\nThe highest rate that meets the SLOs (TTFT at most "
                              "150 ms, for 90 % of the requests) is 12.0 requests/s; 14.0"));
  EXPECT_THAT(page,
              HasSubstr("| 16.0 requests/s | 200 | 45.0 % | 42.0 % to 47.0 % | not met, ended "
                        "early | "));
}

TEST(LoadPage, IsTheOnlyPageOfALoad) {
  const testing::TempDir folder;
  testing::LoadRun().write(folder.path());
  const auto written = report_on(folder.path());
  ASSERT_TRUE(written);
  EXPECT_EQ(written->files, (std::vector<std::filesystem::path>{"summary.json", "report.md"}));
}

TEST(LoadPage, SaysWhyNothingSucceeded) {
  testing::LoadRun run;
  run.requests.clear();
  run.load.metrics = {};
  run.load.counts = {};
  run.load.counts.measured = run.load.counts.failed = 200;
  run.load.errors = {{"refused", 200, "connection refused"}};
  const std::string page = Pages(run).page("report.md");
  EXPECT_THAT(page, HasSubstr("**Verdict: 200 of 200 requests failed: 200 refused.**"));
  EXPECT_THAT(page, Not(HasSubstr("TTFT")));
  EXPECT_THAT(page, Not(HasSubstr("was the bottleneck")));
}

}  // namespace
}  // namespace profline::report
