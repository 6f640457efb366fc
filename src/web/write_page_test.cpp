#include "web/write_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "formats/markup.h"
#include "records/range_use.h"
#include "records/repeated_phase.h"
#include "summary/summarise.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/runs/load_run.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A run with nothing left but its own record.
void write_bare_run(const std::filesystem::path& folder) {
  RunRecord run;
  run.id = "bare";
  run.state = RunState::Failed;
  run.device = "cuda:0";
  run.stages.resize(1);
  run.stages.front().name = "ncu";
  run.stages.front().state = StageState::Failed;
  run.stages.front().findings = {
      {Severity::Problem, "no_permission", "counters are not allowed", "ask for them"}};
  ASSERT_TRUE(write_file_atomic(folder / "run.json", *write_json(to_node(run))));
}

TEST(WritePage, HasLinksOnlyIfItIsServed) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const RunSummary summary = summary::summarise(*run);
  const auto written = page_of({*run, summary});
  const auto served = page_of({*run, summary, {{"All <runs>", "/?a=1&b=2"}}});
  ASSERT_TRUE(written && served);
  EXPECT_THAT(*written, Not(HasSubstr("class=\"links\"")));
  EXPECT_THAT(*served, HasSubstr("<a href=\"/?a=1&amp;b=2\">All &lt;runs&gt;</a>"));
  // The policy of a response is that of the page itself.
  EXPECT_THAT(*served, HasSubstr(html_text(page_policy())));
}

TEST(WritePage, OfALoadHasNoPartsThatALoadCannotFill) {
  const testing::TempDir folder;
  testing::LoadRun made({.failures = 2});
  made.load.errors.front().example = "<b>busy</b>";
  made.write(folder.path());
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto page = page_of({*run, summary::summarise(*run)});
  ASSERT_TRUE(page) << page.error().to_string();
  for (const char* text :
       {"section id=\"load\"", "id=\"latency-table\"", "data-chart=\"ttft\"",
        "data-chart=\"seconds\"", "was the bottleneck", "&lt;b&gt;busy&lt;/b&gt;"}) {
    EXPECT_THAT(*page, HasSubstr(text));
  }
  for (const char* text : {"section id=\"spread\"", "section id=\"roofline\"", "<dt>device</dt>",
                           "phase by phase", "data-chart=\"search\""}) {
    EXPECT_THAT(*page, Not(HasSubstr(text)));
  }
}

TEST(WritePage, ShowsBatchesWithTheirImages) {
  const testing::TempDir folder;
  testing::TestRun made = testing::h200_run();
  Request& request = made.baseline->front();
  request.batch = 2;
  for (const char* single : {"image", "finish"}) request.attributes.erase(single);
  request.attributes["images"] = Node::list({Node::string("page-0001"), Node::string("page-0002")});
  request.attributes["finish_each"] = Node::list({Node::string("length"), Node::string("eos")});
  request.attributes["new_tokens_each"] = Node::list({Node::integer(21), Node::integer(11)});
  made.write(folder.path());
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto page = page_of({*run, summary::summarise(*run)});
  ASSERT_TRUE(page) << page.error().to_string();
  for (const char* part : {"measured batches", "page-0001, page-0002", "the model or the limit",
                           "1 batch ·", "new tokens in the longest", "per step"}) {
    EXPECT_THAT(*page, HasSubstr(part));
  }
}

TEST(WritePage, SaysInEachPartWhatIsNotThere) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  RunSummary summary;
  summary.run = "bare";
  summary.device = "cuda:0";
  summary.verdict = "no verdict";
  summary.absent = {{"baseline/requests.jsonl", "is not there"}};
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto written = write_page(*run, summary);
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(*written, "report.html");
  const std::string page = *read_file(folder / "report.html");
  for (const char* text :
       {"Nothing was measured phase by phase",
        "There is no run without a profiler: baseline/requests.jsonl is not there.",
        "No profiler recorded the GPU",
        "No capture can be shown: nsys/ranges.json is not there, torch_profiler/trace.json is",
        "No tool recorded a kernel", "No kernel or phase has both operations and bytes",
        "ncu counted nothing: ncu/kernels.json is not there.",
        "The torch profiler recorded no operators",
        "NVML was not read: baseline/gpu.jsonl is not there.",
        "No profiled run can be compared with", "counters are not allowed", "Fix: ask for them",
        "The config cannot be shown: config.resolved.json is not there.",
        "The environment was not recorded: env.json is not there."}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, Not(HasSubstr("class=\"plot\"")));
}

