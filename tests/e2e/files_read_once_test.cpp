// A command reads each file of a run once, however many parts of the command need it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_runs.h"
#include "nsight_tools.h"
#include "opened_files.h"
#include "run_folder.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

class FilesReadOnce : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "needs strace, and to be allowed to trace";
  }
  std::map<std::string, int> files_read_by(const std::vector<std::string>& arguments) const {
    return files_read(folder_.path(), arguments);
  }

  testing::TempDir folder_;
};

TEST_F(FilesReadOnce, ByCompareWithOtherRunsInTheFolder) {
  for (const char* id : {"a", "b", "c", "d"}) {
    const MadeRun run{.id = id, .started = "2026-11-15T10:00:00.000Z"};
    run.write(folder_ / "runs" / id);
  }
  const auto files = files_read_by({"compare", "runs/a", "runs/b"});
  EXPECT_THAT(files, IsSupersetOf({Key("runs/a/run.json"), Key("runs/b/baseline/samples.jsonl"),
                                   Key("runs/d/inputs.yaml")}));
  EXPECT_THAT(files, AllOf(Not(IsEmpty()), Each(Pair(_, 1))));
}

TEST_F(FilesReadOnce, ByCompareOfARunWithItself) {
  MadeRun{}.write(folder_ / "runs/a");
  const auto files = files_read_by({"compare", "runs/a", "runs/a"});
  EXPECT_THAT(files, AllOf(Not(IsEmpty()), Each(Pair(_, 1))));
}

TEST_F(FilesReadOnce, ByReport) {
  const Outcome made = run_profline_in(folder_.path(), own_command_run("[/bin/true]"));
  ASSERT_EQ(made.code, 0) << made.err;
  const auto files = files_read_by({"report", "run"});
  EXPECT_THAT(files, Contains(Key("run/run.json")));
  EXPECT_THAT(files, AllOf(Not(IsEmpty()), Each(Pair(_, 1))));
}

TEST_F(FilesReadOnce, ByRunApartFromDigests) {
  if (!has_workload()) GTEST_SKIP() << "needs profline-workload";
  const auto files = files_read_by(
      tiny_run({"pipeline.baseline.enable=true", "pipeline.torch_profiler.enable=true"}));
  EXPECT_THAT(files, IsSupersetOf({Pair("run/baseline/requests.jsonl", 2),
                                   Pair("run/baseline/inputs.json", 2),
                                   Pair("run/torch_profiler/operators.json", 2)}));
}

TEST_F(FilesReadOnce, ByRunWithNsysApartFromDigests) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  if (!has_workload()) GTEST_SKIP() << "needs profline-workload";
  const auto files =
      files_read(folder_.path(), tiny_run({"pipeline.nsys.enable=true"}), tools->environment());
  // The header is inspected before SQLite opens the file.
  EXPECT_THAT(files, Contains(Pair("run/nsys/run.sqlite", 3)));
}

}  // namespace
}  // namespace profline::e2e
