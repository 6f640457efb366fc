#include "analysis/ranks/capture.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/analysis.h"
#include "analysis/ranks/matching.h"
#include "analysis/ranks/testing_ranks.h"
#include "testing/captures/timeline_builder.h"

namespace profline::ranks {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RankCapture, KnowsCollectivesOfEveryLibraryByTheirKernels) {
  struct Case {
    const char* name;
    CollectiveKind kind;
  };
  constexpr Case kCases[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       CollectiveKind::AllReduce},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", CollectiveKind::ReduceScatter},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", CollectiveKind::AllGather},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", CollectiveKind::Send},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", CollectiveKind::Unknown},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*)",
       CollectiveKind::AllReduce},
      {"void deep_ep::internode_ll::dispatch<true, 7168>(void*, float*)", CollectiveKind::AllToAll},
      {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int)", CollectiveKind::AllToAll},
      {"void deep_ep::layout::get_dispatch_layout<256, 32, 1>(long const*)",
       CollectiveKind::Unknown},
  };
  for (const Case& c : kCases) EXPECT_EQ(kind_of_kernel(c.name), c.kind) << c.name;
}

TEST(RankCapture, CountsEachNanosecondOnce) {
  testing::TimelineBuilder builder;
  const RowIndex a = builder.stream(0, 7);
  const RowIndex b = builder.stream(0, 20);
  builder.window(0, 100)
      .work({10, 30, a, 0, "gemm"})
      .work({20, 50, b, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"})
      .work({45, 60, a, 0, "copy", WorkKind::Copy})
      .work({70, 80, a, 0, "gemm"});
  const Capture capture = capture_of(builder.build(), shipped());
  EXPECT_EQ(capture.time.wall_ns, 100);
  EXPECT_EQ(capture.time.compute_ns, 30);
  EXPECT_EQ(capture.time.overlapped_ns, 10);
  EXPECT_EQ(capture.time.exposed_ns, 20);
  EXPECT_EQ(capture.time.copy_ns, 10);
  EXPECT_EQ(capture.time.idle_ns, 40);
  ASSERT_EQ(capture.visits.size(), 1U);
  EXPECT_EQ(capture.visits[0].duration_ns(), 30);
}

/// A rank on a CPU, as c10d's Gloo back end records it.
std::string gloo_trace(int rank, std::int64_t ahead_us, std::int64_t late_us) {
  std::string events;
  std::int64_t now_us = 1'000'000;
  const auto add = [&](const char* category, const char* name, std::int64_t begin_us,
                       std::int64_t us) {
    events += R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" + name +
              R"(", "pid": 5, "tid": 5, "ts": )" + std::to_string(begin_us + ahead_us) +
              R"(.0, "dur": )" + std::to_string(us) + "},";
  };
  for (int step = 0; step < 20; ++step) {
    add("cpu_op", "aten::mm", now_us, 3000 + late_us);
    add("user_annotation", "gloo:all_reduce", now_us + 3000 + late_us, 2000 + 700 - late_us);
    add("user_annotation", "step", now_us, 5700);
    now_us += 6000;
  }
  events.pop_back();
  return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": 2}, "traceEvents": [)" + events + "]}";
}

TEST(RankCapture, OfAHostTakesGloosRangesForCollectivesAndOperatorsForComputation) {
  std::vector<Capture> captures;
  captures.push_back(capture_of(timeline_of(gloo_trace(0, 0, 0), "0.json"), shipped()));
  captures.push_back(capture_of(timeline_of(gloo_trace(1, 90'000, 700), "1.json"), shipped()));
  EXPECT_EQ(captures[0].visits.size(), 20U);
  EXPECT_EQ(captures[0].time.compute_ns, 20 * 3'000'000);
  EXPECT_EQ(captures[0].time.exposed_ns, 20 * 2'700'000);
  EXPECT_EQ(captures[0].names.text(captures[0].visits[0].phase), "step");
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 1);
  EXPECT_EQ(analysis.stragglers.front().cause, "compute");
  EXPECT_EQ(analysis.ranks[1].clock.state, ClockState::Aligned);
}

/// One of four ranks in two pairs: 20 steps of collectives within the pair, of which the second
/// pair has more, and one of all. Ranks 1 and 3 are late.
std::string trace_of_pairs(int rank, bool describes) {
  std::string events;
  const auto add = [&](const char* category, const char* name, std::int64_t begin_us,
                       std::int64_t end_us, const std::string& args) {
    events += R"({"ph": "X", "cat": ")" + std::string(category) + R"(", "name": ")" + name +
              R"(", "pid": 5, "tid": 5, "ts": )" + std::to_string(begin_us) + R"(.0, "dur": )" +
              std::to_string(end_us - begin_us) + R"(, "args": {)" + args + "}},";
  };
  const auto collective = [&](std::int64_t arrival_us, std::int64_t end_us, const char* group,
                              int ranks, int elements) {
    if (describes) {
      add("cpu_op", "record_param_comms", arrival_us - 5, arrival_us - 1,
          R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": )" +
              std::to_string(elements) + R"(, "Group size": )" + std::to_string(ranks) +
              R"(, "Process Group Name": ")" + group + "\"");
    }
    add("user_annotation", "gloo:all_reduce", arrival_us, end_us, "");
  };
  const bool is_second_pair = rank >= 2;
  for (int step = 0; step < 20; ++step) {
    const std::int64_t begin_us = 1'000'000 + 30'000 * step;
    const std::int64_t late_us = rank % 2 * 800;
    const int count = is_second_pair ? 3 + step % 2 : 2;
    for (int i = 0; i < count; ++i) {
      const std::int64_t arrival_us = begin_us + 4'000 * i + 1'000 + late_us;
      collective(arrival_us, begin_us + 4'000 * i + 2'500 + step % 5 * 10,
                 is_second_pair ? "2" : "1", 2, 4096);
    }
    collective(begin_us + 24'000 + 100 * rank, begin_us + 26'000, "0", 4, 9216);
  }
  events.pop_back();
  return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": 4}, "traceEvents": [)" + events + "]}";
}

std::vector<Capture> captures_of_pairs(bool describe) {
  std::vector<Capture> captures;
  for (int rank = 0; rank < 4; ++rank) {
    captures.push_back(capture_of(
        timeline_of(trace_of_pairs(rank, describe), std::to_string(rank) + ".json"), shipped()));
  }
  return captures;
}

TEST(RankCapture, OfAHostMatchesTheGroupsOfGlooEachOnItsOwn) {
  const RankAnalysis analysis = analyse(captures_of_pairs(true));
  std::vector<std::string> rows;
  for (const RankCollective& row : analysis.collectives) {
    rows.push_back(row.name + " of " + row.communicator + " x" + std::to_string(row.ranks) + ": " +
                   std::to_string(row.instances) + " of " + std::to_string(row.bytes.value_or(0)) +
                   " bytes, " + (row.bus_gb_per_s ? "with bandwidth" : "without bandwidth"));
  }
  EXPECT_THAT(rows, ElementsAre("gloo:all_reduce of 2 x2: 70 of 16384 bytes, with bandwidth",
                                "gloo:all_reduce of 1 x2: 40 of 16384 bytes, with bandwidth",
                                "gloo:all_reduce of 0 x4: 20 of 36864 bytes, with bandwidth"));
  EXPECT_EQ(analysis.classes.inconclusive, 0U);
  for (const RankRow& row : analysis.ranks) {
    EXPECT_NE(row.clock.state, ClockState::NotAligned) << row.rank;
  }
  EXPECT_THAT(analysis.notes, IsEmpty());
}

TEST(RankCapture, OfAHostSaysWhenNothingNamesTheGroups) {
  EXPECT_THAT(analyse(captures_of_pairs(false)).notes,
              Contains("300 collectives do not say which communicator they belong to: matched by "
                       "order, each kind on its own; those of different groups may be confused"));
}

/// A rank whose kernels nothing describes: 20 steps of a product and these collectives.
Capture undescribed(std::int64_t rank, const std::vector<std::string_view>& kernels,
                    std::int64_t late_ns, std::string_view mark = "") {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(5, 5);
  const RowIndex compute = builder.stream(0, 7);
  const RowIndex communicate = builder.stream(0, 20);
  std::int64_t now_ns = 0;
  for (int step = 0; step < 20; ++step) {
    builder.work({now_ns, now_ns + 100'000 + late_ns, compute, 0, "gemm"});
    std::int64_t begin_ns = now_ns + 100'000 + late_ns;
    for (const std::string_view kernel : kernels) {
      const std::int64_t end_ns = std::max(begin_ns, now_ns + 160'000) + 20'000;
      const std::int64_t called_ns = begin_ns - 5'000;
      const std::uint64_t call = builder.call({called_ns, called_ns + 1'000, thread});
      if (!mark.empty()) builder.range({called_ns - 500, called_ns + 1'500, mark, thread});
      builder.work({begin_ns, end_ns, communicate, call, kernel});
      begin_ns = end_ns;
    }
    now_ns = begin_ns + 10'000 + step % 3 * 1'000;
  }
  Capture capture = capture_of(builder.window(0, now_ns).build(), shipped());
  capture.rank = rank;
  return capture;
}

TEST(RankCapture, OfEveryLibraryIsMatchedByTheNamesOfItsKernels) {
  struct Case {
    const char* name;
    std::vector<std::string_view> kernels;
  };
  const Case kCases[] = {
      {"RCCL", {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"}},
      {"RCCL 2.18", {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"}},
      {"DeepEP",
       {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)",
        "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int)"}},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    std::vector<Capture> captures;
    captures.push_back(undescribed(0, c.kernels, 0));
    captures.push_back(undescribed(1, c.kernels, 50'000));
    EXPECT_EQ(captures[0].visits.size(), 20 * c.kernels.size());
    const RankAnalysis analysis = analyse(captures);
    EXPECT_EQ(analysis.skew.collectives, 20 * c.kernels.size());
    EXPECT_GT(analysis.ranks[0].time.exposed_ns, 0);
  }
}

TEST(RankCapture, TakesTheKindOfAnUndescribedKernelFromTheMarkAroundItsLaunch) {
  const std::vector<std::string_view> kernel = {
      "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"};
  std::vector<Capture> captures;
  captures.push_back(undescribed(0, kernel, 0, "nccl:all_to_all"));
  captures.push_back(undescribed(1, kernel, 50'000, "nccl:all_to_all"));
  const Capture& marked = captures.front();
  ASSERT_EQ(marked.visits.size(), 20U);
  EXPECT_EQ(marked.visits[0].kind, CollectiveKind::AllToAll);
  EXPECT_EQ(marked.names.text(marked.visits[0].name), "nccl:all_to_all");
  EXPECT_EQ(marked.pairwise, 0U);
  EXPECT_EQ(undescribed(0, kernel, 0, "nccl:send").pairwise, 20U);
  EXPECT_EQ(undescribed(0, kernel, 0).pairwise, 20U);
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 1);
  EXPECT_EQ(analysis.ranks[1].clock.state, ClockState::Aligned);
}

TEST(RankCapture, OfAHostTakesRangesThatTheProgramNamedLikeACollective) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(5, 5);
  builder.window(0, 100)
      .range({0, 90, "step", thread})
      .range({40, 90, "allreduce", thread})
      .range({90, 95, "barrier", thread});
  const Capture capture = capture_of(builder.build(), shipped());
  ASSERT_EQ(capture.visits.size(), 2U);
  EXPECT_EQ(capture.visits[0].kind, CollectiveKind::AllReduce);
  EXPECT_EQ(capture.names.text(capture.visits[0].phase), "step");
  EXPECT_EQ(capture.time.exposed_ns, 55);
  ASSERT_EQ(capture.phases.size(), 1U) << "a collective is no phase";
}

/// A rank on a CPU under nsys, which records ranges and no operators: 20 steps.
Capture of_host_ranges(std::int64_t rank, std::int64_t compute_ns, std::int64_t unnamed_ns) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(5, 5);
  std::int64_t now_ns = 0;
  for (int step = 0; step < 20; ++step) {
    const std::int64_t computed_ns = now_ns + compute_ns;
    const std::int64_t arrived_ns = computed_ns + unnamed_ns;
    const std::int64_t end_ns = now_ns + 5'000'000 + step % 3 * 1'000;
    builder.range({now_ns, end_ns, "request", thread})
        .range({now_ns, computed_ns, "compute", thread})
        .range({arrived_ns, end_ns, "all_reduce", thread});
    now_ns = end_ns;
  }
  Capture capture = capture_of(builder.window(0, now_ns).build(), shipped());
  capture.rank = rank;
  return capture;
}

TEST(RankCapture, OfAHostWithoutOperatorsTakesTheInnermostRangesForComputation) {
  std::vector<Capture> captures;
  captures.push_back(of_host_ranges(0, 1'000'000, 0));
  captures.push_back(of_host_ranges(1, 3'000'000, 0));
  EXPECT_EQ(captures[0].time.compute_ns, 20 * 1'000'000);
  EXPECT_EQ(captures[0].time.idle_ns, 0);
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 1);
  EXPECT_EQ(analysis.stragglers.front().cause, "compute");
  EXPECT_EQ(analysis.stragglers.front().evidence,
            "the last in 20 of 20 collectives, 2.00 ms after the last but one on average; it "
            "computes for 60.0 ms, the others for 20.0 ms");
}

TEST(RankCapture, OfAHostHasNoDeviceThatIsIdle) {
  std::vector<Capture> captures;
  captures.push_back(of_host_ranges(0, 1'000'000, 0));
  captures.push_back(of_host_ranges(1, 1'000'000, 2'000'000));
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 1);
  EXPECT_EQ(analysis.stragglers.front().cause, "host");
  EXPECT_EQ(analysis.stragglers.front().evidence,
            "the last in 20 of 20 collectives, 2.00 ms after the last but one on average; it "
            "neither computes nor communicates for 40.0 ms, the others for 0 ns");
}

TEST(RankCapture, OfAHostCountsACollectiveOnceWhereBothTheProgramAndTheBackEndNameIt) {
  testing::TimelineBuilder builder;
  const RowIndex program = builder.thread(5, 5);
  const RowIndex worker = builder.thread(5, 6);
  builder.window(0, 100)
      .range({40, 90, "all_reduce", program})
      .range({45, 85, "gloo:all_reduce", worker});
  const Capture capture = capture_of(builder.build(), shipped());
  ASSERT_EQ(capture.visits.size(), 1U);
  EXPECT_EQ(capture.visits[0].duration_ns(), 40);
  EXPECT_EQ(capture.names.text(capture.visits[0].phase), "all_reduce");
}

TEST(RankCapture, OfRequestsTakesPhasesNamedLikeACollective) {
  const auto requests_of = [](std::int64_t origin_ns, std::int64_t late_ns) {
    std::vector<Request> requests;
    for (std::uint64_t i = 0; i < 8; ++i) {
      Request request;
      request.id = i;
      request.start_ns = origin_ns + static_cast<std::int64_t>(i) * 10'000'000;
      request.ns = 9'000'000;
      const auto add = [&](const char* path, std::int64_t start_ns, std::int64_t ns) {
        Phase phase;
        phase.path = path;
        phase.start_ns = start_ns;
        phase.ns = ns;
        request.phases.push_back(phase);
      };
      add("step", 0, 9'000'000);
      add("step/forward", 0, 5'000'000 + late_ns);
      add("step/allreduce", 5'000'000 + late_ns, 4'000'000 - late_ns);
      requests.push_back(request);
    }
    return requests;
  };
  std::vector<Capture> captures;
  captures.push_back(capture_of(requests_of(1'000'000, 0), "baseline/ranks/0/requests.jsonl"));
  captures.push_back(capture_of(requests_of(7'000, 2'000'000), "baseline/ranks/1/requests.jsonl"));
  EXPECT_EQ(captures[0].time.wall_ns, 79'000'000);
  EXPECT_EQ(captures[0].time.exposed_ns, 8 * 4'000'000);
  EXPECT_EQ(captures[0].time.compute_ns, 8 * 5'000'000);
  number_ranks(captures);
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 1);
  EXPECT_EQ(analysis.stragglers.front().cause, "compute");
  EXPECT_EQ(analysis.ranks[1].clock.ahead_ns, -993'000);
  EXPECT_EQ(analysis.stragglers[1].phase, "step");
}

TEST(RankCapture, WithoutCollectivesOnlyShowsWhoComputesForLonger) {
  const auto capture_with = [](std::int64_t rank, std::int64_t late_ns) {
    std::vector<Request> requests(10);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].start_ns = static_cast<std::int64_t>(i) * 10'000'000;
      requests[i].ns = 5'000'000 + late_ns;
      Phase phase;
      phase.path = "forward";
      phase.start_ns = 0;
      phase.ns = requests[i].ns;
      requests[i].phases = {phase};
    }
    Capture capture = capture_of(requests, "requests.jsonl");
    capture.rank = rank;
    return capture;
  };
  std::vector<Capture> captures;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    captures.push_back(capture_with(rank, rank == 2 ? 1'000'000 : rank * 1000));
  }
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 2);
  EXPECT_EQ(analysis.stragglers.front().evidence,
            "it computes for 60.0 ms, the others for 50.0 ms; no collectives show who waits");
  EXPECT_EQ(analysis.findings.front(),
            "Rank 2 takes longest: it computes for 60.0 ms, the others for 50.0 ms; no collectives "
            "show who waits.");
  captures[2] = capture_with(2, 100'000);
  EXPECT_EQ(analyse(captures).straggler(), std::nullopt) << "2 % may be chance";
}

TEST(RankCapture, IsSplitByProcessInTheOrderOfDevices) {
  testing::TimelineBuilder builder;
  const RowIndex first = builder.thread(900, 1);
  const RowIndex second = builder.thread(800, 1);
  const RowIndex on_0 = builder.stream(0, 7);
  const RowIndex on_1 = builder.stream(1, 7);
  const std::uint64_t a = builder.call({0, 2, first});
  const std::uint64_t b = builder.call({0, 3, second});
  builder.window(0, 100)
      .work({10, 20, on_0, a, "gemm"})
      .work({30, 40, on_0, 0, "of a graph"})
      .work({10, 25, on_1, b, "gemm"})
      .range({0, 50, "step", first})
      .range({0, 60, "step", second});
  const std::vector<Timeline> parts = by_process(builder.build());
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].threads.front().process, 900) << "it used device 0";
  EXPECT_EQ(parts[0].work.size(), 2U) << "only one process used the device";
  EXPECT_EQ(parts[1].work.size(), 1U);
  EXPECT_EQ(parts[1].ranges.size(), 1U);
  EXPECT_EQ(parts[1].ranges[0].end_ns, 60);
  EXPECT_EQ(parts[1].names.text(parts[1].work[0].name), "gemm");
  EXPECT_EQ(parts[1].calls.size(), 1U);
  EXPECT_EQ(parts[1].work[0].launch, 0U);
}

TEST(RankCapture, OfOneProcessIsNotSplit) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(900, 1);
  const std::uint64_t call = builder.call({0, 2, thread});
  builder.window(0, 100).work({10, 20, builder.stream(0, 7), call, "gemm"});
  EXPECT_THAT(by_process(builder.build()), IsEmpty());
}

/// A rank whose all-reduces end at these times after a common moment.
Capture with_ends(std::int64_t rank, const std::vector<std::int64_t>& ends_us) {
  Capture capture;
  capture.rank = rank;
  capture.communicators.push_back({});
  for (const std::int64_t end_us : ends_us) {
    Visit visit;
    visit.kind = CollectiveKind::AllReduce;
    visit.start_ns = (end_us - 300) * 1000;
    visit.end_ns = end_us * 1000;
    capture.visits.push_back(visit);
  }
  return capture;
}

TEST(RankMatching, DoesNotShiftCapturesBecauseAFewEndsAreUneven) {
  // Two ranks on a busy machine: the last ends are up to 1.6 ms apart, and by chance shifted times
  // between ends differ less.
  std::vector<Capture> captures;
  captures.push_back(
      with_ends(0, {75'318, 106'456, 137'505, 168'616, 199'937, 230'663, 262'082, 293'502}));
  captures.push_back(
      with_ends(1, {75'252, 106'420, 137'453, 168'937, 199'733, 231'044, 262'465, 295'126}));
  const Matches matches = match(captures);
  EXPECT_EQ(matches.matches.size(), 8U);
  EXPECT_THAT(matches.notes, IsEmpty());
}

TEST(RankMatching, DoesNotShiftCapturesWhoseClocksAgree) {
  // Shifted by one, the times between ends differ by 52 us (median) instead of 361 us.
  std::vector<Capture> captures;
  captures.push_back(
      with_ends(0, {0, 45'353, 76'352, 107'991, 138'881, 170'096, 201'355, 232'575}));
  captures.push_back(
      with_ends(1, {-66, 44'811, 76'407, 107'685, 138'944, 170'151, 201'402, 232'627}));
  captures[0].origin_ns = 1'790'857'026'000'000'000;
  captures[1].origin_ns = captures[0].origin_ns;
  EXPECT_EQ(match(captures).matches.size(), 8U);
  captures[1].origin_ns = *captures[0].origin_ns + 31'000'000;
  EXPECT_EQ(match(captures).matches.size(), 7U) << "the clocks support the shift";
}

TEST(RankMatching, RefusesSequencesThatDiffer) {
  testing::PlantedTraces planted = testing::planted_traces({.ranks = 2, .steps = 5});
  std::vector<Capture> captures = captures_of(planted);
  captures[1].visits[9].bytes += 4;
  const Matches matches = match(captures);
  EXPECT_THAT(matches.matches, IsEmpty());
  EXPECT_THAT(matches.notes,
              ElementsAre("the collectives of rank 1 in group 0 (default_pg) differ from those of "
                          "rank 0 and are not matched"));
}

}  // namespace
}  // namespace profline::ranks
