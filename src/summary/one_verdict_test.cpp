// Recorded runs with stages removed: what is left may show less of what limits a phase, but never
// something else.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/static_model/deepseek_ocr.h"
#include "analysis/timeline/device_metrics.h"
#include "base/files.h"
#include "run/run.h"
#include "summary/summarise.h"
#include "summary/torch_trace.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::summary {
namespace {

namespace fs = std::filesystem;

/// The class of each phase without these stages.
std::map<std::string, std::string> classes_of(const fs::path& recorded,
                                              const std::vector<std::string>& without) {
  const testing::TempDir folder;
  fs::copy(recorded, folder.path(), fs::copy_options::recursive);
  for (const std::string& stage : without) fs::remove_all(folder.path() / stage);
  const auto run = run::Run::open(folder.path());
  EXPECT_TRUE(run) << run.error().to_string();
  std::map<std::string, std::string> classes;
  if (!run) return classes;
  for (const PhaseSummary& phase : summarise(*run).phases) classes[phase.name] = phase.kind;
  return classes;
}

int sharpness(const std::string& kind) {
  return kind == "unknown" ? 0 : kind == "mixed" ? 1 : 2;
}

std::string text_of(const std::vector<std::string>& stages) {
  std::string text = "without";
  for (const std::string& stage : stages) text += " " + stage;
  return text;
}

void expect_one_verdict(const fs::path& recorded, const std::vector<std::string>& stages) {
  using Classes = std::map<std::string, std::string>;
  const std::size_t subsets = std::size_t{1} << stages.size();
  std::vector<Classes> classes;
  std::vector<std::string> names;
  for (std::size_t removed = 0; removed < subsets; ++removed) {
    std::vector<std::string> without;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if ((removed >> i & 1U) != 0) without.push_back(stages[i]);
    }
    classes.push_back(classes_of(recorded, without));
    names.push_back(text_of(without));
  }
  for (std::size_t less = 0; less < subsets; ++less) {
    for (std::size_t more = 0; more < subsets; ++more) {
      if ((less & more) != more) continue;  // `less` removes at least what `more` does
      for (const auto& [phase, before] : classes[less]) {
        SCOPED_TRACE(phase + ": " + names[less] + ", then " + names[more]);
        const auto found = classes[more].find(phase);
        if (found == classes[more].end()) continue;  // without requests, every range is a phase
        const std::string& after = found->second;
        EXPECT_LE(sharpness(before), sharpness(after)) << before << ", " << after;
        if (sharpness(before) == 2) {
          EXPECT_EQ(before, after);
        }
      }
    }
  }
}

TEST(OneVerdict, OfARunWithEveryProfiler) {
  const fs::path recorded = testing::source_dir() / "docs/examples/h200";
  EXPECT_EQ(classes_of(recorded, {})["decode"], "launch-bound");
  expect_one_verdict(recorded, {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu"});
}

/// A request with the phases of the capture and no profiler: 255 tokens after the first.
std::vector<Request> fast_requests(std::int64_t token_ns) {
  constexpr std::uint32_t kTokens = 255;
  Request request;
  request.prompt_tokens = 282;
  request.new_tokens = kTokens + 1;
  request.batch = 1;
  request.phases = {
      {"prefill", 0, 7'800'000, {}},
      {"decode", 7'800'000, token_ns * kTokens, std::vector<std::int64_t>(kTokens, token_ns)}};
  request.ns = 7'800'000 + token_ns * kTokens;
  request.ttft_ns = 7'800'000;
  request.attributes = {{"dtype", Node::string("bf16")}, {"engine", Node::string("fast")}};
  return {request};
}

/// What nsys recorded of the fast engine, with the counters that it sampled.
NsysRanges fast_ranges() {
  const testing::TempDir folder;
  const auto bytes = testing::unzipped(testing::source_dir() /
                                       "tests/golden/nsys/2025.3-fast-decode/input.sqlite.gz");
  EXPECT_TRUE(bytes);
  EXPECT_TRUE(write_file_atomic(folder / "run.sqlite", bytes ? *bytes : ""));
  const auto timeline = nsys::read_sqlite(folder / "run.sqlite");
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  NsysRanges ranges;
  if (!timeline) return ranges;
  ranges.tool = timeline->tool;
  ranges.captures.resize(1);
  ranges.captures.front().name = "run";
  ranges.captures.front().gpus = {"NVIDIA H200"};
  const auto attribution = timeline::Attribution::of(*timeline);
  const auto metrics =
      timeline::range_metrics(*timeline, attribution, timeline::MetricIntegrals(*timeline));
  ranges.ranges = traced_ranges(*timeline);
  for (RangeUse& range : ranges.ranges) {
    range.capture = "run";
    if (range.name == "decode") range.tokens = 255;
    for (DeviceAccount& device : range.devices) {
      const auto sampled = metrics.find({range.name, 0, device.device});
      if (sampled != metrics.end()) device.metrics = sampled->second;
    }
  }
  return ranges;
}

/// One launch per token keeps the GPU busy, which reads weights all the time: its counters say so,
/// and so does the model if its shapes are known.
TEST(OneVerdict, OfAFastRunWhoseCountersDecide) {
  constexpr std::int64_t kTokenNs = 300'000;
  testing::TestRun made;
  made.run.id = "fast";
  made.run.device = "cuda:0";
  for (const char* name : {"static_analysis", "baseline", "nsys"}) {
    made.stage(name).state = StageState::Ok;
  }
  made.baseline = fast_requests(kTokenNs);
  made.nsys_requests = made.baseline;
  made.nsys_ranges = fast_ranges();
  static_model::StaticCompute costs = *testing::h200_run().static_compute;
  costs.request.prompt_tokens = 282;
  costs.request.new_tokens = 256;
  costs.cost = static_model::deepseek_ocr_cost(
      official_config(), *static_model::number_format("bf16"), costs.views, costs.request);
  made.static_compute = costs;
  const testing::TempDir recorded;
  made.write(recorded.path());
  EXPECT_EQ(classes_of(recorded.path(), {})["decode"], "memory-bound");
  EXPECT_EQ(classes_of(recorded.path(), {"static_analysis"})["decode"], "memory-bound")
      << "by what nsys sampled";
  expect_one_verdict(recorded.path(), {"static_analysis", "baseline", "nsys"});
}

TEST(OneVerdict, OfARunOnACpu) {
  expect_one_verdict(testing::source_dir() / "tests/golden/report/cpu-tiny/run",
                     {"static_analysis", "torch_profiler"});
}

}  // namespace
}  // namespace profline::summary
