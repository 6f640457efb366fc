// The ranges of profline-workload and of profline/phases.h, as a real Nsight Systems records them.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/sqlite.h"
#include "nsight_tools.h"
#include "profline_binary.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;

struct Range {
  std::string name;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// Push/pop ranges of the default domain, in the order in which they began.
Result<std::vector<Range>> ranges_in(const std::filesystem::path& path) {
  auto database = PL_TRY(sqlite::Database::open_read_only(path));
  auto statement = PL_TRY(
      database.query("SELECT COALESCE(e.text, s.value), e.start, e.end FROM NVTX_EVENTS e "
                     "LEFT JOIN StringIds s ON s.id = e.textId "
                     "WHERE e.eventType = 59 AND COALESCE(e.domainId, 0) = 0 ORDER BY e.start"));
  std::vector<Range> ranges;
  while (PL_TRY(statement.step())) {
    ranges.push_back({PL_TRY(statement.get<std::string>(0)), PL_TRY(statement.get<std::int64_t>(1)),
                      PL_TRY(statement.get<std::int64_t>(2))});
  }
  return ranges;
}

/// Runs the workload under nsys, twice if necessary, because nsys now and then writes nothing.
std::filesystem::path captured(const std::filesystem::path& nsys,
                               const std::filesystem::path& folder,
                               const std::vector<std::string>& workload) {
  const std::filesystem::path report = folder / "run.nsys-rep";
  for (int attempt = 0; attempt < 2 && !std::filesystem::exists(report); ++attempt) {
    Command command;
    command.argv = {nsys.string(),     "profile",
                    "--trace=nvtx",    "--sample=none",
                    "--cpuctxsw=none", "--force-overwrite=true",
                    "--output",        (folder / "run").string()};
    command.argv.insert(command.argv.end(), workload.begin(), workload.end());
    command.cwd = folder;
    const Outcome outcome = run_command(command);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  std::filesystem::path sqlite = folder / "run.sqlite";
  Command command;
  command.argv = {
      nsys.string(), "export",        "--type",       "sqlite", "--force-overwrite=true",
      "--output",    sqlite.string(), report.string()};
  const Outcome outcome = run_command(command);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  return sqlite;
}

/// The names of the directly nested ranges, consecutive repetitions once.
std::vector<std::string> inside(const std::vector<Range>& ranges, const Range& outer) {
  std::vector<std::string> names;
  for (const Range& range : ranges) {
    const bool is_inside = range.start > outer.start && range.end < outer.end;
    if (is_inside && (names.empty() || names.back() != range.name)) names.push_back(range.name);
  }
  return names;
}

TEST(PhasesHeader, OpensNvtxRangesUnderNsys) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  const std::filesystem::path program = testing::binary_dir() / "tests/recorder_phases_calls";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "built without nvtx3 headers";
  const testing::TempDir folder;
  const std::filesystem::path library =
      testing::binary_dir() / "lib/profline/libprofline-recorder.so";
  const auto ranges = ranges_in(
      captured(tools->folder / "bin/nsys", folder.path(),
               {"env", "PROFLINE_RECORDER=" + library.string(), program.string(), "two_requests"}));
  ASSERT_TRUE(ranges) << ranges.error().to_string();
  ASSERT_EQ(ranges->size(), 8U);
  for (const std::size_t request : {0U, 4U}) {
    EXPECT_EQ((*ranges)[request].name, "request");
    EXPECT_THAT(inside(*ranges, (*ranges)[request]), ElementsAre("prefill", "attention", "decode"));
  }
}

class NvtxRanges : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const auto tools = working_nsys(why);
    if (!tools) GTEST_SKIP() << why;
    if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
    if (!workload_has_nvtx()) GTEST_SKIP() << "profline-workload was built without nvtx3 headers";
    nsys_ = tools->folder / "bin/nsys";
  }

  std::vector<Range> capture(const std::string& config) {
    write_files(folder_.path(), {{"config.json", config}});
    const std::filesystem::path sqlite =
        captured(nsys_, folder_.path(),
                 {workload_program().string(), "--mode", "profiled", "--quiet", "--config",
                  (folder_ / "config.json").string(), "--out", (folder_ / "out").string()});
    auto ranges = ranges_in(sqlite);
    EXPECT_TRUE(ranges) << ranges.error().to_string();
    return ranges ? std::move(*ranges) : std::vector<Range>();
  }

 private:
  testing::TempDir folder_;
  std::filesystem::path nsys_;
};

TEST_F(NvtxRanges, OfTheTinyModelAreNestedAndWarmUpIsApart) {
  const std::vector<Range> ranges = capture(tiny_config({
      "pipeline.workload.nvtx_steps=true",
      "infer.max_new_tokens=3",
  }));
  ASSERT_FALSE(ranges.empty());
  EXPECT_EQ(ranges.front().name, "warmup");
  EXPECT_THAT(inside(ranges, ranges.front()), ElementsAre());
  std::map<std::string, int> counts;
  for (const Range& range : ranges) {
    ++counts[range.name];
    if (range.name == "prefill") {
      EXPECT_THAT(inside(ranges, range), ElementsAre("sam", "clip", "projector", "lm"));
    }
    if (range.name == "decode") {
      EXPECT_THAT(inside(ranges, range), ElementsAre("decode_step"));
    }
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"warmup", 1},
                                                {"prefill", 1},
                                                {"sam", 1},
                                                {"clip", 1},
                                                {"projector", 1},
                                                {"lm", 1},
                                                {"decode", 1},
                                                {"decode_step", 2}}));
}

TEST_F(NvtxRanges, OfTheDummyNetworkAreItsParts) {
  const std::vector<Range> ranges = capture(dummy_config({}));
  std::vector<std::string> names;
  names.reserve(ranges.size());
  for (const Range& range : ranges) names.push_back(range.name);
  ASSERT_EQ(names.size(), 1U + 2 * 9) << ::testing::PrintToString(names);
  EXPECT_EQ(names[1], "stem");
  EXPECT_EQ(names[2], "residual");
  EXPECT_THAT(inside(ranges, ranges[2]), ElementsAre("block.conv1", "block.conv2", "block.conv1",
                                                     "block.conv2", "block.conv1", "block.conv2"));
  EXPECT_EQ(names[9], "head");
}

}  // namespace
}  // namespace profline::e2e
