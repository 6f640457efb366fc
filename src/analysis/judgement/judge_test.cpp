#include "analysis/judgement/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::judgement {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr double kMs = 1e6;

/// Decode from a published capture: 64 tokens of 10 ms, the device busy for 2.8 ms of each, 1219
/// launches.
PhaseEvidence launch_bound_decode() {
  PhaseEvidence evidence;
  evidence.phase = "decode";
  evidence.unit = "token";
  evidence.measured_ns = 10 * kMs;
  evidence.measured_in = "baseline/requests.jsonl";
  evidence.has_device = true;
  DeviceActivity device;
  device.units = 64;
  device.captured_ns = 64 * 14 * kMs;
  device.unprofiled_ns = 64 * 10 * kMs;
  device.busy_ns = 64 * 2.8 * kMs;
  device.launches = 64 * 1219;
  device.gap_mean_ns = 6'100;
  device.idle.host_between_ns = 400'000'000;
  device.idle.launching_ns = 300'000'000;
  device.idle.synchronizing_ns = 16'800'000;
  device.source = "nsys/ranges.json";
  evidence.device = device;
  Cost cost;
  cost.flops = 1.2e9;
  cost.bytes = 1.5e9;
  cost.cache_bytes = 0.2e9;
  cost.compute_ns = 0.0012 * kMs;
  cost.memory_ns = 0.3125 * kMs;
  cost.floor_ns = 0.32 * kMs;
  cost.source = "static_analysis/static_compute.json";
  cost.ceilings = "NVIDIA H200";
  evidence.cost = cost;
  return evidence;
}

std::vector<std::string> texts(const Judgement& judgement) {
  std::vector<std::string> texts;
  texts.reserve(judgement.reasons.size());
  for (const Reason& reason : judgement.reasons) texts.push_back(reason.text);
  return texts;
}

TEST(Judge, ADeviceThatWaitsBetweenLaunchesIsLaunchBound) {
  const Judgement judgement = judge(launch_bound_decode());
  EXPECT_EQ(judgement.kind, Class::LaunchBound);
  EXPECT_THAT(
      judgement.reasons,
      ElementsAre(
          Reason{"GPU busy 28.0 % of the time (2.80 ms of 10.0 ms per token)",
                 "nsys/ranges.json, baseline/requests.jsonl"},
          Reason{"1219 launches per token, 6.10 us from one to the next", "nsys/ranges.json"},
          Reason{"idle time: 55.8 % between launches, 41.9 % inside launch calls, 2.3 % host "
                 "waiting for "
                 "the GPU",
                 "nsys/ranges.json"},
          Reason{
              "the theoretical minimum for these shapes is 320 us per token, 3.2 % of "
              "the measured 10.0 ms: at peak rate 1.20 GFLOP take 0.012 % of it, at full bandwidth "
              "1.50 GB of weights and KV cache take 3.1 % (NVIDIA H200)",
              "static_analysis/static_compute.json, baseline/requests.jsonl"}));
  ASSERT_THAT(judgement.gains, SizeIs(2));
  EXPECT_EQ(judgement.gains[0].when, "if the GPU never waited");
  EXPECT_NEAR(judgement.gains[0].time_ns, 2.8 * kMs, 1);
  EXPECT_NEAR(judgement.gains[0].saved_ns, 7.2 * kMs, 1);
  EXPECT_NEAR(judgement.gains[0].speedup, 10 / 2.8, 1e-9);
  EXPECT_EQ(judgement.gains[1].when, "at the hardware limit for these shapes");
  EXPECT_NEAR(judgement.gains[1].speedup, 10 / 0.32, 1e-9);
  EXPECT_EQ(judgement.next_step,
            "launch less: put decode into a CUDA graph or fuse its kernels; with 1219 launches per "
            "token the GPU is busy only 28.0 % of the time");
}

