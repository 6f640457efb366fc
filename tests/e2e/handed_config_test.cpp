// Every workload of a run gets the baseline's config, except for the changes that run.json lists.

#include <algorithm>
#include <iostream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "nsight_tools.h"
#include "run_folder.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Every value of a document by its path, as JSON.
void flatten(const Node& node, const std::string& path, std::map<std::string, std::string>& into) {
  if (node.is_map() && !node.as_map().empty()) {
    for (const NodeMap::Entry& entry : node.as_map()) {
      flatten(entry.value, path + (path.empty() ? "" : ".") + entry.key.as_string(), into);
    }
    return;
  }
  into[path] = write_json(node).value();
}

std::map<std::string, std::string> values_in(const fs::path& file) {
  const auto document = parse_json(read_file(file).value_or(""), file.string());
  EXPECT_TRUE(document) << file;
  std::map<std::string, std::string> values;
  if (document) flatten(*document, "", values);
  return values;
}

/// The value of `--config` in a command, under any profiler.
std::string handed_file(const CommandRecord& command) {
  const auto at = std::find(command.argv.begin(), command.argv.end(), "--config");
  return at == command.argv.end() || at + 1 == command.argv.end() ? "" : *(at + 1);
}

/// The configs that a stage passed to its workloads have the baseline's values with these changes.
void expect_handed(const StageRecord& stage, const std::map<std::string, std::string>& baseline) {
  SCOPED_TRACE(stage.name);
  std::map<std::string, std::string> expected = baseline;
  for (const ChangeRecord& change : stage.changes) {
    ASSERT_TRUE(expected.contains(change.key)) << change.key;
    EXPECT_NE(expected[change.key], write_json(change.value).value())
        << "no change: " << change.key;
    expected[change.key] = write_json(change.value).value();
  }
  int workloads = 0;
  for (const CommandRecord& command : stage.commands) {
    const std::string file = handed_file(command);
    if (file.empty()) continue;
    ++workloads;
    EXPECT_EQ(values_in(file), expected) << command.name;
  }
  EXPECT_GE(workloads, 1);
}

TEST(HandedConfig, OfEveryStageIsTheBaselinesButForTheListedChanges) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const testing::TempDir folder;
  std::vector<std::string> overrides = {
      "pipeline.ncu.require_gpu=false",
      "pipeline.nsys.nvtx_capture=[prefill,decode]",
      "pipeline.nsys.capture_range=nvtx",
      "pipeline.torch_profiler.output.prediction.enable=true",
      "pipeline.torch_profiler.output.visualization.enable=true",
      "pipeline.direct_inference.output.prediction.enable=true",
      "pipeline.direct_inference.output.visualization.enable=true"};
  for (const char* stage :
       {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu", "direct_inference"}) {
    overrides.push_back("pipeline." + std::string(stage) + ".enable=true");
  }
  Command base = tools->environment(true);
  base.cwd = folder.path();
  Outcome outcome = run_profline(tiny_run(overrides), base);
  if (state_of(record_of(folder / "run"), "nsys") == StageState::Failed) {
    // Seen on a busy machine; what nsys captures is not the subject here.
    std::cout << "once more, as nsys failed:\n" << outcome.err << std::endl;
    fs::remove_all(folder / "run");
    outcome = run_profline(tiny_run(overrides), base);
  }
  EXPECT_EQ(outcome.code, 1) << "ncu finds no kernels on a CPU\n" << outcome.err;
  const RunRecord record = record_of(folder / "run");
  const auto baseline = values_in(folder / "run/config.resolved.json");
  ASSERT_EQ(handed_file(record.find_stage("baseline")->commands.at(0)),
            (fs::canonical(folder.path()) / "run/config.resolved.json").string());
  for (const StageRecord& stage : record.stages) {
    EXPECT_EQ(stage.state, stage.name == "ncu" ? StageState::Failed : StageState::Ok)
        << stage.name << "\n"
        << outcome.err;
    expect_handed(stage, baseline);
    std::vector<std::string> changed;
    for (const ChangeRecord& change : stage.changes) changed.push_back(change.key);
    if (stage.name == "nsys" || stage.name == "ncu") {
      EXPECT_THAT(changed, ElementsAre("pipeline.torch_profiler.enable",
                                       "pipeline.torch_profiler.output.prediction.enable",
                                       "pipeline.torch_profiler.output.visualization.enable",
                                       "pipeline.direct_inference.output.prediction.enable",
                                       "pipeline.direct_inference.output.visualization.enable"));
    } else {
      EXPECT_THAT(changed, IsEmpty()) << stage.name;
    }
  }
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

}  // namespace
}  // namespace profline::e2e
