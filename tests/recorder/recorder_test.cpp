#include <sys/mount.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded_run.h"

// Programs that use NVTX, each with something that goes wrong: the program must not notice the
// recorder, and what was lost is reported.
namespace profline::recorder {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kProgram = "recorder_nvtx_calls";

/// Runs the program, which must end well.
void run_well(RecordedRun& run, const std::vector<std::string>& arguments) {
  const Exit exit = run.run(kProgram, arguments);
  EXPECT_TRUE(exit.succeeded()) << exit.describe() << "\n" << exit.tail;
  EXPECT_THAT(exit.tail, StartsWith("done\n"));
}

std::vector<std::string> labels(const ProcessRanges& process) {
  std::vector<std::string> all;
  for (const RecordedRange& range : process.ranges) all.push_back(process.label(range));
  return all;
}

TEST(Recorder, RecordsEveryKindOfRange) {
  RecordedRun run;
  run_well(run, {"every_kind"});
  const ProcessRanges process = run.only_process();
  EXPECT_THAT(labels(process), ElementsAre("ascii", "wïde 😀", "extended", "library:extended wide",
                                           "library:registered", "brücke:registered wide", "", "",
                                           "start ascii", "start wide", "library:start extended"));
  EXPECT_EQ(process.program, kProgram);
  EXPECT_EQ(process.marks.size(), 2U);
  EXPECT_EQ(process.unfinished, 0U);
  EXPECT_EQ(process.unbalanced, 0U);
  EXPECT_EQ(process.ranges[5].parent, 4);
  EXPECT_EQ(process.ranges[5].depth, 5);
  for (const RecordedRange& range : process.ranges) {
    EXPECT_TRUE(range.complete) << process.label(range);
  }
}

TEST(Recorder, LosesAtMostTheRangeInFlightWhenKilled) {
  RecordedRun run;
  const Exit exit = run.run(kProgram, {"killed", "10000"});
  EXPECT_EQ(exit.signal, SIGKILL);
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "done"), 10000U);
  EXPECT_EQ(process.unfinished, 2U);
  EXPECT_THAT(process.reading.losses, IsEmpty());
  EXPECT_THAT(process.reading.skipped, IsEmpty());
}

TEST(Recorder, KeepsWhatAProcessRecordedBeforeUnderscoreExit) {
  RecordedRun run;
  run_well(run, {"pairs", "5", "_exit"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "pair"), 5U);
  EXPECT_EQ(process.unfinished, 1U);
}

TEST(Recorder, GivesEveryForkedChildItsOwnFile) {
  for (const char* const how : {"fork", "raw_fork"}) {
    SCOPED_TRACE(how);
    RecordedRun run;
    run_well(run, {how});
    const RecordedFolder recorded = run.recorded();
    EXPECT_THAT(recorded.problems, IsEmpty());
    ASSERT_EQ(recorded.processes.size(), 3U);
    const ProcessRanges& parent = recorded.processes[0];
    EXPECT_FALSE(parent.forked);
    EXPECT_EQ(complete(parent, "parent"), 1U);
    EXPECT_EQ(complete(parent, "after"), 5000U);
    EXPECT_EQ(complete(parent, "child"), 0U);
    for (std::size_t i = 1; i < 3; ++i) {
      const ProcessRanges& child = recorded.processes[i];
      EXPECT_TRUE(child.forked);
      EXPECT_EQ(child.parent_pid, parent.pid);
      EXPECT_EQ(complete(child, "child"), 5000U);
      EXPECT_EQ(child.label(child.ranges[0]), "library:registered");
      EXPECT_EQ(child.unbalanced, 1U);
    }
  }
}

TEST(Recorder, RecordsChildrenThatAreForkedWhileOtherThreadsRecord) {
  RecordedRun run;
  run_well(run, {"fork_storm", "40"});
  const RecordedFolder recorded = run.recorded();
  EXPECT_THAT(recorded.problems, IsEmpty());
  ASSERT_EQ(recorded.processes.size(), 41U);
  EXPECT_EQ(recorded.processes[0].unfinished, 0U);
  for (std::size_t i = 1; i < 41; ++i) {
    EXPECT_EQ(complete(recorded.processes[i], "child"), 6000U);
    EXPECT_EQ(recorded.processes[i].ranges.size(), 6000U);
  }
}