TEST(Judge, LessIdleTimeChangesTheClassAndTheWords) {
  struct Case {
    double busy_ms;
    Class kind;
    std::string_view step;
  };
  const Case cases[] = {
      {2.8, Class::LaunchBound, "launch less: put decode into a CUDA graph"},
      {5.0, Class::LaunchBound, "launch less: put decode into a CUDA graph"},
      {6.0, Class::Mixed, "the GPU is idle 40.0 % of the time and works for the rest"},
      {7.6, Class::Mixed, "the GPU is busy but not close to a limit"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.busy_ms);
    PhaseEvidence evidence = launch_bound_decode();
    evidence.device->busy_ns = 64 * c.busy_ms * kMs;
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.kind, c.kind) << to_text(judgement.kind);
    EXPECT_THAT(judgement.next_step, HasSubstr(c.step));
  }
}

TEST(Judge, AGpuThatNeverWaitedTakesItsBusyTimeHoweverSlowTheCapturedInputsWere) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.measured_ns = 8 * kMs;  // all inputs; the captured ones take 10 ms
  const Judgement slower = judge(evidence);
  EXPECT_DOUBLE_EQ(*slower.busy_share, 0.28) << "of the captured inputs";
  EXPECT_EQ(slower.gains[0].when, "if the GPU never waited");
  EXPECT_NEAR(slower.gains[0].time_ns, 2.8 * kMs, 1) << "work does not shrink with the mean";
  EXPECT_NEAR(slower.gains[0].speedup, 8 / 2.8, 1e-9);
  evidence.measured_ns = 2 * kMs;
  for (const Gain& gain : judge(evidence).gains) {
    EXPECT_NE(gain.when, "if the GPU never waited") << "the work alone takes longer";
  }
}

TEST(Judge, TheUnprofiledTimeCountsAndNotTheProfilers) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->busy_ns = 64 * 8 * kMs;  // 80 % of 10 ms, 57 % of 14 ms
  EXPECT_DOUBLE_EQ(*judge(evidence).busy_share, 0.8);
  evidence.device->unprofiled_ns.reset();
  const Judgement judgement = judge(evidence);
  EXPECT_NEAR(*judgement.busy_share, 8.0 / 14, 1e-9);
  EXPECT_EQ(judgement.kind, Class::Mixed);
  EXPECT_THAT(
      texts(judgement),
      Contains("GPU busy 57.1 % of the time under the profiler (8.00 ms of 14.0 ms per token)"));
}

TEST(Judge, TimeUnderAProfilerPromisesNoGain) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.cost.reset();
  ASSERT_THAT(judge(evidence).gains, SizeIs(1));
  evidence.device->unprofiled_ns.reset();
  const Judgement judgement = judge(evidence);
  EXPECT_EQ(judgement.kind, Class::LaunchBound);
  EXPECT_THAT(judgement.gains, IsEmpty());
}

TEST(Judge, ExplainsATimeThatIsNotTheMeanOfAllInputs) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.measured_ns = 9.5 * kMs;  // of all images; the captured one takes 10 ms per token
  EXPECT_THAT(texts(judge(evidence)),
              Contains("GPU busy 28.0 % of the time (2.80 ms of the 10.0 ms per token that the "
                       "captured input takes without a profiler; the average of all inputs is "
                       "9.50 ms)"));
}

TEST(Judge, OneLaunchIsALaunch) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->launches = evidence.device->units;
  const Judgement judgement = judge(evidence);
  EXPECT_THAT(texts(judgement), Contains("1 launch per token, 6.10 us from one to the next"));
  EXPECT_EQ(judgement.next_step,
            "launch less: put decode into a CUDA graph or fuse its kernels; with 1 launch per "
            "token the GPU is busy only 28.0 % of the time");
}

TEST(Judge, AWholeCaptureCannotBecomeAGraph) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.phase = "capture run";
  evidence.unit = "capture";
  EXPECT_EQ(judge(evidence).next_step,
            "launch less: put the ranges that take most of the time into CUDA graphs or fuse their "
            "kernels; the GPU is busy only 28.0 % of the time");
}

