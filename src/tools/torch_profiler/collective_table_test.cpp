// Collectives as PyTorch describes them, read from a trace.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Timeline read(const std::string& events) {
  auto timeline = read_trace(chunks_of(R"({"traceEvents": [)" + events + "]}"), "t.json", {});
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

/// `allreduce BFloat16 0 (default_pg) x8: 8192 -> 8192`, one line per collective.
std::vector<std::string> lines(const Timeline& t) {
  std::vector<std::string> lines;
  for (const Collective& row : t.collectives) {
    lines.push_back(t.names.text(row.name) + ' ' + t.names.text(row.dtype) + ' ' +
                    t.names.text(row.group) + " x" + std::to_string(row.ranks) + ": " +
                    (row.has_bytes
                         ? std::to_string(row.in_bytes) + " -> " + std::to_string(row.out_bytes)
                         : "size not known"));
  }
  return lines;
}

constexpr const char* kAllReduce =
    R"("Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096, "Group size": 8, "dtype": "BFloat16", "In split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg")";

std::string operation(int ts, int id, const std::string& args) {
  return R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 9, "tid": 9, "ts": )" +
         std::to_string(ts) + R"(, "dur": 20, "args": {"External id": )" + std::to_string(id) +
         (args.empty() ? "" : ", ") + args + "}},";
}
std::string launch(int ts, int correlation) {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 9, "tid": 9, "ts": )" +
         std::to_string(ts) + R"(, "dur": 5, "args": {"correlation": )" +
         std::to_string(correlation) + "}},";
}
std::string kernel(int ts, int correlation, const std::string& name, const std::string& args) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": )" +
         std::to_string(correlation) + (args.empty() ? "" : ", ") + args + "}},";
}
constexpr const char* kEnd =
    R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}})";

TEST(TraceCollectives, AreOneRowThoughOperatorAndKernelBothDescribeThem) {
  const Timeline t = read(operation(100, 5, kAllReduce) + launch(105, 1) +
                          kernel(130, 1, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                 std::string(R"("External id": 5, )") + kAllReduce) +
                          kEnd);
  EXPECT_THAT(lines(t), ElementsAre("allreduce BFloat16 0 (default_pg) x8: 8192 -> 8192"));
  ASSERT_EQ(t.work.size(), 1U);
  EXPECT_EQ(t.work[0].collective, 0U);
}

TEST(TraceCollectives, KnowTheMembersOfTheirGroupAndTheirNumberInIt) {
  const Timeline t =
      read(kernel(130, 1, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                  std::string(kAllReduce) + R"(, "Process Group Ranks": "[0, 4]", "Seq": 17)") +
           kernel(230, 2, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                  std::string(kAllReduce) + R"(, "Process Group Ranks": [0, 4])") +
           kEnd);
  ASSERT_EQ(t.collectives.size(), 2U);
  EXPECT_EQ(t.names.text(t.collectives[0].members), "[0, 4]");
  EXPECT_EQ(t.collectives[0].sequence, 17);
  EXPECT_EQ(t.names.text(t.collectives[1].members), "[0, 4]") << "as a list";
  EXPECT_EQ(t.collectives[1].sequence, -1) << "not recorded";
}

TEST(TraceCollectives, AreFoundByTheOperatorAroundTheLaunchWhereKernelsSayNothing) {
  const Timeline t = read(operation(100, 5, kAllReduce) + launch(105, 1) + launch(111, 2) +
                          kernel(130, 1, "ncclKernel_AllReduce_RING_LL_Sum_half", "") +
                          kernel(170, 2, "elementwise_kernel", "") + kEnd);
  EXPECT_THAT(lines(t), ElementsAre("allreduce BFloat16 0 (default_pg) x8: 8192 -> 8192"));
  EXPECT_EQ(t.work[0].collective, 0U);
  EXPECT_EQ(t.work[1].collective, kNoRow) << "launched there, but no kernel of NCCL";
}

TEST(TraceCollectives, AreFoundByTheKernelAloneAsInAGraph) {
  const Timeline t = read(
      kernel(
          130, 1, "ncclDevKernel_AllGather_RING_LL",
          R"("Collective name": "_allgather_base", "In msg nelems": 10, "Out msg nelems": 80, "Group size": 8, "dtype": "Float", "Process Group Name": "1")") +
      kEnd);
  EXPECT_THAT(lines(t), ElementsAre("_allgather_base Float 1 x8: 40 -> 320"));
  EXPECT_EQ(t.work[0].collective, 0U);
}

