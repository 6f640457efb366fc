#include "recorded_run.h"

#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "process/interrupt.h"
#include "process/runner.h"
#include "testing/paths.h"

namespace profline::recorder {

std::filesystem::path recorder_library() {
  return testing::binary_dir() / "lib/profline/libprofline-recorder.so";
}

RecordedRun::RecordedRun() : folder_(temp_ / "recorded") {
  std::filesystem::create_directory(folder_);
  set("NVTX_INJECTION64_PATH", recorder_library().string());
  set("PROFLINE_RECORDER", recorder_library().string());
}

void RecordedRun::unset(const std::string& name) {
  environment_.erase(name);
}

Exit RecordedRun::run(const std::string& program, const std::vector<std::string>& arguments) {
  Command command;
  command.argv = {(testing::binary_dir() / "tests" / program).string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.unset_env = {"NVTX_INJECTION64_PATH", "PROFLINE_RECORDER", "PROFLINE_RECORD_DIR"};
  command.env = environment_;
  if (!folder_.empty()) command.env["PROFLINE_RECORD_DIR"] = folder_.string();
  command.timeout = std::chrono::seconds(100);
  const Interrupt interrupt;
  PosixRunner runner(interrupt);
  const Result<Exit> exit = runner.run(command);
  EXPECT_TRUE(exit) << exit.error().to_string();
  return exit ? *exit : Exit{};
}

RecordedFolder RecordedRun::recorded() const {
  Result<RecordedFolder> recorded = read_recordings(folder_);
  EXPECT_TRUE(recorded) << recorded.error().to_string();
  return recorded ? *std::move(recorded) : RecordedFolder{};
}

ProcessRanges RecordedRun::only_process() const {
  RecordedFolder all = recorded();
  EXPECT_EQ(all.processes.size(), 1U);
  if (all.processes.size() != 1) return {};
  return std::move(all.processes.front());
}

std::size_t complete(const ProcessRanges& process, const std::string& name) {
  return static_cast<std::size_t>(std::count_if(
      process.ranges.begin(), process.ranges.end(),
      [&](const RecordedRange& range) { return range.complete && process.name(range) == name; }));
}

}  // namespace profline::recorder