TEST(Judge, NamesAPageOnlyWhereTheRunHasIt) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->gap_mean_ns = 400'000;  // the host does something of its own
  EXPECT_EQ(judge(evidence).next_step,
            "find out what the host does between launches (pipeline.torch_profiler.enable=true "
            "records it) and move it out of the loop");
  evidence.host_page = "operators.md";
  EXPECT_EQ(judge(evidence).next_step,
            "see operators.md for what the host does between launches, and move it out of the "
            "loop");
  evidence.host_page = "";
  evidence.is_program = true;
  EXPECT_EQ(judge(evidence).next_step,
            "find out what the host does between launches (the timeline in report.html shows "
            "where) and move it out of the loop");
}

TEST(Judge, AdvisesAnotherProgramOnlyWhatItCanUse) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.is_program = true;
  evidence.cost.reset();
  evidence.device->busy_ns = 64 * 9.8 * kMs;
  EXPECT_EQ(judge(evidence).next_step,
            "count what its kernels do with ncu (pipeline.ncu.enable=true)");
  KernelBounds kernels;
  kernels.memory_ns = 10;
  kernels.all_ns = 100;
  evidence.kernels = kernels;
  const Judgement few = judge(evidence);
  EXPECT_EQ(few.next_step, "let ncu profile more of its launches (pipeline.ncu.max_launches)");
  EXPECT_THAT(texts(few), Contains("how close it is to the hardware limits is not known: only "
                                   "10.0 % of the kernel time has counters"));
  evidence.device.reset();
  evidence.has_device = false;
  EXPECT_EQ(judge(evidence).next_step, "sample the host's call stacks to see what it does");
  evidence.has_nsys = true;
  EXPECT_EQ(judge(evidence).next_step,
            "sample the host's call stacks (pipeline.nsys.sample=process-tree) to see what it "
            "does");
}

TEST(Judge, IdleTimeThatIsNotOfLaunchesIsTheHosts) {
  struct Case {
    std::int64_t IdleTime::*cause;
    std::string_view cure;
  };
  const Case cases[] = {
      {&IdleTime::synchronizing_ns, "move synchronisation"},
      {&IdleTime::copy_wait_ns, "keep the data on the GPU"},
      {&IdleTime::allocating_ns, "allocate once"},
      {&IdleTime::nothing_queued_ns, "overlap the host's work before the first launch"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.cure);
    PhaseEvidence evidence = launch_bound_decode();
    evidence.device->idle.*c.cause = 2'000'000'000;
    const Judgement judgement = judge(evidence);
    EXPECT_EQ(judgement.kind, Class::HostBound);
    EXPECT_THAT(judgement.next_step, HasSubstr(c.cure));
  }
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->gap_mean_ns = 400'000;  // long: the host does something of its own
  const Judgement judgement = judge(evidence);
  EXPECT_EQ(judgement.kind, Class::HostBound);
  EXPECT_THAT(judgement.next_step, HasSubstr("what the host does between launches"));
}

TEST(Judge, ABusyDeviceIsBoundByTheNearerCeiling) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->busy_ns = 64 * 9.8 * kMs;
  evidence.cost->memory_ns = 6 * kMs;
  evidence.cost->floor_ns = 6 * kMs;
  const Judgement memory = judge(evidence);
  EXPECT_EQ(memory.kind, Class::MemoryBound);
  EXPECT_THAT(memory.next_step, HasSubstr("the necessary bytes take 60.0 % of the time"));
  EXPECT_EQ(memory.gains.at(0).when, "at the hardware limit for these shapes");

  evidence.cost->compute_ns = 7 * kMs;
  EXPECT_EQ(judge(evidence).kind, Class::ComputeBound);
  evidence.cost->compute_ns = 6.3 * kMs;  // 3 points apart
  EXPECT_EQ(judge(evidence).kind, Class::Mixed);
  // Fewer bytes: neither ceiling is near any more.
  evidence.cost->compute_ns = 0.1 * kMs;
  evidence.cost->memory_ns = 1 * kMs;
  evidence.cost->floor_ns = 1 * kMs;
  EXPECT_EQ(judge(evidence).kind, Class::Mixed);
  evidence.cost.reset();
  const Judgement unknown = judge(evidence);
  EXPECT_EQ(unknown.kind, Class::Unknown);
  EXPECT_THAT(
      texts(unknown),
      Contains("how close it is to the hardware limits is not known: there are no counters and no "
               "static analysis"));
}

