#include "run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "run/artifacts.h"
#include "run/run_folder.h"
#include "testing/temp_dir.h"

namespace profline::run {
namespace {

using ::testing::HasSubstr;

void write(const std::filesystem::path& file, const std::string& text) {
  ASSERT_TRUE(create_folders(file.parent_path()));
  ASSERT_TRUE(write_file_atomic(file, text));
}

void write_run(const std::filesystem::path& folder, const RunRecord& record = {}) {
  write(folder / "run.json", write_json(to_node(record)).value());
}

Run must_open(const std::filesystem::path& folder) {
  auto run = Run::open(folder);
  EXPECT_TRUE(run) << run.error().to_string();
  return std::move(run).value();
}

std::string request_line(const std::string& image) {
  Request request;
  request.attributes["image"] = Node::string(image);
  return to_json_line(request) + "\n";
}

TEST(Run, NeedsRunJsonAndNothingElse) {
  const testing::TempDir folder;
  const auto none = run::Run::open(folder.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::NotFound);
  EXPECT_FALSE(holds_run(folder.path()));
  write_run(folder.path());
  EXPECT_TRUE(holds_run(folder.path()));
  const auto run = must_open(folder.path());
  const auto& ranges = run.get(kNsysRanges);
  EXPECT_FALSE(ranges);
  EXPECT_FALSE(ranges.is_there);
  EXPECT_EQ(ranges.file, "nsys/ranges.json");
  EXPECT_EQ(ranges.why_not, "is not there");
  EXPECT_EQ(ranges.pointer(), nullptr);
  EXPECT_TRUE(run.profiled().empty());
}

TEST(Run, LeavesReadingsOfRepeatedPhasesOutOfTheMeasuredRun) {
  const testing::TempDir folder;
  write_run(folder.path());
  EXPECT_TRUE(measured_readings(must_open(folder.path())).empty());
  write(folder / "baseline/gpu.jsonl",
        "{\"at_ns\":0,\"monotonic_ns\":100,\"sm_clock_mhz\":1900}\n"
        "{\"at_ns\":100,\"monotonic_ns\":200,\"sm_clock_mhz\":1980}\n"
        "{\"at_ns\":200,\"monotonic_ns\":300,\"sm_clock_mhz\":1200}\n");
  EXPECT_EQ(measured_readings(must_open(folder.path())).size(), 3U);
  const RepeatedPhases repeated{{{"prefill", 250, 260, 1, 1}, {"decode", 260, 290, 1, 9}}};
  write(folder / "baseline/repeated_phases.json", to_document(repeated).value());
  const GpuReadings measured = measured_readings(must_open(folder.path()));
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured.back().sm_clock_mhz, 1980);
}

TEST(Run, FindsTheFilesOfRanksByTheirNumbers) {
  const testing::TempDir folder;
  write_run(folder.path());
  for (const char* rank : {"0", "2", "10", "10.old", "-1"}) {
    write(folder / "nsys/ranks" / rank / "run.sqlite", "");
  }
  write(folder / "nsys/ranks/1/log", "");
  write(folder / "nsys/ranks/3/prefill/run.sqlite", "");
  write(folder / "nsys/ranks/3/decode/run.sqlite", "");
  const auto run = must_open(folder.path());
  EXPECT_EQ(run.rank_files("nsys", "run.sqlite"),
            (std::map<std::int64_t, std::string>{{0, "nsys/ranks/0/run.sqlite"},
                                                 {2, "nsys/ranks/2/run.sqlite"},
                                                 {3, "nsys/ranks/3/decode/run.sqlite"},
                                                 {10, "nsys/ranks/10/run.sqlite"}}));
  EXPECT_TRUE(run.rank_files("baseline", "requests.jsonl").empty());
}

TEST(Run, SaysWhatIsWrongWithAFileByItsNameInTheRun) {
  const testing::TempDir folder;
  write_run(folder.path());
  write(folder / "nsys/ranges.json", "{}");
  write(folder / "env.json", "{");
  const auto run = must_open(folder.path());
  EXPECT_TRUE(run.get(kNsysRanges).is_there);
  EXPECT_EQ(run.get(kNsysRanges).why_not,
            "nsys/ranges.json must begin with \"schema\": \"profline.nsys_ranges/1\"");
  EXPECT_THAT(run.get(kEnvironmentTree).why_not, HasSubstr("env.json:1:2"));
  EXPECT_EQ(run.get(kEnvironment).why_not, run.get(kEnvironmentTree).why_not);
}

TEST(Run, ReadsEachFileOnce) {
  const testing::TempDir folder;
  write_run(folder.path());
  write(folder / "nsys/ranges.json", to_document(NsysRanges{}).value());
  const auto run = must_open(folder.path());
  const auto* first = &run.get(kNsysRanges);
  ASSERT_TRUE(*first);
  write(folder / "nsys/ranges.json", "torn");
  EXPECT_EQ(&run.get(kNsysRanges), first);
  EXPECT_TRUE(run.get(kNsysRanges));
  EXPECT_FALSE(run.read(kNsysRanges)) << "read() looks again";
}

TEST(Run, KeepsReferencesWhenItIsMoved) {
  const testing::TempDir folder;
  write_run(folder.path());
  auto run = must_open(folder.path());
  const auto* kept = &run.get(kNcuKernels);
  const auto moved = std::move(run);
  EXPECT_EQ(&moved.get(kNcuKernels), kept);
}

TEST(Run, TakesWhatSomebodyHasReadAlready) {
  run::Run run{RunRecord()};
  EXPECT_FALSE(run.has("run.json")) << "it has no folder";
  NcuKernels kernels;
  kernels.tool = "ncu 2025.3";
  run.keep(kNcuKernels, kernels);
  EXPECT_EQ(run.get(kNcuKernels)->tool, "ncu 2025.3");
  EXPECT_EQ(run.get(kNcuKernels).file, "ncu/kernels.json");
}

TEST(Run, ReadsACompressedTraceWhereThereIsNoOther) {
  const testing::TempDir folder;
  write_run(folder.path());
  write(folder / "torch_profiler/trace.json.gz", "not a trace");
  EXPECT_EQ(must_open(folder.path()).get(kTorchTrace).file, "torch_profiler/trace.json.gz");
  write(folder / "torch_profiler/trace.json", "not a trace");
  EXPECT_EQ(must_open(folder.path()).get(kTorchTrace).file, "torch_profiler/trace.json");
}

TEST(Run, DoesNotReadACaptureThatWasHandedOn) {
  const testing::TempDir folder;
  write_run(folder.path());
  run::Run run = must_open(folder.path());
  Timeline timeline;
  timeline.tool = "nsys 1.2";
  run.keep_capture("run.sqlite", std::move(timeline));
  ASSERT_TRUE(run.capture("run.sqlite"));
  EXPECT_EQ(run.capture("run.sqlite")->tool, "nsys 1.2");
  EXPECT_EQ(run.capture("run.sqlite").file, "nsys/run.sqlite");
  EXPECT_FALSE(run.capture("other.sqlite"));
}

TEST(Run, HasTheUsersRulesForClassesOfKernels) {
  const testing::TempDir folder;
  write_run(folder.path());
  EXPECT_FALSE(must_open(folder.path()).get(kKernelClasses));
  write(
      folder / "kernel_classes.json",
      R"({"schema": "profline.kernel_classes/1", "rules": [{"class": "mine", "contains": ["x"]}]})");
  const run::Run run = must_open(folder.path());
  ASSERT_TRUE(run.get(kKernelClasses)) << run.get(kKernelClasses).why_not;
  EXPECT_EQ(run.get(kKernelClasses)->rules.front().name, "mine");
}

TEST(Run, HasTheRequestsOfEveryWorkload) {
  const testing::TempDir folder;
  write_run(folder.path());
  write(folder / "baseline/requests.jsonl", request_line("plain"));
  write(folder / "torch_profiler/workload/requests.jsonl", request_line("torch"));
  write(folder / "nsys/decode/workload/requests.jsonl", request_line("nsys"));
  const auto run = must_open(folder.path());
  ASSERT_TRUE(run.baseline());
  EXPECT_EQ(run.baseline()->front().text("image"), "plain");
  const auto profiled = run.profiled();
  ASSERT_EQ(profiled.size(), 2U);
  EXPECT_EQ(profiled[0].stage, "torch_profiler");
  EXPECT_EQ(profiled[0].gate, "");
  EXPECT_EQ(profiled[1].stage, "nsys");
  EXPECT_EQ(profiled[1].gate, "decode");
  EXPECT_EQ(profiled[1].requests.file, "nsys/decode/workload/requests.jsonl");
  EXPECT_EQ(profiled[1].requests->front().text("image"), "nsys");
}

TEST(WithSuffix, PutsItBeforeTheEnding) {
  EXPECT_EQ(with_suffix("raw.csv", "-nested1"), "raw-nested1.csv");
  EXPECT_EQ(with_suffix("raw.csv", ""), "raw.csv");
  EXPECT_EQ(with_suffix("summary_sum.csv", ".2", '_'), "summary.2_sum.csv");
  EXPECT_EQ(with_suffix("workload", "-rerun"), "workload-rerun");
}

TEST(Run, ReadsTheSamplesOfVersion01OnlyWhereThereAreNoRequests) {
  const testing::TempDir folder;
  write_run(folder.path());
  EXPECT_EQ(must_open(folder.path()).baseline().file, "baseline/requests.jsonl");
  write(folder / "baseline/samples.jsonl", "");
  EXPECT_EQ(must_open(folder.path()).baseline().file, "baseline/samples.jsonl");
  write(folder / "baseline/requests.jsonl", "");
  EXPECT_EQ(must_open(folder.path()).baseline().file, "baseline/requests.jsonl");
}

TEST(Run, DoesNotShowSecretsOfOlderRuns) {
  const testing::TempDir folder;
  RunRecord record;
  record.command_line.overrides = {"db.password=hunter2"};
  write_run(folder.path(), record);
  EXPECT_EQ(must_open(folder.path()).record().command_line.overrides,
            std::vector<std::string>{"db.password=<redacted>"});
  EXPECT_EQ(read_record(folder.path())->command_line.overrides, record.command_line.overrides);
}

TEST(GpuReadings, AreReadLineByLine) {
  const auto readings = parse_gpu_readings(
      "{\"at_ns\": 5000000000, \"sm_clock_mhz\": 1980, \"power_mw\": 350500, "
      "\"gpu_utilisation_pct\": 40,"
      " \"memory_used_bytes\": 2147483648, \"throttle_reasons\": 4, \"temperature_c\": null}\n"
      "\n{\"at_ns\": 5500000000}\n",
      "gpu.jsonl");
  ASSERT_TRUE(readings) << readings.error().to_string();
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ(readings->front().at_s, 0);
  EXPECT_EQ(readings->front().sm_clock_mhz, 1980);
  EXPECT_EQ(readings->front().power_w, 350.5);
  EXPECT_EQ(readings->front().utilisation_pct, 40);
  EXPECT_EQ(readings->front().memory_gib, 2);
  EXPECT_EQ(readings->front().throttle_reasons, 4U);
  EXPECT_FALSE(readings->front().temperature_c);
  EXPECT_EQ(readings->back().at_s, 0.5);
}

TEST(GpuReadings, SayWhichLineHasNoTime) {
  const auto readings = parse_gpu_readings("{\"at_ns\": 1}\n{\"at\": 2}\n", "gpu.jsonl");
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().to_string(), "gpu.jsonl: line 2: no number 'at_ns'");
}

}  // namespace
}  // namespace profline::run
