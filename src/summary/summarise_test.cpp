#include "summary/summarise.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/runs/program_run.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

RunSummary summary_of(const std::filesystem::path& folder) {
  const auto run = run::Run::open(folder);
  EXPECT_TRUE(run) << run.error().to_string();
  return run ? summarise(*run) : RunSummary();
}

/// The summary of a run as it is on disk.
template <typename AnyRun>
RunSummary summary_of(const AnyRun& run) {
  const testing::TempDir folder;
  run.write(folder.path());
  return summary_of(folder.path());
}

class Outcome {
 public:
  explicit Outcome(const testing::TestRun& run) : summary_(summary_of(run)) {}

  const RunSummary& summary() const { return summary_; }
  const PhaseSummary& phase(std::string_view name) const {
    for (const PhaseSummary& phase : summary_.phases) {
      if (phase.name == name) return phase;
    }
    ADD_FAILURE() << "no phase " << name;
    static const PhaseSummary none;
    return none;
  }

 private:
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

TEST(Summarise, NotesAKernelAboveAMeasuredRoof) {
  testing::TestRun run = testing::h200_run();
  ASSERT_FALSE(run.ncu_kernels->kernels.empty());
  for (NcuKernel& kernel : run.ncu_kernels->kernels) {
    kernel.roofline.floor_ns = 0.5 * kernel.duration_ns.value_or(0);
  }
  RunCeilings ceilings;
  ceilings.roofs = {{"measured", true, "measured on 2026-11-18", 4.6e12, {}}};
  const auto notes_with = [&](double of_roof) {
    NcuKernel& first = run.ncu_kernels->kernels.front();
    first.roofline.floor_ns = of_roof * first.duration_ns.value_or(0);
    const testing::TempDir folder;
    run.write(folder.path());
    EXPECT_TRUE(write_file_atomic(folder / "ceilings.json", to_document(ceilings).value()));
    return summary_of(folder.path()).notes;
  };
  const std::string name = run.ncu_kernels->kernels.front().short_name;
  const auto above = HasSubstr("of the measured roof");
  EXPECT_THAT(notes_with(1.019), Not(Contains(above))) << "measurements are not exact";
  EXPECT_THAT(notes_with(1.1), Contains(name + " reached 110.0 % of the measured roof: it was " +
                                        "measured too low, or at other clocks; measure again " +
                                        "with `profline ceilings`"));
  ceilings.roofs.front().is_used = false;
  EXPECT_THAT(notes_with(1.1), Not(Contains(above))) << "a datasheet is not a measurement";
}

/// What nsys samples of a decode: a quarter of a memory that reaches 4.8 TB/s.
DeviceMetrics sampled_decode() {
  DeviceMetrics metrics;
  metrics.samples = 30;
  metrics.covered_ns = 3'000'000;
  metrics.sm_active = 0.85;
  metrics.tensor_active = 0.01;
  metrics.dram_read = 0.24;
  metrics.dram_write = 0.01;
  metrics.dram_bytes = 0.25 * 4.8e12 * 3e-3;
  return metrics;
}

TEST(Summarise, ComparesWhatWasSampledWithTheModel) {
  testing::TestRun run = testing::h200_run();
  decode_account(run).metrics = sampled_decode();
  const Outcome outcome(run);
  const PhaseSummary& decode = outcome.phase("decode");
  ASSERT_TRUE(decode.live);
  EXPECT_EQ(decode.live->sm_active, 0.85);
  EXPECT_EQ(decode.live->tensor_active, 0.01);
  EXPECT_EQ(decode.live->samples, 30U);
  EXPECT_EQ(decode.live->source, "nsys/ranges.json");
  ASSERT_TRUE(decode.live->dram_bytes);
  EXPECT_DOUBLE_EQ(*decode.live->dram_bytes, 3.6e9 / 20) << "per token";
  ASSERT_TRUE(decode.cost);
  EXPECT_DOUBLE_EQ(decode.live->of_model.value_or(0), 3.6e9 / 20 / decode.cost->bytes);
  ASSERT_TRUE(decode.live->memory_ns);
  EXPECT_NEAR(*decode.live->memory_ns, 3.6e9 / 20 / 4.8e12 * 1e9, 1) << "at the datasheet's roof";
}

TEST(Summarise, ConvertsWhatWasSampledAtTheMemoryClockOfTheBaseline) {
  constexpr double kAtHighest = 3.6e9 / 20;
  testing::TestRun run = testing::h200_run();
  decode_account(run).metrics = sampled_decode();
  const testing::TempDir folder;
  run.write(folder.path());
  const auto bytes = [&](const RunSummary& summary) {
    const auto decode =
        std::find_if(summary.phases.begin(), summary.phases.end(),
                     [](const PhaseSummary& phase) { return phase.name == "decode"; });
    return decode != summary.phases.end() && decode->live ? decode->live->dram_bytes.value_or(0)
                                                          : 0;
  };
  const auto about_clocks = HasSubstr("sampled DRAM bytes");
  RunSummary summary = summary_of(folder.path());
  EXPECT_DOUBLE_EQ(bytes(summary), kAtHighest);
  EXPECT_THAT(summary.notes, Contains("sampled DRAM bytes are those at the memory's highest clock, "
                                      "because its clock was not recorded: at a lower one they are "
                                      "too high"));
  EXPECT_TRUE(write_file_atomic(
      folder / "env.json",
      R"({"gpus": [{"index": 0, "name": "NVIDIA H200", "max_memory_mhz": 3200.0}]})"));
  const auto with_clocks = [&](std::string_view readings) {
    EXPECT_TRUE(write_file_atomic(folder / "baseline/gpu.jsonl", readings));
    return summary_of(folder.path());
  };
  summary = with_clocks(R"({"at_ns": 0, "memory_clock_mhz": 3200}
{"at_ns": 100, "memory_clock_mhz": 2400}
{"at_ns": 200, "memory_clock_mhz": 2400}
)");
  EXPECT_DOUBLE_EQ(bytes(summary), 0.75 * kAtHighest);
  EXPECT_THAT(summary.notes, Contains("sampled DRAM bytes are those at a memory clock of 2400 MHz, "
                                      "the median of the baseline (highest: 3200 MHz)"));
  summary = with_clocks("{\"at_ns\": 0, \"memory_clock_mhz\": 3200}\n");
  EXPECT_DOUBLE_EQ(bytes(summary), kAtHighest);
  EXPECT_THAT(summary.notes, Not(Contains(about_clocks)));
  summary = with_clocks("{\"at_ns\": 0, \"sm_clock_mhz\": 1980}\n");
  EXPECT_THAT(summary.notes, Contains(about_clocks));
}

TEST(Summarise, TakesMissingSamplesForSamplesLikeTheOthers) {
  testing::TestRun run = testing::h200_run();
  DeviceMetrics metrics = sampled_decode();
  metrics.gap_ns = 1'000'000;
  decode_account(run).metrics = metrics;
  EXPECT_DOUBLE_EQ(*Outcome(run).phase("decode").live->dram_bytes, 3.6e9 * 4 / 3 / 20);
}

TEST(Summarise, DividesWhatWasSampledByTheUnitsThatWereSampled) {
  testing::TestRun run = testing::h200_run();
  decode_account(run).metrics = sampled_decode();
  for (RangeUse& range : run.nsys_ranges->ranges) {
    if (range.name == "decode") range.tokens = 20;
  }
  // A capture that was too short for samples.
  NsysCapture second = run.nsys_ranges->captures.front();
  second.name = "decode-2";
  run.nsys_ranges->captures.push_back(second);
  const std::vector<RangeUse> ranges = run.nsys_ranges->ranges;
  for (RangeUse range : ranges) {
    range.capture = second.name;
    for (DeviceAccount& device : range.devices) device.metrics.reset();
    run.nsys_ranges->ranges.push_back(std::move(range));
  }
  const Outcome outcome(run);
  const PhaseSummary& decode = outcome.phase("decode");
  EXPECT_EQ(decode.device->units, 40);
  ASSERT_TRUE(decode.live);
  EXPECT_DOUBLE_EQ(*decode.live->dram_bytes, 3.6e9 / 20);
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
  EXPECT_EQ(decode.device->source, "nsys/ranges.json");
  EXPECT_EQ(outcome.summary().device_name, "NVIDIA H200");
}

TEST(Summarise, HasTheSpreadOfEveryPhaseOfARequest) {
  const Outcome outcome(testing::h200_run());
  const SummaryRequest& request = *outcome.summary().request;
  for (const SummaryPart& part : request.parts) {
    ASSERT_TRUE(part.time) << part.path;
    EXPECT_EQ(part.unit, part.repeats ? "token" : "image") << part.path;
  }
  const SummaryPart& decode = request.parts.back();
  EXPECT_EQ(decode.path, "decode");
  EXPECT_EQ(decode.time->n, 20U);
  EXPECT_EQ(decode.time, outcome.phase("decode").time);
}

TEST(Summarise, APhaseThatTakesAFifthMoreThanTheNextDominates) {
  testing::TestRun run = testing::h200_run();
  EXPECT_EQ(Outcome(run).summary().request->dominant, "decode");
  Phase& prefill = testing::phase_of(run.baseline->front(), "prefill");
  const std::int64_t decode_ns = testing::phase_of(run.baseline->front(), "decode").ns;
  prefill.ns = decode_ns / 12 * 10 + 1000;
  EXPECT_EQ(Outcome(run).summary().request->dominant, "");
}

TEST(Summarise, AGainSavesAShareOfTheWhole) {
  const PhaseSummary decode = Outcome(testing::h200_run()).phase("decode");
  const SummaryGain& gain = decode.gains.front();
  EXPECT_DOUBLE_EQ(*gain.saved_share, *decode.share * gain.saved_ns / *decode.mean_ns);
}

TEST(Summarise, AnotherCaptureGivesAnotherClassAndSentence) {
  testing::TestRun run = testing::h200_run();
  DeviceAccount& account = decode_account(run);
  account.own_busy_ns = 2'500'000;  // of 2.6 ms: hardly any idle time is left
  const Outcome busy(run);
  EXPECT_EQ(busy.phase("decode").kind, "mixed");
  EXPECT_THAT(busy.phase("decode").reasons.front().text,
              HasSubstr("GPU busy 96.2 % of the time (125 us of 130 us"));
  EXPECT_THAT(busy.phase("decode").next_step, Not(HasSubstr("launch less")));

  account.own_busy_ns = 400'000;
  account.idle.synchronizing_ns = 50'000'000;  // the host waits instead of launching
  const Outcome waiting(run);
  EXPECT_EQ(waiting.phase("decode").kind, "host-bound");
  EXPECT_THAT(waiting.phase("decode").next_step,
              AllOf(HasSubstr("move synchronisation"), Not(HasSubstr("launch less"))));
}

TEST(Summarise, APartOfPrefillIsBusyWithWhatItLaunchedWheneverThatRan) {
  testing::TestRun run = testing::h200_run();
  // The host is done with sam after 100 us; its work keeps the device busy for 550 of 600 us.
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

TEST(Summarise, KernelsThatRunBesideEachOtherAreReported) {
  testing::TestRun run = testing::h200_run();
  const auto busy = static_cast<double>(decode_account(run).own_busy_ns);
  RangeUse& decode = run.nsys_ranges->ranges.front();
  ASSERT_EQ(decode.name, "decode");
  decode.work_sum_ns = static_cast<std::int64_t>(busy * 1.5);
  EXPECT_NEAR(*Outcome(run).phase("decode").device->concurrency, 1.5, 1e-3);
  decode.devices.push_back(decode.devices.front());  // the sum is over both
  decode.devices.back().device = 1;
  EXPECT_FALSE(Outcome(run).phase("decode").device->concurrency);
}

TEST(Summarise, FewerBytesAreAnotherClass) {
  testing::TestRun run = testing::h200_run();
  decode_account(run).own_busy_ns = 2'500'000;
  run.ncu_kernels.reset();  // ceilings decide, not counters
  // A memory that takes 80 us to deliver what a step reads.
  const double bytes = run.static_compute->cost.find(static_model::ModelPhase::Decode)
                           ->total()
                           .floor_bytes()
                           .as_double();
  run.static_compute->ceilings.bytes_per_second = bytes / 80e-6;
  const Outcome slow(run);
  EXPECT_EQ(slow.phase("decode").kind, "memory-bound");
  EXPECT_NEAR(*slow.phase("decode").cost->bandwidth, 80.0 / 130, 1e-3);
  EXPECT_THAT(slow.phase("decode").next_step, HasSubstr("move fewer bytes"));
  run.static_compute->ceilings.bytes_per_second = bytes / 8e-6;
  const Outcome fast(run);
  EXPECT_EQ(fast.phase("decode").kind, "mixed");
  EXPECT_THAT(fast.phase("decode").next_step, Not(HasSubstr("move fewer bytes")));
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
            "Most of the time goes to phase decode: 130 us per token, 70.3 % of each request. What "
            "limits it is not known. Next: capture it with nsys (pipeline.nsys.enable=true)");
  EXPECT_THAT(outcome.summary().kernels, IsEmpty());
  EXPECT_THAT(outcome.summary().overhead, IsEmpty());
}

TEST(Summarise, ARunThatMeasuredNothingHasNoVerdict) {
  testing::TestRun run;
  run.run = testing::h200_run().run;
  run.stage("baseline").state = StageState::Failed;
  const Outcome outcome(run);
  EXPECT_EQ(outcome.summary().verdict,
            "No verdict: no phase was timed (stage baseline is failed); the report lists what is "
            "missing");
  EXPECT_THAT(outcome.summary().phases, IsEmpty());
  EXPECT_THAT(outcome.summary().absent,
              Contains(SummaryAbsent{"baseline/requests.jsonl", "stage baseline is failed"}));
}

TEST(Summarise, TheRangesOfAnotherProgramAreItsPhases) {
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

TEST(Summarise, OfAnotherProgramAWholeCaptureIsJudgedToo) {
  testing::ProgramRun program;
  const RunSummary summary = summary_of(program);
  ASSERT_THAT(summary.phases, SizeIs(1));
  EXPECT_EQ(summary.verdict,
            "What limits the program is not known: 10.0 ms captured, GPU busy 90.0 % of the time "
            "under the profiler. Without a profiler it takes 2.0 s (one run). Next: count what its "
            "kernels do with ncu (pipeline.ncu.enable=true)");
  EXPECT_EQ(summary.program->processes, 2U);
  EXPECT_THAT(summary.overhead,
              ElementsAre(SummaryOverhead{"nsys", "the whole program, with the tool's own work",
                                          "run", 1, 2e9, 3e9, 1.5, "run.json"}));
  EXPECT_THAT(summary.absent, Not(Contains(Field(&SummaryAbsent::file, HasSubstr("requests")))));
}

TEST(Summarise, OfAnotherProgramThatFailedTheFailureIsTheVerdict) {
  testing::ProgramRun program;
  program.end = "exited with code 2";
  EXPECT_THAT(summary_of(program).verdict,
              StartsWith("The program failed: exited with code 2 after 2.0 s; its output is in "
                         "baseline/log. What limits the program is not known: 10.0 ms captured"));
  program.run.nsys_ranges.reset();
  program.run.nsys_kernels.reset();
  EXPECT_EQ(summary_of(program).verdict,
            "The program failed: exited with code 2 after 2.0 s; its output is in baseline/log");
  program.end = "timed out after 2 s and was killed by SIGKILL";
  EXPECT_EQ(summary_of(program).verdict,
            "The program failed: timed out after 2 s and was killed by SIGKILL; its output is in "
            "baseline/log");
}

TEST(Summarise, OfAnotherProgramThatTheAdapterDidNotReachTheCauseIsNamed) {
  testing::ProgramRun program;
  program.run.nsys_ranges.reset();
  program.run.nsys_kernels.reset();
  EXPECT_THAT(summary_of(program).verdict, HasSubstr("Next: mark one unit of its work"));
  program.no_adapter = "Python was started with -I, so profline's Python adapter did not start";
  EXPECT_EQ(summary_of(program).verdict,
            "The program takes 2.0 s without a profiler (one run); no capture shows what it does "
            "in that time. Its requests are unknown: Python was started with -I, so profline's "
            "Python adapter did not start");
}

TEST(Summarise, OfAnotherProgramNothingIsPromisedFromTimesUnderAProfiler) {
  testing::ProgramRun program;
  program.capture().devices.front().busy_ns = 1'000'000;
  program.capture().launch.launches = 1;
  program.add_range("forward", 6'000'000);
  const RunSummary summary = summary_of(program);
  EXPECT_THAT(summary.verdict,
              AllOf(HasSubstr("GPU busy 10.0 % of the time under the profiler, 1 launch. "),
                    HasSubstr("Without a profiler it takes 2.0 s (one run)")));
  for (const PhaseSummary& phase : summary.phases) {
    EXPECT_THAT(phase.gains, IsEmpty()) << phase.name;
  }
}

TEST(Summarise, OfAnotherProgramARangeAloneIsSetAgainstTheWholeProgram) {
  testing::ProgramRun program;
  program.capture().range = "forward";  // nothing else was captured
  program.add_range("forward", 6'000'000);
  const RunSummary summary = summary_of(program);
  EXPECT_EQ(summary.verdict,
            "Range forward is host-bound: 6.00 ms per range, GPU busy 10.0 % of the time under the "
            "profiler, 1 launch per range. Range forward is 60.0 % of the captured time. Without a "
            "profiler the program takes 2.0 s (one run)");
}

TEST(Summarise, OfAnotherProgramAdviceNamesOnlyFilesThatAreThere) {
  testing::ProgramRun program;
  program.add_range("forward", 6'000'000);
  const RunSummary summary = summary_of(program);
  for (const PhaseSummary& phase : summary.phases) {
    EXPECT_THAT(phase.next_step, Not(HasSubstr("torch_profiler"))) << phase.name;
    EXPECT_THAT(phase.next_step, Not(HasSubstr("operators.md"))) << phase.name;
    EXPECT_THAT(phase.next_step, Not(HasSubstr("static_analysis"))) << phase.name;
  }
}

TEST(Summarise, RangesWithTheMostTimeComeFirst) {
  testing::ProgramRun program;
  program.add_range("tiny", 90'000);  // of 10 ms
  program.add_range("forward", 6'000'000);
  const RunSummary summary = summary_of(program);
  ASSERT_THAT(summary.phases, SizeIs(3));
  EXPECT_EQ(summary.phases[1].name, "forward");
  EXPECT_DOUBLE_EQ(*summary.phases[1].share, 0.6);
  EXPECT_DOUBLE_EQ(*summary.phases[2].share, 0.009);
}

TEST(Summarise, ReportsWhatEachProfilerCost) {
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

TEST(Summarise, ReportsTokensThatTakeFarLongerThanOthers) {
  testing::TestRun run = testing::h200_run();
  std::vector<std::int64_t>& steps = *testing::phase_of(run.baseline->front(), "decode").steps_ns;
  steps[5] = steps[12] = 5'000'000;
  EXPECT_THAT(Outcome(run).summary().notes,
              Contains(HasSubstr("decode: one token in a hundred takes 5.00 ms or more, 38x the "
                                 "median")));
}

/// Four requests like the recorded one, of which one had to prepare its shape.
testing::TestRun run_with_first_use() {
  testing::TestRun run = testing::h200_run();
  const Request like = run.baseline->front();
  for (const std::int64_t prefill_us : {17'200, 1'950, 1'370}) {
    Request& more = run.baseline->emplace_back(like);
    more.id = run.baseline->size();
    more.attributes["index"] = Node::integer(static_cast<std::int64_t>(run.baseline->size()));
    testing::phase_of(more, "prefill").ns = prefill_us * 1000;
  }
  testing::phase_of(run.baseline->front(), "prefill").ns = 1'640'000;
  return run;
}

TEST(Summarise, JudgesBySteadyRequestsAndReportsOneTimeCostsOnTheirOwn) {
  const Outcome outcome(run_with_first_use());
  const SummaryRequest& request = *outcome.summary().request;
  EXPECT_EQ(request.requests, 4U);
  EXPECT_EQ(request.steady.units, 3U);
  EXPECT_EQ(request.steady.state, "too-short");
  const double prefill_ns = (1'640'000 + 1'950'000 + 1'370'000) / 3.0;
  EXPECT_NEAR(request.mean_ns, 100'000 + prefill_ns + 20 * 130'000, 1);
  const SummaryPart& prefill = request.parts[1];
  EXPECT_EQ(prefill.time->n, 4U) << "everything measured stays visible";
  EXPECT_EQ(prefill.time->max_ns, 17'200'000);
  EXPECT_NEAR(*prefill.steady->mean_ns, prefill_ns, 1);
  EXPECT_NEAR(prefill.share, prefill_ns / request.mean_ns, 1e-9);
  ASSERT_THAT(outcome.summary().one_time, SizeIs(1));
  const SummaryOneTime& cost = outcome.summary().one_time.front();
  EXPECT_EQ(cost.phase, "prefill");
  EXPECT_EQ(cost.reason, "event");
  EXPECT_EQ(cost.total_ns, 17'200'000);
  EXPECT_NEAR(cost.typical_ns, 1'640'000, 1);
  EXPECT_EQ(outcome.phase("sam").steady->units, 3U) << "floors need the same requests";
  EXPECT_EQ(outcome.phase("decode").steady->state, "steady") << "80 steps are enough to tell";
  EXPECT_THAT(outcome.summary().verdict,
              ::testing::EndsWith("Left out as one-time costs: isolated event in prefill (17.2 ms "
                                  "instead of 1.64 ms, once)"));
}

TEST(Summarise, ComparesAProfilerWithWhatIsUsualForTheShape) {
  testing::TestRun run = run_with_first_use();
  std::swap(testing::phase_of(run.baseline->at(0), "prefill").ns,
            testing::phase_of(run.baseline->at(1), "prefill").ns);
  // The profiled request is the first one, whose prefill was cold in the baseline.
  const Outcome outcome(run);
  EXPECT_EQ(outcome.summary().one_time.front().reason, "warm-up");
  EXPECT_NEAR(outcome.summary().overhead.front().baseline_ns,
              (1'640'000 + 1'950'000 + 1'370'000) / 3.0, 1);
}

TEST(Summarise, SaysWhenTheJudgedPhaseIsTooShortToTell) {
  testing::TestRun run = testing::h200_run();
  testing::phase_of(run.baseline->front(), "prefill/sam").ns = 9'000'000;
  testing::phase_of(run.baseline->front(), "prefill").ns = 10'000'000;
  EXPECT_THAT(Outcome(run).summary().verdict,
              HasSubstr("Too short to tell: 1 request does not show whether these times are "
                        "steady"));
}

TEST(Summarise, AFileThatCannotBeReadIsReportedAndTheRestStands) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  const std::string whole = testing::text_of(folder / "nsys/ranges.json");
  ASSERT_TRUE(write_file_atomic(folder / "nsys/ranges.json", whole.substr(0, whole.size() / 2)));
  ASSERT_TRUE(write_file_atomic(folder / "ncu/kernels.json",
                                R"({"schema": "profline.ncu_kernels/2", "kernels": []})"));
  const RunSummary summary = summary_of(folder.path());
  EXPECT_THAT(summary.absent, Contains(Field(&SummaryAbsent::file, "nsys/ranges.json")));
  EXPECT_THAT(summary.absent,
              Contains(AllOf(Field(&SummaryAbsent::file, "ncu/kernels.json"),
                             Field(&SummaryAbsent::why, HasSubstr("profline.ncu_kernels")))));
  for (const SummaryAbsent& absent : summary.absent) {
    EXPECT_THAT(absent.why, Not(HasSubstr(folder.path().string())));
  }
  EXPECT_FALSE(summary.kernels.empty());
}

}  // namespace
}  // namespace profline::summary