TEST(Judge, CountersDecideWhereTheyCoverTheKernels) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device->busy_ns = 64 * 9.8 * kMs;
  KernelBounds kernels;
  kernels.memory_ns = 70;
  kernels.latency_ns = 10;
  kernels.all_ns = 100;
  kernels.source = "ncu/kernels.json";
  evidence.kernels = kernels;
  const Judgement memory = judge(evidence);
  EXPECT_EQ(memory.kind, Class::MemoryBound);
  EXPECT_THAT(memory.reasons,
              Contains(Reason{"of the time of kernels with counters (80.0 % of all kernel time), "
                              "0.0 % is compute-bound, 87.5 % memory-bound and 12.5 % far from "
                              "both limits",
                              "ncu/kernels.json"}));
  evidence.kernels->memory_ns = 10;
  evidence.kernels->latency_ns = 70;
  EXPECT_THAT(judge(evidence).next_step, HasSubstr("make the kernels larger"));
  evidence.kernels->compute_ns = 200;
  evidence.kernels->all_ns = 300;
  EXPECT_EQ(judge(evidence).kind, Class::ComputeBound);
  evidence.kernels->all_ns = 10'000;  // too few have counters: the ceilings decide
  EXPECT_EQ(judge(evidence).kind, Class::Mixed);
}

TEST(Judge, WithoutACaptureOnlyANearCeilingDecides) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.device.reset();
  const Judgement unseen = judge(evidence);
  EXPECT_EQ(unseen.kind, Class::Unknown);
  EXPECT_EQ(unseen.next_step, "capture it with nsys (pipeline.nsys.enable=true)");
  EXPECT_FALSE(unseen.busy_share);
  evidence.cost->memory_ns = 8 * kMs;  // it cannot have waited long
  EXPECT_EQ(judge(evidence).kind, Class::MemoryBound);
}

TEST(Judge, OnACpuCeilingsOrShortOperatorsDecide) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.has_device = false;
  evidence.device.reset();
  evidence.operators = HostOperators{2'000, 0.9, "aten::mm", 0.25, "torch_profiler/trace.json"};
  const Judgement host = judge(evidence);
  EXPECT_EQ(host.kind, Class::HostBound);
  EXPECT_THAT(
      host.reasons,
      Contains(Reason{"2000 operator calls per token; 90.0 % of the operators' own time is in "
                      "operators that take less than 20.0 us per call; the largest is aten::mm "
                      "(25.0 %)",
                      "torch_profiler/trace.json"}));
  evidence.operators->short_share = 0.1;
  const Judgement mixed = judge(evidence);
  EXPECT_EQ(mixed.kind, Class::Mixed);
  EXPECT_EQ(mixed.next_step, "start with aten::mm, which takes 25.0 % of the operators' time");
  evidence.cost->compute_ns = 7 * kMs;
  EXPECT_EQ(judge(evidence).kind, Class::ComputeBound);
  // More than the whole time: the weights are in a cache, so memory is not the limit.
  evidence.cost->memory_ns = 12 * kMs;
  const Judgement cached = judge(evidence);
  EXPECT_EQ(cached.kind, Class::ComputeBound);
  EXPECT_THAT(texts(cached), Contains(HasSubstr("comes from a cache")));
  evidence.cost.reset();
  EXPECT_EQ(judge(evidence).next_step, "enable pipeline.static_analysis");
  evidence.operators.reset();
  const Judgement nothing = judge(evidence);
  EXPECT_EQ(nothing.kind, Class::Unknown);
  EXPECT_EQ(nothing.next_step, "enable pipeline.static_analysis and pipeline.torch_profiler");
  EXPECT_THAT(nothing.gains, IsEmpty());
}

