#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "pipeline/stage.h"
#include "run/run.h"
#include "testing/temp_dir.h"

namespace profline::testing {

/// A run of a Python program on a GPU, with a baseline and the Python adapter.
class ProgramStageTest : public ::testing::Test {
 protected:
  /// The folder of the stage exists, as if the executor had made it.
  explicit ProgramStageTest(std::string stage = "") : stage_name_(std::move(stage)) {
    setup_.id = "run";
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    setup_.config = Node::map({});
    setup_.settings.pipeline.workload.command = {"/bin/true"};
    setup_.settings.device.kind = settings::Device::Kind::Cuda;
    setup_.baseline_is_on = true;
    tools_.companions.python = "/share/profline/python";
    EXPECT_TRUE(create_folders(folder_ / stage_name_));
  }

  pipeline::StageContext context() { return {setup_, tools_}; }
  run::Run files() { return run::Run::with_record(setup_.folder, {}); }
  /// A file in the folder of the stage.
  std::filesystem::path file(const std::string& name) { return folder_ / stage_name_ / name; }
  /// Writes a file into the run's folder.
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(create_folders((folder_ / name).parent_path()));
    ASSERT_TRUE(write_file_atomic(folder_ / name, text));
  }
  /// Requests of that source, and where the steady ones are.
  void baseline(const std::string& source, int requests = 6, const std::string& steady = kSteady) {
    std::string lines;
    for (int i = 0; i < requests; ++i) {
      lines += R"({"id": )" + std::to_string(i) + R"(, "source": ")" + source +
               R"(", "ns": 5, "phases": []})" + "\n";
    }
    write("baseline/requests.jsonl", lines);
    if (!steady.empty()) write("baseline/steady.json", steady);
  }
  static std::vector<std::string> codes(const std::vector<pipeline::Finding>& findings) {
    std::vector<std::string> codes;
    for (const pipeline::Finding& finding : findings) codes.push_back(finding.code);
    return codes;
  }

  /// Of six requests, the first two are cold.
  static constexpr const char* kSteady =
      R"({"schema": "profline.steady/1", "first": 2, "count": 3, "requests": 6,)"
      R"( "reason": "the first two are cold"})";

  TempDir folder_;
  std::string stage_name_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
};

}  // namespace profline::testing