/// A range of a back end on the host.
std::string host_range(int ts, int thread, const std::string& name, const std::string& args,
                       const std::string& category = "user_annotation") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 9, "tid": )" + std::to_string(thread) + R"(, "ts": )" + std::to_string(ts) +
         R"(, "dur": 30, "args": {)" + args + "}},";
}
std::string described(int ts, const std::string& name, int elements, const std::string& group) {
  return operation(ts, 0,
                   R"("Collective name": ")" + name + R"(", "In msg nelems": )" +
                       std::to_string(elements) + R"(, "Group size": 2, "dtype": "Float", )" +
                       R"("Process Group Name": ")" + group + "\"");
}

/// `gloo:all_reduce of 1`, one line per range: the group of the collective that it carried out.
std::vector<std::string> groups_of_ranges(const Timeline& t) {
  std::vector<std::string> lines;
  for (const Range& range : t.ranges) {
    const std::string& name = t.names.text(range.name);
    if (!is_host_collective(name)) {
      EXPECT_EQ(range.collective, kNoRow) << name;
      continue;
    }
    lines.push_back(name + " of " +
                    (range.collective == kNoRow
                         ? "none"
                         : t.names.text(t.collectives[range.collective].group)));
  }
  return lines;
}

TEST(TraceCollectives, OnTheHostAreWhatTheOperatorAheadOfThemDescribes) {
  for (const char* category : {"user_annotation", "cpu_op"}) {
    SCOPED_TRACE(category);
    const Timeline t = read(
        described(100, "allreduce", 64, "1") + host_range(130, 9, "gloo:all_reduce", "", category) +
        described(200, "barrier", 0, "1") + host_range(230, 9, "gloo:barrier", "", category) +
        described(300, "allreduce", 32, "2") + host_range(330, 9, "gloo:all_reduce", "", category) +
        kEnd);
    EXPECT_THAT(lines(t),
                ElementsAre("allreduce Float 1 x2: 256 -> 0", "barrier Float 1 x2: 0 -> 0",
                            "allreduce Float 2 x2: 128 -> 0"));
    EXPECT_THAT(groups_of_ranges(t),
                ElementsAre("gloo:all_reduce of 1", "gloo:barrier of 1", "gloo:all_reduce of 2"));
  }
}

TEST(TraceCollectives, OnTheHostAreTakenFromAQueueInTheOrderOfTheirDescriptions) {
  // Two are started on thread 9, then a thread of the back end carries them out.
  const Timeline t =
      read(described(100, "allreduce", 64, "1") + described(130, "allreduce", 64, "2") +
           host_range(160, 10, "gloo:all_reduce", "") + host_range(200, 10, "gloo:all_reduce", "") +
           host_range(240, 10, "gloo:all_reduce", "") + kEnd);
  EXPECT_THAT(groups_of_ranges(t), ElementsAre("gloo:all_reduce of 1", "gloo:all_reduce of 2",
                                               "gloo:all_reduce of none"));
}

TEST(TraceCollectives, OnTheHostAreNotDescribedByAnotherSizeOrALaterOperator) {
  const Timeline t = read(
      host_range(50, 10, "gloo:all_reduce", "") + described(100, "allreduce", 64, "1") +
      described(130, "allreduce", 32, "2") +
      host_range(160, 10, "gloo:all_reduce", R"("Input Dims": [[32]], "Input type": ["float"])") +
      host_range(200, 10, "gloo:broadcast", "") + kEnd);
  EXPECT_THAT(groups_of_ranges(t), ElementsAre("gloo:all_reduce of none", "gloo:all_reduce of 2",
                                               "gloo:broadcast of none"));
}