TEST(Judge, OnACpuNoFactorIsPromised) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.has_device = false;
  evidence.device.reset();
  ASSERT_TRUE(evidence.cost->floor_ns);
  const Judgement judgement = judge(evidence);
  EXPECT_THAT(judgement.gains, IsEmpty());
  EXPECT_THAT(texts(judgement), Contains(HasSubstr("theoretical minimum")));
}

TEST(Judge, AFloorAboveTheMeasuredTimeAllowsNothing) {
  PhaseEvidence evidence = launch_bound_decode();
  evidence.cost->floor_ns = 11 * kMs;
  EXPECT_THAT(judge(evidence).gains, ElementsAre(Field(&Gain::when, "if the GPU never waited")));
  evidence.device->busy_ns = 2 * *evidence.device->unprofiled_ns;  // two streams on other clocks
  EXPECT_DOUBLE_EQ(*judge(evidence).busy_share, 1);
}

/// Decode of the fast engine on an H200 (2026-11-15): 468 us per token, 99.8 % busy, 1.148 GB of
/// weights. By ncu, which runs its kernels one at a time with cold caches, only decode_head is near
/// a limit.
PhaseEvidence fast_decode() {
  PhaseEvidence evidence;
  evidence.phase = "decode";
  evidence.unit = "token";
  evidence.measured_ns = 0.468 * kMs;
  evidence.measured_in = "baseline/requests.jsonl";
  evidence.has_device = true;
  DeviceActivity device;
  device.units = 63;
  device.captured_ns = 63 * 0.475 * kMs;
  device.unprofiled_ns = 63 * 0.468 * kMs;
  device.busy_ns = 63 * 0.467 * kMs;
  device.launches = 63;
  device.source = "nsys/ranges.json";
  evidence.device = device;
  Cost cost;
  cost.flops = 1.2e9;
  cost.bytes = 1.17e9;
  cost.cache_bytes = 0.03e9;
  cost.compute_ns = 0.0012 * kMs;
  cost.memory_ns = 0.246 * kMs;
  cost.floor_ns = 0.246 * kMs;
  cost.source = "static_analysis/static_compute.json";
  evidence.cost = cost;
  KernelBounds kernels;
  kernels.memory_ns = 24;
  kernels.latency_ns = 76;
  kernels.memory_floor_ns = 40;
  kernels.all_ns = 100;
  kernels.source = "ncu/kernels.json";
  evidence.kernels = kernels;
  return evidence;
}

TEST(Judge, GivesTheFastEngineOneVerdictWithAndWithoutCounters) {
  PhaseEvidence evidence = fast_decode();
  const Judgement counted = judge(evidence);
  EXPECT_EQ(counted.kind, Class::MemoryBound);
  EXPECT_THAT(texts(counted), Contains(HasSubstr("ncu runs each kernel alone and with cold "
                                                 "caches")));
  evidence.kernels.reset();
  EXPECT_EQ(judge(evidence).kind, Class::MemoryBound);
  evidence.device.reset();
  EXPECT_EQ(judge(evidence).kind, Class::MemoryBound);
  evidence = fast_decode();
  evidence.cost.reset();
  EXPECT_EQ(judge(evidence).kind, Class::Mixed) << "counters of single kernels do not show it";
  evidence.live = LiveCounters{{}, 0.249 * kMs, 1.198e9, "nsys/ranges.json"};
  EXPECT_EQ(judge(evidence).kind, Class::MemoryBound) << "those of the phase do";
}