TEST(WritePage, DrawsWhatTheGpuSampled) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  ASSERT_TRUE(create_folders(folder / "nsys"));
  const auto capture = testing::unzipped(testing::source_dir() /
                                         "tests/golden/nsys/2025.3-fast-decode/input.sqlite.gz");
  ASSERT_TRUE(capture) << capture.error().to_string();
  ASSERT_TRUE(write_file_atomic(folder / "nsys/run.sqlite", *capture));
  NsysRanges ranges;
  ranges.tool = "nsys 2025.3.1";
  ranges.captures.resize(1);
  ranges.captures.front().name = "run";
  ranges.captures.front().sqlite = "run.sqlite";
  ASSERT_TRUE(write_file_atomic(folder / "nsys/ranges.json", to_document(ranges).value()));
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto page = page_of({*run, summary::summarise(*run)});
  ASSERT_TRUE(page) << page.error().to_string();
  for (const char* text :
       {"data-chart=\"nvml.metrics\"", "What GPU 0 sampled over the whole capture",
        "nsys/run.sqlite", "\"DRAM read\"", "\"SM active\""}) {
    EXPECT_THAT(*page, HasSubstr(text));
  }
}

TEST(WritePage, ShowsClocksOfTheMeasuredRunOnly) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  ASSERT_TRUE(create_folders(folder / "baseline"));
  ASSERT_TRUE(write_file_atomic(folder / "baseline/gpu.jsonl",
                                "{\"at_ns\":0,\"monotonic_ns\":100,\"sm_clock_mhz\":1900}\n"
                                "{\"at_ns\":200,\"monotonic_ns\":300,\"sm_clock_mhz\":1234}\n"));
  ASSERT_TRUE(write_file_atomic(folder / "baseline/repeated_phases.json",
                                to_document(RepeatedPhases{{{"decode", 200, 400, 1, 9}}}).value()));
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto page = page_of({*run, summary::summarise(*run)});
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_THAT(*page, HasSubstr("1 reading over the run without a profiler"));
  EXPECT_THAT(*page, Not(HasSubstr("1234")));
}

TEST(WritePage, ListsOneTimeCosts) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  RunSummary summary;
  summary.run = "bare";
  summary.request.emplace();
  summary.request->requests = 4;
  summary.request->unit = "image";
  summary.request->steady.state = "too-short";
  summary.phases.resize(1);
  summary.phases.front().name = "prefill";
  summary.phases.front().kind = "mixed";
  summary.one_time = {{"prefill", "request", "first-use", 3, 297e6, 48e6, "baseline/r.jsonl"}};
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  ASSERT_TRUE(write_page(*run, summary));
  const std::string page = *read_file(folder / "report.html");
  EXPECT_THAT(page, HasSubstr("one-time-table"));
  EXPECT_THAT(page, HasSubstr("first use of a shape"));
  EXPECT_THAT(page, HasSubstr("99.0 ms"));
  EXPECT_THAT(page, HasSubstr("Too short to tell: 4 requests do not show"));
}

TEST(WritePage, SaysHowManyKernelsRanAtATime) {
  const testing::TempDir folder;
  write_bare_run(folder.path());
  RunSummary summary;
  summary.run = "bare";
  PhaseSummary decode;
  decode.name = "decode";
  decode.unit = "token";
  decode.device.emplace();
  decode.device->source = "nsys";
  decode.device->units = 63;
  decode.device->busy_ns = 29e6;
  decode.device->concurrency = 2.75;
  summary.phases = {decode};
  const auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  ASSERT_TRUE(write_page(*run, summary));
  const std::string page = *read_file(folder / "report.html");
  EXPECT_THAT(page, HasSubstr(">at a time<"));
  EXPECT_THAT(page, HasSubstr(">2.75<"));
}

}  // namespace
}  // namespace profline::web