TEST(TraceCollectives, OnTheHostHaveTheSizeOfTheirInputsIfNothingDescribesThem) {
  struct Case {
    const char *name, *inputs, *size;
  };
  constexpr Case kCases[] = {
      {"gloo:all_reduce", R"("Input Dims": [[9216]], "Input type": ["float"])",
       "float  x0: 36864 -> 0"},
      {"gloo:all_reduce",
       R"("Input Dims": [[4, 2], []], "Input type": ["c10::BFloat16", "long int"])",
       "c10::BFloat16  x0: 24 -> 0"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(lines(read(host_range(50, 10, c.name, c.inputs) + kEnd)),
                ElementsAre(std::string(c.name) + ' ' + c.size));
  }
  constexpr Case kUnknown[] = {
      {"gloo:all_gather", R"("Input Dims": [[9216]], "Input type": ["float"])",
       "each rank contributes a part"},
      {"gloo:all_reduce", R"("Input Dims": [[[2, 2], [4]]], "Input type": ["TensorList"])",
       "a list of tensors"},
      {"gloo:all_reduce", R"("Input Dims": [[[2, 2]]], "Input type": ["float"])", "no shape"},
      {"gloo:all_reduce", R"("Input Dims": [[2], [2]], "Input type": ["float"])", "too few types"},
      {"gloo:all_reduce", R"("Input Dims": [[2]], "Input type": ["float", "float"])",
       "too few shapes"},
      {"gloo:all_reduce", R"("Input Dims": [[4294967296, 4294967296]], "Input type": ["float"])",
       "too large"},
      {"gloo:all_reduce", R"("Input type": ["float"])", "no shapes"},
  };
  for (const Case& c : kUnknown) {
    EXPECT_THAT(lines(read(host_range(50, 10, c.name, c.inputs) + kEnd)), IsEmpty()) << c.size;
  }
}

TEST(TraceCollectives, OnTheHostAreOfTheOnlyGroupThatTheTraceNames) {
  const auto with_groups = [](const std::string& groups) {
    auto timeline = read_trace(
        chunks_of(R"({"distributedInfo": {"backend": "gloo", "rank": 0, "world_size": 2, )"
                  R"("pg_config": [)" +
                  groups + R"(]}, "traceEvents": [)" + host_range(50, 10, "gloo:barrier", "") +
                  kEnd + "]}"),
        "t.json", {});
    EXPECT_TRUE(timeline) << timeline.error().to_string();
    return *std::move(timeline);
  };
  const std::string first =
      R"({"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]})";
  const Timeline t = with_groups(first);
  EXPECT_THAT(groups_of_ranges(t), ElementsAre("gloo:barrier of 0 (default_pg)"));
  ASSERT_EQ(t.collectives.size(), 1U);
  EXPECT_EQ(t.names.text(t.collectives[0].members), "[0, 1]");
  EXPECT_EQ(t.collectives[0].ranks, 2U);
  EXPECT_THAT(groups_of_ranges(with_groups(first + ", " + first)),
              ElementsAre("gloo:barrier of none"));
}

TEST(TraceCollectives, LeaveOutOperatorsThatMoveNothing) {
  const Timeline t = read(
      operation(
          100, 5,
          R"("Collective name": "wait", "In msg nelems": 0, "Out msg nelems": 0, "dtype": "Byte")") +
      operation(200, 6, "") + kEnd);
  EXPECT_THAT(lines(t), IsEmpty());
}

TEST(TraceCollectives, SayWhenTheSizeIsNotKnown) {
  const Timeline t = read(
      kernel(
          130, 1, "ncclDevKernel_Broadcast",
          R"("Collective name": "broadcast", "In msg nelems": 7, "Group size": 2, "dtype": "Odd")") +
      kernel(230, 2, "ncclDevKernel_Broadcast",
             R"("Collective name": "broadcast", "Group size": 2, "dtype": "Float")") +
      kernel(
          330, 3, "ncclDevKernel_Broadcast",
          R"("Collective name": "broadcast", "In msg nelems": 9223372036854775807, "Group size": 2, "dtype": "Double")") +
      kEnd);
  EXPECT_THAT(lines(t), ElementsAre("broadcast Odd  x2: size not known",
                                    "broadcast Float  x2: size not known",
                                    "broadcast Double  x2: size not known"));
}

TEST(TraceCopies, HaveTheMemoryThatTheirNamesTell) {
  const auto copy = [](const char* category, const char* name) {
    return std::string(R"({"ph": "X", "cat": ")") + category + R"(", "name": ")" + name +
           R"(", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 0, "stream": 7}},)";
  };
  struct Case {
    const char *category, *name;
    MemoryKind from, to;
  };
  constexpr Case kCases[] = {
      {"gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", MemoryKind::Pageable, MemoryKind::Device},
      {"gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", MemoryKind::Device, MemoryKind::Pinned},
      {"gpu_memcpy", "Memcpy HtoD (Strange -> Array)", MemoryKind::Unknown, MemoryKind::Array},
      {"gpu_memcpy", "CopyHostToDevice", MemoryKind::Unknown, MemoryKind::Unknown},
      {"gpu_memset", "Memset (Device)", MemoryKind::Unknown, MemoryKind::Device},
      {"gpu_memset", "Memset (Managed", MemoryKind::Unknown, MemoryKind::Unknown},
  };
  for (const Case& c : kCases) {
    const Timeline t = read(copy(c.category, c.name) + kEnd);
    ASSERT_EQ(t.work.size(), 1U) << c.name;
    EXPECT_EQ(t.work[0].from, c.from) << c.name;
    EXPECT_EQ(t.work[0].to, c.to) << c.name;
  }
}

}  // namespace
}  // namespace profline::torch_profiler
