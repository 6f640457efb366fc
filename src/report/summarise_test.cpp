#include "summary/summarise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "report/write_reports.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::report {
namespace {

Result<Written> report_on(const std::filesystem::path& folder) {
  const run::Run run = PL_TRY(run::Run::open(folder));
  return write_reports(run, summary::summarise(run));
}

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// What a run comes to, with the pages it leaves.
class Outcome {
 public:
  explicit Outcome(const testing::TestRun& run) {
    run.write(folder_.path());
    const auto written = report_on(folder_.path());
    EXPECT_TRUE(written) << written.error().to_string();
    const auto summary =
        from_document<RunSummary>(testing::text_of(folder_ / "summary.json"), "summary.json");
    EXPECT_TRUE(summary) << summary.error().to_string();
    if (summary) summary_ = *summary;
  }

  const RunSummary& summary() const { return summary_; }
  const PhaseSummary& phase(std::string_view name) const {
    for (const PhaseSummary& phase : summary_.phases) {
      if (phase.name == name) return phase;
    }
    ADD_FAILURE() << "no phase " << name;
    static const PhaseSummary none;
    return none;
  }
  std::string page(const char* name) const { return testing::text_of(folder_ / name); }

 private:
  testing::TempDir folder_;
  RunSummary summary_;
};

DeviceAccount& decode_account(testing::TestRun& run) {
  for (RangeUse& range : run.nsys_ranges->ranges) {
    if (range.name == "decode") return range.devices.front();
  }
  ADD_FAILURE() << "the capture has no decode";
  static DeviceAccount none;
  return none;
}

TEST(Summarise, SaysThatDecodeWaitsForLaunches) {
  const Outcome outcome(testing::h200_run());
  const PhaseSummary& decode = outcome.phase("decode");
  EXPECT_EQ(decode.kind, "launch-bound");
  ASSERT_TRUE(decode.device);
  EXPECT_EQ(decode.device->units, 20);
  EXPECT_EQ(decode.device->launches, 120U);
  EXPECT_EQ(decode.device->launches_per_unit, 6);
  EXPECT_EQ(decode.device->unprofiled_ns, 20 * 130'000.0);
  EXPECT_NEAR(*decode.device->busy_share, 377e3 / 2.6e6, 0.001);
  EXPECT_EQ(outcome.summary().verdict,
            "Decode is launch-bound: 130 us per token, GPU busy 14.5 % of the time, 6 launches per "
            "token. Decode is 70.3 % of each request; a token would take 18.8 us if the GPU never "
            "waited (6.9x faster)");
  EXPECT_THAT(outcome.page("report.md"), AllOf(HasSubstr("**Verdict: Decode is launch-bound"),
                                               HasSubstr("`nsys/ranges.json`")));
  EXPECT_EQ(outcome.summary().device_name, "NVIDIA H200");
}

TEST(Summarise, AnotherCaptureGivesAnotherClassAndSentence) {
  testing::TestRun run = testing::h200_run();
  DeviceAccount& account = decode_account(run);
  account.own_busy_ns = 2'500'000;  // of 2.6 ms: hardly any idle time is left
  const Outcome busy(run);
  EXPECT_EQ(busy.phase("decode").kind, "mixed");
  EXPECT_THAT(busy.page("stakeholder_summary.md"),
              HasSubstr("GPU busy 96.2 % of the time (125 us of 130 us"));
  EXPECT_THAT(busy.page("stakeholder_summary.md"), Not(HasSubstr("launch less")));

  account.own_busy_ns = 400'000;
  account.idle.synchronizing_ns = 50'000'000;  // the host waits instead of launching
  const Outcome waiting(run);
  EXPECT_EQ(waiting.phase("decode").kind, "host-bound");
  EXPECT_THAT(waiting.page("stakeholder_summary.md"),
              AllOf(HasSubstr("move synchronisation"), Not(HasSubstr("launch less"))));
}

TEST(Summarise, APartOfPrefillIsBusyWithWhatItLaunchedWheneverThatRan) {
  testing::TestRun run = testing::h200_run();
  // The host is through with sam after 100 us; its work keeps the device busy for 550 of 600 us.
  for (const char* name : {"prefill", "sam", "sam"}) {
    RangeUse range = run.nsys_ranges->ranges.front();
    range.name = name;
    range.instances = 1;
    range.tokens.reset();
    range.wall_ns = 50'000;
    range.devices.front().busy_ns = 20'000;
    range.devices.front().own_busy_ns = 275'000;
    run.nsys_ranges->ranges.push_back(range);
  }
  const Outcome outcome(run);
  const auto& device = outcome.phase("sam").device;
  ASSERT_TRUE(device);
  EXPECT_EQ(device->units, 1);  // one image, two batches of views
  EXPECT_NEAR(*device->busy_share, 550.0 / 600, 1e-9);
}

TEST(Summarise, KernelsThatRunBesideEachOtherAreTold) {
  testing::TestRun run = testing::h200_run();
  const auto busy = static_cast<double>(decode_account(run).own_busy_ns);
  RangeUse& decode = run.nsys_ranges->ranges.front();
  ASSERT_EQ(decode.name, "decode");
  decode.work_sum_ns = static_cast<std::int64_t>(busy * 1.5);
  const Outcome beside(run);
  EXPECT_NEAR(*beside.phase("decode").device->concurrency, 1.5, 1e-3);
  EXPECT_THAT(beside.page("kernels.md"),
              HasSubstr("In `decode` 1.50 kernels or copies ran at a time while the GPU was busy "
                        "(`nsys/ranges.json`)"));
  decode.work_sum_ns = static_cast<std::int64_t>(busy);
  EXPECT_THAT(Outcome(run).page("kernels.md"), Not(HasSubstr("at a time")));
  decode.devices.push_back(decode.devices.front());  // the sum is over both
  decode.devices.back().device = 1;
  EXPECT_FALSE(Outcome(run).phase("decode").device->concurrency);
}

TEST(Summarise, FewerBytesAreAnotherClass) {
  testing::TestRun run = testing::h200_run();
  decode_account(run).own_busy_ns = 2'500'000;
  run.ncu_kernels.reset();  // ceilings decide, not counters
  // A memory that takes 80 us for what a step reads.
  const double bytes = run.static_compute->cost.find(static_model::ModelPhase::Decode)
                           ->total()
                           .floor_bytes()
                           .as_double();
  run.static_compute->ceilings.bytes_per_second = bytes / 80e-6;
  const Outcome slow(run);
  EXPECT_EQ(slow.phase("decode").kind, "memory-bound");
  EXPECT_NEAR(*slow.phase("decode").cost->bandwidth, 80.0 / 130, 1e-3);
  EXPECT_THAT(slow.page("report.md"), HasSubstr("move fewer bytes"));
  run.static_compute->ceilings.bytes_per_second = bytes / 8e-6;
  const Outcome fast(run);
  EXPECT_EQ(fast.phase("decode").kind, "mixed");
  EXPECT_THAT(fast.page("report.md"), Not(HasSubstr("move fewer bytes")));
}

TEST(Summarise, WithoutNsysTheTorchProfilersTraceShowsTheDevice) {
  testing::TestRun run = testing::h200_run();
  run.nsys_ranges.reset();
  run.nsys_kernels.reset();
  run.stage("nsys").state = StageState::Off;
  const Outcome outcome(run);
  const PhaseSummary& decode = outcome.phase("decode");
  EXPECT_EQ(decode.kind, "launch-bound");
  EXPECT_EQ(decode.device->source, "torch_profiler/trace.json");
  EXPECT_NEAR(*decode.device->busy_share, 376e3 / 2.6e6, 0.001);
  EXPECT_EQ(outcome.summary().join.time_source, "torch_profiler/trace.json");
  EXPECT_THAT(outcome.summary().absent,
              Contains(SummaryAbsent{"nsys/ranges.json", "stage nsys is off"}));
}

TEST(Summarise, MakesNothingUpForWhatIsMissing) {
  testing::TestRun run;
  run.run = testing::h200_run().run;
  for (StageRecord& stage : run.run.stages) stage.state = StageState::Off;
  run.stage("baseline").state = StageState::Ok;
  run.baseline = testing::h200_run().baseline;
  const Outcome outcome(run);
  const PhaseSummary& decode = outcome.phase("decode");
  EXPECT_EQ(decode.kind, "unknown");
  EXPECT_FALSE(decode.cost);
  EXPECT_FALSE(decode.device);
  EXPECT_THAT(decode.gains, IsEmpty());
  EXPECT_THAT(
      decode.lacks,
      ElementsAre("floor and utilisation: static_analysis/static_compute.json is not there",
                  "GPU activity: no capture of nsys or the torch profiler has range decode"));
  EXPECT_EQ(outcome.summary().verdict,
            "Decode is not explained: 130 us per token. Decode is 70.3 % of each request. Next: "
            "capture it with nsys (pipeline.nsys.enable=true)");
  EXPECT_THAT(outcome.summary().kernels, IsEmpty());
  EXPECT_THAT(outcome.summary().overhead, IsEmpty());
  EXPECT_THAT(outcome.page("kernels.md"), HasSubstr("No kernels: "));
  EXPECT_THAT(outcome.page("operators.md"),
              HasSubstr("No operators: torch\\_profiler/operators.json: stage torch\\_profiler is "
                        "off"));
}

TEST(Summarise, ARunThatMeasuredNothingHasNoVerdict) {
  testing::TestRun run;
  run.run = testing::h200_run().run;
  run.stage("baseline").state = StageState::Failed;
  const Outcome outcome(run);
  EXPECT_EQ(outcome.summary().verdict,
            "No verdict: nothing was measured phase by phase; see what is missing below");
  EXPECT_THAT(outcome.summary().phases, IsEmpty());
  EXPECT_THAT(outcome.summary().absent,
              Contains(SummaryAbsent{"baseline/requests.jsonl", "stage baseline is failed"}));
}

TEST(Summarise, OfAnotherProgramTheRangesAreItsStages) {
  testing::TestRun run = testing::h200_run();
  run.baseline.reset();
  run.nsys_requests.reset();
  run.torch_requests.reset();
  run.trace.clear();
  run.static_compute.reset();
  const Outcome outcome(run);
  ASSERT_THAT(outcome.summary().phases, SizeIs(1));
  const PhaseSummary& decode = outcome.phase("decode");
  EXPECT_EQ(decode.unit, "range");
  EXPECT_FALSE(decode.time);
  EXPECT_EQ(decode.kind, "launch-bound");
  EXPECT_THAT(decode.reasons.front().text,
              HasSubstr("GPU busy 12.2 % of the time under the profiler ("));
  EXPECT_FALSE(outcome.summary().request);
}

/// A program that is not ours: 2 s without a profiler, 3 s under nsys, which captured 10 ms of it.
class ProgramRun {
 public:
  ProgramRun() {
    run.run = testing::h200_run().run;
    run.nsys_ranges = testing::h200_run().nsys_ranges;
    NsysCapture& capture = run.nsys_ranges->captures.front();
    capture.name = "run";
    capture.range = "";
    capture.wall_ns = 10'000'000;
    capture.devices = {decode_account(run)};
    capture.devices.front().busy_ns = 9'000'000;
    run.nsys_ranges->ranges.clear();
    CommandRecord command;
    command.name = "capture";
    command.wall_ns = 3'000'000'000;
    run.stage("nsys").commands = {command};
  }

  NsysCapture& capture() { return run.nsys_ranges->captures.front(); }
  void add_range(const char* name, std::int64_t wall_ns) {
    RangeUse range;
    range.name = name;
    range.capture = capture().name;
    range.instances = 1;
    range.wall_ns = wall_ns;
    range.launch.launches = 1;
    range.launch.gaps = 1;
    range.launch.gap_sum_ns = 400'000;  // the host does something of its own
    DeviceAccount account = capture().devices.front();
    account.busy_ns = wall_ns / 10;
    account.idle = {};
    account.idle.host_between_ns = wall_ns - account.busy_ns;
    range.devices = {account};
    run.nsys_ranges->ranges.push_back(range);
  }
  void write() {
    run.write(folder.path());
    ASSERT_TRUE(create_folders(folder / "baseline"));
    ASSERT_TRUE(write_file_atomic(
        folder / "baseline/process.json",
        R"({"schema": "profline.process/1", "runs": 1, "end": "exited with code 0",
          "wall_ns": 2000000000, "cpu_user_ns": 5, "cpu_system_ns": 6, "max_rss_bytes": 4096,
          "processes": [{}, {}]})"));
    const auto read = run::Run::open(folder.path());
    ASSERT_TRUE(read) << read.error().to_string();
    summary = summary::summarise(*read);
    ASSERT_TRUE(write_reports(*read, summary));
  }
  std::string page(const char* name) const { return testing::text_of(folder / name); }

  testing::TempDir folder;
  testing::TestRun run;
  RunSummary summary;
};

TEST(Summarise, OfAnotherProgramAWholeCaptureIsJudgedToo) {
  ProgramRun program;
  program.write();
  const RunSummary& summary = program.summary;
  ASSERT_THAT(summary.phases, SizeIs(1));
  EXPECT_EQ(summary.verdict,
            "The program is not explained: 10.0 ms captured, GPU busy 90.0 % of the time under the "
            "profiler. Without a profiler it takes 2.0 s (one run). Next: count what its kernels "
            "do with ncu (pipeline.ncu.enable=true)");
  EXPECT_EQ(summary.program->processes, 2U);
  EXPECT_THAT(summary.overhead,
              ElementsAre(SummaryOverhead{"nsys", "the whole program, with the tool's own work",
                                          "run", 1, 2e9, 3e9, 1.5, "run.json"}));
  EXPECT_THAT(summary.absent, Not(Contains(Field(&SummaryAbsent::file, HasSubstr("requests")))));
}

TEST(Summarise, OfAnotherProgramNothingIsPromisedFromTimesUnderAProfiler) {
  ProgramRun program;
  program.capture().devices.front().busy_ns = 1'000'000;
  program.capture().launch.launches = 1;
  program.add_range("forward", 6'000'000);
  program.write();
  EXPECT_THAT(program.summary.verdict,
              AllOf(HasSubstr("GPU busy 10.0 % of the time under the profiler, 1 launch. "),
                    HasSubstr("Without a profiler it takes 2.0 s (one run)")));
  for (const char* page : {"report.md", "stakeholder_summary.md"}) {
    SCOPED_TRACE(page);
    const std::string text = program.page(page);
    EXPECT_THAT(text, Not(HasSubstr("faster")));
    EXPECT_THAT(text, Not(HasSubstr("at most 9")));
    EXPECT_THAT(text, Not(HasSubstr("the times above are from the run without one")));
    EXPECT_THAT(text, Not(HasSubstr("request")));
  }
  EXPECT_THAT(program.page("stakeholder_summary.md"),
              HasSubstr("- Profilers slow the program down by up to 1.5x (nsys, the whole program, "
                        "with the tool's own work); times of captures and ranges include that.\n"));
}

TEST(Summarise, OfAnotherProgramARangeAloneIsSetAgainstTheWholeProgram) {
  ProgramRun program;
  program.capture().range = "forward";  // nothing else was captured
  program.add_range("forward", 6'000'000);
  program.write();
  EXPECT_EQ(program.summary.verdict,
            "Range forward is host-bound: 6.00 ms per range, GPU busy 10.0 % of the time under the "
            "profiler, 1 launch per range. Range forward is 60.0 % of the captured time. Without a "
            "profiler the program takes 2.0 s (one run)");
}

TEST(Summarise, OfAnotherProgramAdviceNamesOnlyFilesThatAreThere) {
  ProgramRun program;
  program.add_range("forward", 6'000'000);
  program.write();
  for (const PhaseSummary& phase : program.summary.phases) {
    EXPECT_THAT(phase.next_step, Not(HasSubstr("torch_profiler"))) << phase.name;
    EXPECT_THAT(phase.next_step, Not(HasSubstr("operators.md"))) << phase.name;
    EXPECT_THAT(phase.next_step, Not(HasSubstr("static_analysis"))) << phase.name;
  }
}

TEST(Summarise, RangesBelowOnePercentOfTheTimeAreNoNextSteps) {
  ProgramRun program;
  program.add_range("tiny", 90'000);  // of 10 ms
  program.add_range("forward", 6'000'000);
  program.write();
  ASSERT_THAT(program.summary.phases, SizeIs(3));
  EXPECT_EQ(program.summary.phases[1].name, "forward");  // those with the most time first
  EXPECT_DOUBLE_EQ(*program.summary.phases[1].share, 0.6);
  EXPECT_DOUBLE_EQ(*program.summary.phases[2].share, 0.009);
  const std::string page = program.page("stakeholder_summary.md");
  const std::string steps = page.substr(page.find("## Next steps"));
  EXPECT_THAT(steps, HasSubstr("`forward`: find out what the host does between launches"));
  EXPECT_THAT(steps.substr(0, steps.find("\n## Measured")), Not(HasSubstr("tiny")));
  const std::string report = program.page("report.md");
  EXPECT_THAT(report, HasSubstr("- `tiny`: host-bound, 0.9 % of the captured time; GPU busy"));
}

TEST(Summarise, AStageThatCouldSaveLessThanOnePercentIsNoNextStep) {
  testing::TestRun run = testing::h200_run();
  testing::phase_of(run.baseline->front(), "prefill/sam").ns = 60'000;  // 1.6 % of 3.7 ms
  RangeUse sam = run.nsys_ranges->ranges.front();
  sam.name = "sam";
  sam.instances = 1;
  sam.tokens.reset();
  RangeUse prefill = sam;
  prefill.name = "prefill";
  sam.devices.front().own_busy_ns = 42'000;  // of 60 us: less than a third can be saved
  run.nsys_ranges->ranges.push_back(prefill);
  run.nsys_ranges->ranges.push_back(sam);
  const Outcome outcome(run);
  ASSERT_FALSE(outcome.phase("sam").gains.empty());
  EXPECT_THAT(outcome.page("stakeholder_summary.md"), Not(HasSubstr(". `sam`: ")));
  EXPECT_THAT(outcome.page("stakeholder_summary.md"), HasSubstr("1. `decode`: launch less"));
}

TEST(Summarise, OneOfAThingIsNeverAPlural) {
  ProgramRun program;
  program.capture().launch.launches = 1;
  program.add_range("forward", 6'000'000);
  program.run.nsys_kernels = testing::h200_run().nsys_kernels;
  program.run.nsys_kernels->kernels.resize(1);
  program.run.nsys_kernels->kernels.front().launches = 1;
  program.run.nsys_kernels->launches = 1;
  program.write();
  for (const char* page : {"report.md", "stakeholder_summary.md", "kernels.md", "summary.json"}) {
    EXPECT_THAT(program.page(page),
                Not(::testing::ContainsRegex(
                    "[^0-9.,]1 (launches|kernels|rows|calls|images|operators|processes|tokens)")))
        << page;
  }
}

TEST(Summarise, TellsWhatEachProfilerCost) {
  const Outcome outcome(testing::h200_run());
  const auto& overhead = outcome.summary().overhead;
  ASSERT_THAT(overhead, SizeIs(4));
  EXPECT_EQ(overhead[1], (SummaryOverhead{"torch_profiler", "decode", "token", 20, 130e3, 360e3,
                                          360.0 / 130, "torch_profiler/workload/requests.jsonl"}));
  EXPECT_EQ(overhead[3].stage, "nsys");
  EXPECT_DOUBLE_EQ(overhead[3].slowdown, 155.0 / 130);
}

TEST(Summarise, DoubtsABaselineThatIsSlowerThanAProfiledRun) {
  testing::TestRun run = testing::h200_run();
  Phase& decode = testing::phase_of(run.nsys_requests->front(), "decode");
  for (std::int64_t& token : *decode.steps_ns) token = 65'000;
  EXPECT_THAT(Outcome(run).summary().notes,
              Contains("decode was faster under nsys than without (65.0 us against 130 us per "
                       "token): the machine was busy during the baseline, whose times are then too "
                       "long"));
}

TEST(Summarise, TellsOfTokensThatTakeFarLongerThanOthers) {
  testing::TestRun run = testing::h200_run();
  testing::phase_of(run.baseline->front(), "decode").steps_ns->front() = 5'000'000;
  EXPECT_THAT(Outcome(run).summary().notes,
              Contains(HasSubstr("decode: one token in a hundred takes 4.07 ms or more, 31x the "
                                 "median")));
}

TEST(Summarise, AFileThatCannotBeReadIsToldAndTheRestStands) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  const std::string whole = testing::text_of(folder / "nsys/ranges.json");
  ASSERT_TRUE(write_file_atomic(folder / "nsys/ranges.json", whole.substr(0, whole.size() / 2)));
  ASSERT_TRUE(write_file_atomic(folder / "ncu/kernels.json",
                                R"({"schema": "profline.ncu_kernels/2", "kernels": []})"));
  ASSERT_TRUE(report_on(folder.path()));
  const auto summary =
      from_document<RunSummary>(testing::text_of(folder / "summary.json"), "summary.json");
  ASSERT_TRUE(summary) << summary.error().to_string();
  EXPECT_THAT(summary->absent, Contains(Field(&SummaryAbsent::file, "nsys/ranges.json")));
  EXPECT_THAT(summary->absent,
              Contains(AllOf(Field(&SummaryAbsent::file, "ncu/kernels.json"),
                             Field(&SummaryAbsent::why, HasSubstr("profline.ncu_kernels")))));
  for (const SummaryAbsent& absent : summary->absent) {
    EXPECT_THAT(absent.why, Not(HasSubstr(folder.path().string())));
  }
  EXPECT_FALSE(summary->kernels.empty());
}

TEST(WriteReports, GivesTheSameBytesAgain) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  ASSERT_TRUE(report_on(folder.path()));
  std::vector<std::string> first;
  const auto written = report_on(folder.path());
  ASSERT_TRUE(written);
  EXPECT_THAT(written->files, SizeIs(5));
  for (const auto& file : written->files) first.push_back(testing::text_of(folder.path() / file));
  ASSERT_TRUE(report_on(folder.path()));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(testing::text_of(folder.path() / written->files[i]), first[i]) << written->files[i];
  }
}

TEST(WriteReports, AFolderWithoutARunIsAnError) {
  const testing::TempDir folder;
  const auto written = report_on(folder.path());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(folder / "report.md"));
}

TEST(Summarise, SaysWhatWouldTellModelFlops) {
  const testing::TempDir folder;
  testing::TestRun run = testing::h200_run();
  run.trace = folder / "trace.json";
  ASSERT_TRUE(write_file_atomic(run.trace, R"({"traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9,
       "args": {"External id": 1}},
      {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2,
       "dur": 1, "args": {"correlation": 5, "External id": 1}},
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 4, "dur": 3,
       "args": {"correlation": 5, "External id": 1, "device": 0, "stream": 7}}]})"));
  const Outcome outcome(run);
  EXPECT_EQ(outcome.summary().join.with_flops, 0);
  EXPECT_THAT(outcome.page("kernels.md"),
              HasSubstr("Model FLOPs are not known, because no shapes were recorded "
                        "(pipeline.torch_profiler.record_shapes=true records them)."));
}

}  // namespace
}  // namespace profline::report