/// An image encoder has weights and no KV cache; a phase whose model is not known may have neither.
TEST(Judge, NamesTheBytesThatThePhaseHas) {
  PhaseEvidence evidence = fast_decode();
  evidence.cost->memory_ns = 0.3 * kMs;
  evidence.live = LiveCounters{0.004 * kMs, 0.35 * kMs, 1.198e9, "nsys/ranges.json"};
  struct Case {
    std::string_view name;
    double cache_bytes;
    std::string_view bytes, step;
  };
  constexpr Case kCases[] = {
      {"decode", 0.1e9, "weights and KV cache",
       "move fewer bytes: weights and KV cache in fewer bits, larger batches, fused operators"},
      {"sam", 0, "weights",
       "move fewer bytes: weights in fewer bits, larger batches, fused operators"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    evidence.phase = c.name;
    evidence.cost->cache_bytes = c.cache_bytes;
    const Judgement judgement = judge(evidence);
    ASSERT_EQ(judgement.kind, Class::MemoryBound);
    const std::string bytes(c.bytes);
    EXPECT_THAT(texts(judgement), Contains(HasSubstr("1.17 GB of " + bytes + " take ")));
    EXPECT_THAT(texts(judgement), Contains(HasSubstr("; " + bytes + " are 1.17 GB; ")));
    EXPECT_THAT(judgement.next_step, StartsWith(std::string(c.step) + "; at full bandwidth"));
  }
  evidence.cost.reset();
  const Judgement judgement = judge(evidence);
  ASSERT_EQ(judgement.kind, Class::MemoryBound);
  EXPECT_EQ(judgement.next_step,
            "move fewer bytes: fewer bits per value, larger batches, fused operators");
}

TEST(Judge, TellsHowTheClassCameAbout) {
  PhaseEvidence evidence = fast_decode();
  evidence.cost->memory_ns = 0.1 * kMs;
  evidence.live = LiveCounters{0.004 * kMs, 0.249 * kMs, 1.198e9, "nsys/ranges.json"};
  const Judgement judgement = judge(evidence);
  EXPECT_EQ(judgement.kind, Class::MemoryBound);
  EXPECT_THAT(
      judgement.steps,
      ElementsAre(Step{Evidence::Floor, Class::Unknown,
                       "at peak rate arithmetic takes 0.3 % of the time, memory traffic 21.4 %",
                       "static_analysis/static_compute.json"},
                  Step{Evidence::Activity, Class::Mixed, "the GPU was busy for 99.8 % of the time",
                       "nsys/ranges.json"},
                  Step{Evidence::Live, Class::MemoryBound,
                       "at peak rate arithmetic takes 0.9 % of the time, memory traffic 53.2 %",
                       "nsys/ranges.json"},
                  Step{Evidence::Counters, Class::MemoryBound,
                       "kernels near the memory limit take 23.9 % of the time and kernels near the "
                       "compute limit 0.0 %",
                       "ncu/kernels.json"}));
  EXPECT_THAT(texts(judgement),
              Contains("counters sampled during the phase: 1.20 GB of DRAM traffic per token, "
                       "which take 53.2 % of the time at full bandwidth; weights and KV cache are "
                       "1.17 GB; the matrix units were active for 0.9 %"));
}

TEST(Judge, NecessaryWorkOutweighsIdleTimeUnderAProfiler) {
  PhaseEvidence evidence = fast_decode();
  evidence.device->unprofiled_ns.reset();
  evidence.device->captured_ns = 63 * 1.5 * kMs;  // the profiler made it wait
  const Judgement judgement = judge(evidence);
  EXPECT_NEAR(*judgement.busy_share, 0.31, 0.01);
  EXPECT_EQ(judgement.kind, Class::MemoryBound);
  EXPECT_THAT(texts(judgement), Contains(HasSubstr("was slowed down by the profiler")));
}

/// What a phase really does, of which tools see parts.
struct World {
  struct Kernel {
    double ns = 0;
    double compute = 0;  ///< shares of the ceilings, in place
    double memory = 0;
    bool is_counted = false;
  };
  std::vector<Kernel> kernels;
  double idle_ns = 0;
  double necessary_compute = 1;  ///< of what the kernels compute and move
  double necessary_memory = 1;
};

World random_world(std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  World world;
  const double usual_compute = uniform(0, 1);
  const double usual_memory = uniform(0, 1);
  const int count = std::uniform_int_distribution<int>(1, 6)(random);
  const double coverage = uniform(0, 1.2);
  for (int i = 0; i < count; ++i) {
    world.kernels.push_back(
        {uniform(1, 100), std::clamp(usual_compute + uniform(-0.3, 0.3), 0.0, 1.0),
         std::clamp(usual_memory + uniform(-0.3, 0.3), 0.0, 1.0), uniform(0, 1) < coverage});
  }
  world.idle_ns = uniform(0, 1) < 0.5 ? 0 : uniform(0, 300);
  world.necessary_compute = uniform(0.3, 1);
  world.necessary_memory = uniform(0.3, 1);
  return world;
}

/// Everything that tools could record of it.
PhaseEvidence evidence_of(const World& world, std::mt19937_64& random) {
  PhaseEvidence evidence;
  evidence.phase = "decode";
  evidence.unit = "token";
  evidence.has_device = true;
  double busy_ns = 0;
  double compute_ns = 0;
  double memory_ns = 0;
  KernelBounds bounds;
  for (const World::Kernel& kernel : world.kernels) {
    busy_ns += kernel.ns;
    compute_ns += kernel.ns * kernel.compute;
    memory_ns += kernel.ns * kernel.memory;
    bounds.all_ns += kernel.ns;
    if (!kernel.is_counted) continue;
    bounds.compute_floor_ns += kernel.ns * kernel.compute;
    bounds.memory_floor_ns += kernel.ns * kernel.memory;
    // As analysis/roofline does.
    double& of = std::max(kernel.compute, kernel.memory) < 0.6      ? bounds.latency_ns
                 : std::abs(kernel.compute - kernel.memory) <= 0.05 ? bounds.other_ns
                 : kernel.compute > kernel.memory                   ? bounds.compute_ns
                                                                    : bounds.memory_ns;
    of += kernel.ns;
  }
  evidence.measured_ns = busy_ns + world.idle_ns;
  evidence.cost =
      Cost{1,
           1,
           0,
           compute_ns * world.necessary_compute,
           memory_ns * world.necessary_memory,
           std::max(compute_ns * world.necessary_compute, memory_ns * world.necessary_memory)};
  DeviceActivity device;
  device.captured_ns = device.unprofiled_ns.emplace(evidence.measured_ns);
  device.busy_ns = busy_ns;
  const bool by_launches = random() % 2 == 0;
  (by_launches ? device.idle.launching_ns : device.idle.synchronizing_ns) =
      static_cast<std::int64_t>(world.idle_ns);
  evidence.device = device;
  evidence.live = LiveCounters{compute_ns, memory_ns, 1};
  evidence.kernels = bounds;
  return evidence;
}

PhaseEvidence subset(const PhaseEvidence& all, unsigned kept) {
  PhaseEvidence evidence = all;
  if ((kept & 1U) == 0) evidence.cost.reset();
  if ((kept & 2U) == 0) evidence.device.reset();
  if ((kept & 4U) == 0) evidence.live.reset();
  if ((kept & 8U) == 0) evidence.kernels.reset();
  return evidence;
}

/// Unknown, then mixed, then one limit.
int sharpness(Class kind) {
  return kind == Class::Unknown ? 0 : kind == Class::Mixed ? 1 : 2;
}

TEST(Judge, MoreEvidenceSharpensAClassAndNeverContradictsIt) {
  std::mt19937_64 random(20261118);
  std::map<Class, int> seen;
  for (int trial = 0; trial < 4000; ++trial) {
    const PhaseEvidence all = evidence_of(random_world(random), random);
    for (unsigned more = 0; more < 16; ++more) {
      const Class known = class_of(subset(all, more));
      ++seen[known];
      for (unsigned less = 0; less < more; ++less) {
        if ((less & more) != less) continue;
        const Class before = class_of(subset(all, less));
        ASSERT_LE(sharpness(before), sharpness(known))
            << trial << ": " << to_text(before) << " with " << less << ", " << to_text(known)
            << " with " << more;
        if (sharpness(before) == 2) {
          ASSERT_EQ(before, known) << trial << " with " << less << " and " << more;
        }
      }
    }
  }
  EXPECT_THAT(seen, SizeIs(6)) << "every class occurs";
}

}  // namespace
}  // namespace profline::judgement
