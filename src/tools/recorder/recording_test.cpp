#include "tools/recorder/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/test_recording.h"
#include "testing/temp_dir.h"

namespace profline::recorder {
namespace {

using testing::parsed;
using testing::TestRecording;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> skipped(const ProcessRanges& process) {
  std::vector<std::string> reasons;
  for (const Reading::Skipped& skipped : process.reading.skipped) reasons.push_back(skipped.reason);
  return reasons;
}

TEST(Recording, NestsTheRangesOfAThread) {
  TestRecording recording;
  recording.push("outer", 10).push("inner", 20).pop(30).leaf("leaf", 40, 5).pop(50);
  const ProcessRanges process = parsed(recording);
  EXPECT_EQ(process.pid, 100U);
  EXPECT_EQ(process.parent_pid, 99U);
  EXPECT_EQ(process.program, "infer");
  ASSERT_THAT(process.ranges, SizeIs(3));
  EXPECT_EQ(process.name(process.ranges[0]), "outer");
  EXPECT_EQ(process.ranges[0].start_ns, 10);
  EXPECT_EQ(process.ranges[0].end_ns, 50);
  EXPECT_EQ(process.ranges[0].parent, -1);
  EXPECT_EQ(process.ranges[1].parent, 0);
  EXPECT_EQ(process.ranges[1].depth, 1);
  EXPECT_EQ(process.ranges[1].end_ns, 30);
  EXPECT_EQ(process.ranges[2].parent, 0);
  EXPECT_EQ(process.ranges[2].end_ns, 45);
  EXPECT_TRUE(process.ranges[2].complete);
  EXPECT_EQ(process.reading.used, 6U);
  EXPECT_THAT(process.reading.skipped, IsEmpty());
}

TEST(Recording, EndsTheInnermostRangeOfTheSameDomain) {
  TestRecording recording;
  recording.push("a", 10).push("b", 20, "library").pop(30).pop(40, "library");
  const ProcessRanges process = parsed(recording);
  EXPECT_EQ(process.ranges[0].end_ns, 30);
  EXPECT_EQ(process.ranges[1].end_ns, 40);
  EXPECT_EQ(process.label(process.ranges[1]), "library:b");
  EXPECT_EQ(process.unbalanced, 0U);
}

TEST(Recording, CountsWhatDoesNotMatch) {
  TestRecording recording;
  recording.pop(10).pop(15, "library").end(7, 20).push("open", 30).start("started", 8, 35);
  recording.leaf("last", 40, 2);
  const ProcessRanges process = parsed(recording);
  EXPECT_EQ(process.unbalanced, 3U);
  EXPECT_EQ(process.unfinished, 2U);
  EXPECT_FALSE(process.ranges[0].complete);
  EXPECT_EQ(process.ranges[0].end_ns, 42) << "the last moment that is known";
}

TEST(Recording, EndsTheRangesOfAThreadWithTheThread) {
  TestRecording recording;
  recording.push("died", 10).leaf("last", 12, 3).thread(101).range("next", 100, 110);
  const ProcessRanges process = parsed(recording);
  EXPECT_THAT(process.threads, ElementsAre(100, 101));
  EXPECT_FALSE(process.ranges[0].complete);
  EXPECT_EQ(process.ranges[0].end_ns, 15);
  EXPECT_EQ(process.ranges[2].thread, 1U);
  EXPECT_EQ(process.ranges[2].parent, -1);
}

TEST(Recording, JoinsTheLapsOfAStage) {
  TestRecording recording;
  recording.stage(2, 2, 100).pop(70).stage(2, 0).thread(102).push("outer", 10);
  recording.stage(2, 1, 102).push("inner", 20).pop(30);
  // The stage itself comes first in the file, and holds the last lap.
  ProcessRanges process = parsed(recording);
  ASSERT_THAT(process.ranges, SizeIs(2));
  EXPECT_EQ(process.ranges[0].end_ns, 70);
  EXPECT_EQ(process.ranges[1].parent, 0);
}

TEST(Recording, TakesALapOnceIfTheProcessWasKilledWhileItCopiedIt) {
  TestRecording recording;
  recording.leaf("once", 10, 5);
  recording.stage(1, 0).thread(100).leaf("once", 10, 5);
  const ProcessRanges process = parsed(recording);
  EXPECT_THAT(process.ranges, SizeIs(1));
  EXPECT_THAT(process.reading.skipped, IsEmpty());
}

TEST(Recording, ReportsAMissingLap) {
  TestRecording recording;
  recording.stage(2, 2, 102).pop(70).range("after", 80, 90);
  recording.stage(2, 0).thread(102).push("outer", 10);
  const ProcessRanges process = parsed(recording);
  EXPECT_THAT(skipped(process), ElementsAre("a chunk is missing"));
  EXPECT_EQ(process.unfinished, 1U) << "its end may be in the missing lap";
  EXPECT_EQ(process.unbalanced, 1U);
}

TEST(Recording, FollowsRangesAcrossThreads) {
  TestRecording recording;
  recording.start("request", 5, 10).start("request", 6, 20);
  recording.stage(2).thread(200).end(6, 30).end(5, 40);
  const ProcessRanges process = parsed(recording);
  ASSERT_THAT(process.ranges, SizeIs(2));
  EXPECT_EQ(process.ranges[0].end_ns, 40);
  EXPECT_EQ(process.ranges[1].end_ns, 30);
  EXPECT_TRUE(process.ranges[0].across_threads);
}

TEST(Recording, SkipsDamagedPartsAndKeepsTheRest) {
  TestRecording recording;
  recording.leaf("good", 10, 5);
  recording.raw({50, pack_meta(static_cast<EventKind>(99), 0, 0)});
  recording.event(EventKind::Push, ~std::uint64_t{0}, "", "time");
  recording.event(EventKind::Start, 60, "", "without a number");
  recording.raw({70, pack_meta(EventKind::Leaf, 1, 12345)});
  recording.step(75);
  std::string bytes = recording.bytes();
  bytes += std::string(4096, 'j') + std::string(8192, '\0');
  const auto process = parse_recording(bytes, "ranges.bin");
  ASSERT_TRUE(process);
  ASSERT_THAT(process->ranges, SizeIs(2));
  EXPECT_EQ(process->name(process->ranges[1]), "(name not recorded)");
  EXPECT_THAT(skipped(*process),
              ElementsAre("4096 bytes that are not a chunk", "an unknown event",
                          "a range without its number", "a step outside a range"));
}

TEST(Recording, ReadsWhatIsThereOfATruncatedFile) {
  TestRecording recording;
  for (std::uint64_t i = 0; i < 1000; ++i) recording.leaf("step", 10 + 2 * i, 1);
  const std::string bytes = recording.bytes();
  for (std::size_t size = sizeof(FileHeader); size < bytes.size(); size += 777) {
    const auto process = parse_recording(std::string_view(bytes).substr(0, size), "ranges.bin");
    ASSERT_TRUE(process) << size;
    EXPECT_LE(process->ranges.size(), 1000U);
  }
  EXPECT_THAT(parse_recording(std::string_view(bytes).substr(0, bytes.size() - 9000), "x")->ranges,
              SizeIs(::testing::AllOf(::testing::Gt(100), ::testing::Lt(1000))));
}

TEST(Recording, NamesAreUtf8) {
  TestRecording recording;
  recording.leaf("caf\xe9", 10, 1).leaf("größe", 20, 1);
  const ProcessRanges process = parsed(recording);
  EXPECT_EQ(process.name(process.ranges[0]), "caf\xef\xbf\xbd");
  EXPECT_EQ(process.name(process.ranges[1]), "größe");
}

TEST(Recording, OtherFilesAreErrors) {
  struct Case {
    std::string_view name;
    std::string bytes, message;
  };
  TestRecording newer;
  newer.header().version = 2;
  const Case cases[] = {
      {"short", "PLRANGES", "x.bin: too short for a recording of ranges"},
      {"other", std::string(5000, 'x'), "x.bin: not a recording of ranges"},
      {"newer", newer.bytes(),
       "x.bin: a recording of version 2; this profline reads up to version 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto process = parse_recording(c.bytes, "x.bin");
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().to_string(), c.message);
  }
}

TEST(Recording, ReportsWhatWasLost) {
  TestRecording recording;
  recording.header().lost[static_cast<std::size_t>(Loss::Disk)] = 12;
  recording.header().lost[static_cast<std::size_t>(Loss::Signal)] = 1;
  recording.header().error = 28;
  recording.header().names_lost = 3;
  const ProcessRanges process = parsed(recording);
  EXPECT_EQ(process.reading.lost, 13U);
  EXPECT_THAT(
      process.reading.losses,
      ElementsAre("12 events of process 100 (infer) were not recorded: its file could not be "
                  "extended: No space left on device",
                  "1 event of process 100 (infer) was not recorded: a signal handler interrupted "
                  "the recorder",
                  "the names of 3 events of process 100 (infer) were not recorded: there were too "
                  "many different ones, or the recording had stopped"));
}

TEST(RecordedFolder, ReadsEveryRecordingInIt) {
  const testing::TempDir folder;
  TestRecording later;
  later.header().start_ns = 9;
  later.header().pid = 7;
  later.pop(10);
  ASSERT_TRUE(write_file_atomic(folder / "ranges-100-5.bin", TestRecording().bytes()));
  ASSERT_TRUE(write_file_atomic(folder / "ranges-7-9.bin", later.bytes()));
  ASSERT_TRUE(write_file_atomic(folder / "ranges-8-9.bin", ""));
  ASSERT_TRUE(write_file_atomic(folder / "ranges-9-9.bin", "junk"));
  ASSERT_TRUE(write_file_atomic(folder / "python-9-9.jsonl", "{}"));
  const auto recorded = read_recordings(folder.path());
  ASSERT_TRUE(recorded);
  ASSERT_THAT(recorded->processes, SizeIs(3));
  EXPECT_EQ(recorded->processes[0].pid, 8U);
  EXPECT_EQ(recorded->processes[1].pid, 100U);
  EXPECT_EQ(recorded->processes[2].pid, 7U);
  EXPECT_THAT(recorded->problems,
              ElementsAre("process 7 (infer) ended 1 range that was not open",
                          "nothing of process 8 was recorded: there was no space for its file",
                          HasSubstr("ranges-9-9.bin: too short for a recording of ranges")));
  EXPECT_FALSE(read_recordings(folder / "missing"));
}

TEST(RecordedFolder, ReportsThatNothingCouldBeWritten) {
  const auto recorded = read_recordings("/proc/sys");
  ASSERT_TRUE(recorded);
  EXPECT_THAT(recorded->processes, IsEmpty());
  EXPECT_THAT(recorded->problems,
              ElementsAre(HasSubstr(
                  "nothing could be recorded, because /proc/sys cannot be written to: ")));
}

TEST(RangesByName, AddUpOverProcesses) {
  TestRecording first;
  first.leaf("step", 10, 5).leaf("step", 20, 9).range("load", 30, 130).push("step", 200, "lib");
  TestRecording second;
  second.leaf("step", 10, 1);
  const std::vector<ProcessRanges> processes = {parsed(first), parsed(second)};
  EXPECT_THAT(ranges_by_name(processes), ElementsAre(NamedRanges{.name = "load",
                                                                 .domain = "",
                                                                 .instances = 1,
                                                                 .unfinished = 0,
                                                                 .total_ns = 100,
                                                                 .min_ns = 100,
                                                                 .max_ns = 100},
                                                     NamedRanges{.name = "step",
                                                                 .domain = "",
                                                                 .instances = 3,
                                                                 .unfinished = 0,
                                                                 .total_ns = 15,
                                                                 .min_ns = 1,
                                                                 .max_ns = 9},
                                                     NamedRanges{.name = "step",
                                                                 .domain = "lib",
                                                                 .instances = 1,
                                                                 .unfinished = 1,
                                                                 .total_ns = 0,
                                                                 .min_ns = 0,
                                                                 .max_ns = 0}));
}

}  // namespace
}  // namespace profline::recorder