TEST(Recorder, RecordsWhatAProcessBecomesAndStarts) {
  for (const char* const how : {"exec", "spawn"}) {
    SCOPED_TRACE(how);
    RecordedRun run;
    run_well(run, {how});
    const RecordedFolder recorded = run.recorded();
    ASSERT_EQ(recorded.processes.size(), 2U);
    EXPECT_EQ(recorded.processes[0].ranges.size(), 1U);
    EXPECT_EQ(complete(recorded.processes[1], "pair"), 3U);
    EXPECT_EQ(recorded.processes[0].pid == recorded.processes[1].pid, how == std::string("exec"));
  }
}

TEST(Recorder, SurvivesThreadsThatDieInsideARange) {
  RecordedRun run;
  run_well(run, {"dying_threads"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "before death"), 12U);
  EXPECT_EQ(complete(process, "survivor"), 3U);
  EXPECT_GE(process.unfinished, 5U);
  EXPECT_LE(process.unfinished, 6U);  // the last thread may have been inside a range
}

TEST(Recorder, ReusesTheSpaceOfThreadsThatEnded) {
  RecordedRun run;
  run_well(run, {"many_threads", "3000"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(process.threads.size(), 3000U);
  EXPECT_EQ(complete(process, "short lived"), 9000U);
  for (const auto& file : std::filesystem::directory_iterator(run.folder())) {
    EXPECT_LT(file.file_size(), 1000000U);
  }
}

TEST(Recorder, RecordsThreadsAtTheSameTime) {
  RecordedRun run;
  run_well(run, {"parallel", "50000"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(process.threads.size(), 4U);
  for (const char* const name : {"one", "two", "three", "four"}) {
    EXPECT_EQ(complete(process, name), 50000U);
  }
}

TEST(Recorder, FollowsARangeFromThreadToThread) {
  RecordedRun run;
  run_well(run, {"across_threads"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "handed over"), 1U);
  EXPECT_TRUE(process.ranges[0].across_threads);
  EXPECT_EQ(process.unbalanced, 1U);
}

TEST(Recorder, CountsEndsWithoutABeginning) {
  RecordedRun run;
  run_well(run, {"unbalanced"});
  const RecordedFolder recorded = run.recorded();
  ASSERT_EQ(recorded.processes.size(), 1U);
  EXPECT_EQ(complete(recorded.processes[0], "balanced"), 2U);
  EXPECT_EQ(recorded.processes[0].unfinished, 1U);
  EXPECT_THAT(recorded.problems,
              ElementsAre(HasSubstr("(recorder_nvtx_calls) ended 4 ranges that were not open")));
}

TEST(Recorder, RecordsTenMillionRanges) {
  RecordedRun run;
  run_well(run, {"pairs", "10000000"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(process.ranges.size(), 10000000U);
  EXPECT_EQ(process.unfinished, 0U);
  EXPECT_EQ(process.reading.lost, 0U);
}

TEST(Recorder, KeepsNamesOf64KiB) {
  RecordedRun run;
  run_well(run, {"long_names"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, std::string(65536, 'x')), 2U);
  EXPECT_EQ(complete(process, std::string(65536, 'x') + "…"), 2U);
  EXPECT_EQ(complete(process, std::string(20000, 'x')), 2U);
  std::string wide;
  for (int i = 0; i < 30000; ++i) wide += "ü";
  EXPECT_EQ(complete(process, wide), 1U);
}

TEST(Recorder, BoundsTheNumberOfNamesAndReportsTheRest) {
  RecordedRun run;
  run_well(run, {"many_names", "300000"});
  const RecordedFolder recorded = run.recorded();
  ASSERT_EQ(recorded.processes.size(), 1U);
  EXPECT_EQ(recorded.processes[0].ranges.size(), 300001U);
  EXPECT_EQ(complete(recorded.processes[0], "step 262000"), 1U);
  EXPECT_THAT(recorded.problems, ElementsAre(AllOf(StartsWith("the names of 37873 events"),
                                                   HasSubstr("too many different ones"))));
}

TEST(Recorder, RecordsDeepNesting) {
  RecordedRun run;
  run_well(run, {"deep", "100000"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "level"), 100000U);
  EXPECT_EQ(process.ranges.back().parent, 99998);
}

TEST(Recorder, SurvivesRangesInSignalHandlers) {
  RecordedRun run;
  run_well(run, {"signal_handlers", "300000"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "interrupted"), 300000U);
  EXPECT_EQ(process.unbalanced, 0U);
  EXPECT_EQ(process.unfinished, 0U);
}

TEST(Recorder, KeepsNoDescriptorThatTheProgramCouldClose) {
  RecordedRun run;
  run_well(run, {"closed_descriptors"});
  const ProcessRanges process = run.only_process();
  EXPECT_EQ(complete(process, "after"), 20000U);
}

TEST(Recorder, ChangesNothingInTheProgram) {
  RecordedRun run;
  run_well(run, {"keeps_state"});
  EXPECT_EQ(complete(run.only_process(), "state"), 20000U);
}

TEST(Recorder, StopsAtItsLimit) {
  RecordedRun run;
  run.set("PROFLINE_RECORD_LIMIT", "400000");
  run_well(run, {"pairs", "100000"});
  const ProcessRanges process = run.only_process();
  EXPECT_GT(process.ranges.size(), 10000U);
  EXPECT_EQ(2 * process.ranges.size() + process.reading.lost, 200000U);
  EXPECT_THAT(process.reading.losses, ElementsAre(HasSubstr("PROFLINE_RECORD_LIMIT")));
}

TEST(Recorder, DoesNotGetTheProgramKilledByALimitOnFiles) {
  RecordedRun run;
  run_well(run, {"file_size", "100000"});
  const RecordedFolder recorded = run.recorded();
  ASSERT_EQ(recorded.processes.size(), 1U);
  const ProcessRanges& process = recorded.processes[0];
  EXPECT_EQ(2 * process.ranges.size() + process.reading.lost, 200000U);
  EXPECT_THAT(recorded.problems, ElementsAre(HasSubstr("could not be extended: File too large")));
}

TEST(Recorder, SurvivesALimitOnMemory) {
  RecordedRun run;
  run_well(run, {"memory", "100000"});
  const RecordedFolder recorded = run.recorded();
  for (const ProcessRanges& process : recorded.processes) {
    EXPECT_THAT(process.reading.losses, ElementsAre(HasSubstr("the recorder ran out of memory")));
  }
}

/// A file system of a few pages; not mounted where that is not allowed.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, const std::string& size) : folder_(std::move(folder)) {
    is_mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    if (!is_mounted_) why_not_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  const std::string& why_not() const { return why_not_; }

 private:
  std::filesystem::path folder_;
  bool is_mounted_ = false;
  std::string why_not_;
};

TEST(Recorder, SurvivesAFullDisk) {
  RecordedRun run;
  const SmallDisk disk(run.folder(), "512k");
  if (!disk.is_mounted()) GTEST_SKIP() << "cannot mount a small disk: " << disk.why_not();
  run_well(run, {"pairs", "100000"});
  const RecordedFolder recorded = run.recorded();
  ASSERT_EQ(recorded.processes.size(), 1U);
  const ProcessRanges& process = recorded.processes[0];
  EXPECT_GT(process.ranges.size(), 4000U);
  EXPECT_EQ(2 * process.ranges.size() + process.reading.lost, 200000U);
  EXPECT_THAT(recorded.problems, ElementsAre(HasSubstr("No space left on device")));
}

TEST(Recorder, ReportsAProcessForWhichThereWasNoSpaceAtAll) {
  RecordedRun run;
  const SmallDisk disk(run.folder(), "8k");
  if (!disk.is_mounted()) GTEST_SKIP() << "cannot mount a small disk: " << disk.why_not();
  std::ofstream(run.folder() / "other") << std::string(8192, 'x');
  run_well(run, {"pairs", "100"});
  const RecordedFolder recorded = run.recorded();
  ASSERT_EQ(recorded.processes.size(), 1U);
  EXPECT_NE(recorded.processes[0].pid, 0U);
  EXPECT_THAT(recorded.problems, ElementsAre(HasSubstr("there was no space for its file")));
}

TEST(Recorder, SurvivesAFolderThatItCannotWriteInto) {
  for (const std::filesystem::path& folder :
       {std::filesystem::path("/proc/self"), std::filesystem::path("/nonexistent/folder"),
        std::filesystem::path("/dev/null"), std::filesystem::path("relative")}) {
    SCOPED_TRACE(folder);
    RecordedRun run;
    run.set_folder(folder);
    run_well(run, {"pairs", "1000"});
    run_well(run, {"fork"});
    run_well(run, {"parallel", "1000"});
  }
}

TEST(Recorder, DoesNothingWithoutAFolder) {
  RecordedRun run;
  const std::filesystem::path folder = run.folder();
  run.set_folder("");
  run_well(run, {"pairs", "1000"});
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace profline::recorder
