#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "workload/profiler/call_tree.h"
#include "workload/profiler/testing_recording.h"

namespace profline::workload {
namespace {

using profiler_test::call;
using profiler_test::kernel;
using profiler_test::memory;
using profiler_test::range;
using profiler_test::recording_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TorchOperators table_of(const Recording& recording, bool by_shape = false) {
  return operator_table(recording, build_call_tree(recording), by_shape);
}

TEST(OperatorTable, CountsSelfOnceAndRecursionOnce) {
  const Recording recording = recording_of(
      {call("aten::to", 0, 100, 1), call("aten::to", 10, 60, 2), call("aten::copy_", 20, 50, 3)}, 0,
      100);
  EXPECT_THAT(table_of(recording).operators,
              ElementsAre(TorchOperator{"aten::to", "", 2, 70, 100, 0, 0},
                          TorchOperator{"aten::copy_", "", 1, 30, 30, 0, 0}));
}

TEST(OperatorTable, SelfTimesAddUpToTheWholeTime) {
  const Recording recording = recording_of(
      {range("prefill", 0, 90), call("a", 5, 45, 1), call("b", 10, 20, 2), call("a", 50, 80, 3)}, 0,
      90);
  const TorchOperators table = table_of(recording);
  std::int64_t self = 0;
  for (const TorchOperator& row : table.operators) self += row.self_cpu_ns;
  for (const TorchOperator& row : table.ranges) self += row.self_cpu_ns;
  EXPECT_EQ(self, 90);
  EXPECT_THAT(table.ranges, ElementsAre(TorchOperator{"prefill", "", 1, 20, 90, 0, 0}));
}

// Kineto names a call INVALID if it is newer than its list.
TEST(OperatorTable, KeepsCallsOfTheRuntimeApart) {
  TraceEvent launch = call("cudaLaunchKernel", 10, 30);
  TraceEvent unknown = call("INVALID", 30, 35);
  launch.kind = unknown.kind = TraceEvent::Kind::Runtime;
  const Recording recording = recording_of({call("aten::mm", 0, 50, 1), launch, unknown}, 0, 50);
  const TorchOperators table = table_of(recording);
  EXPECT_THAT(table.operators, ElementsAre(TorchOperator{"aten::mm", "", 1, 25, 50, 0, 0}));
  EXPECT_THAT(table.runtime_calls,
              ElementsAre(TorchOperator{"cudaLaunchKernel", "", 1, 20, 20, 0, 0},
                          TorchOperator{"INVALID", "", 1, 5, 5, 0, 0}));
  EXPECT_THAT(operators_markdown(table),
              HasSubstr("## Calls of the CUDA runtime and driver\n\n| name |"));
  EXPECT_EQ(operators_document(table).find("runtime_calls")->as_list().size(), 2U);
}

TEST(OperatorTable, SumsTheDevicesTime) {
  const Recording recording =
      recording_of({call("aten::linear", 0, 50, 1), call("aten::mm", 20, 30, 2),
                    kernel("gemm", 40, 90, 2), kernel("gemm", 90, 100, 2)},
                   0, 100);
  EXPECT_THAT(table_of(recording).operators,
              ElementsAre(TorchOperator{"aten::mm", "", 1, 10, 10, 60, 60},
                          TorchOperator{"aten::linear", "", 1, 40, 50, 0, 60}));
  EXPECT_THAT(kernel_table(recording), ElementsAre(TorchKernel{"gemm", 0, 2, 60, 10, 50}));
}

TEST(OperatorTable, GroupsByShapesWhenAsked) {
  TraceEvent small = call("aten::mm", 0, 10, 1);
  small.has_shapes = true;
  small.shapes = {{2, 3}, {3, 4}};
  TraceEvent large = call("aten::mm", 10, 40, 2);
  large.has_shapes = true;
  large.shapes = {{20, 3}, {}};
  const Recording recording = recording_of({small, large}, 0, 40);
  EXPECT_EQ(table_of(recording).operators.size(), 1U);
  EXPECT_THAT(table_of(recording, true).operators,
              ElementsAre(TorchOperator{"aten::mm", "[[20, 3], []]", 1, 30, 30, 0, 0},
                          TorchOperator{"aten::mm", "[[2, 3], [3, 4]]", 1, 10, 10, 0, 0}));
}

TEST(Documents, BeginWithTheirSchema) {
  const Recording recording = recording_of({call("a", 0, 10, 1)}, 0, 10);
  const auto first = [](const Node& document) {
    return document.as_map().begin()->key.as_string() + " " +
           document.as_map().begin()->value.as_string();
  };
  EXPECT_EQ(first(operators_document(table_of(recording))), "schema profline.operators/1");
  EXPECT_EQ(first(kernels_document({}, "no GPU")), "schema profline.kernels/1");
  EXPECT_EQ(first(memory_document(recording, build_call_tree(recording))),
            "schema profline.memory/1");
}

TEST(Documents, SayWhyThereAreNoKernels) {
  EXPECT_EQ(kernels_markdown({}, "the model ran on the CPU"),
            "# Kernel summary\n\nNo kernels: the model ran on the CPU.\n");
  EXPECT_EQ(kernels_document({}, "the model ran on the CPU").find("why_none")->as_string(),
            "the model ran on the CPU");
}

TEST(Documents, NamesCannotBreakATable) {
  const Recording recording = recording_of({call("a|b\n<script>", 0, 2'500'000, 1)}, 0, 2'500'000);
  const std::string text = operators_markdown(table_of(recording));
  EXPECT_THAT(text,
              HasSubstr("| a\\|b\\\\n\\<script> | 1 | 2.500 | 2.500 | 0.000 | 0.000 | 2.500 |"));
}

TEST(MemoryDocument, FollowsWhatIsHeld) {
  const Recording recording =
      recording_of({call("aten::empty", 0, 10, 1), memory(5, 100), call("aten::mm", 20, 30, 2),
                    memory(25, 50), memory(40, -100)},
                   0, 50);
  const Node document = memory_document(recording, build_call_tree(recording));
  const Node& device = document.find("devices")->as_list().front();
  EXPECT_EQ(write_json(device, {.indent = 0}).value(),
            R"({"device":"cpu","allocations":2,"allocated_bytes":150,"frees":1,"freed_bytes":100,)"
            R"("peak_bytes":150,"held_at_end_bytes":50})");
  std::vector<std::string> names;
  for (const Node& row : document.find("operators")->as_list()) {
    names.push_back(row.find("name")->as_string());
  }
  EXPECT_THAT(names, ElementsAre("aten::empty", "aten::mm", "outside operators"));
  EXPECT_EQ(write_json(document.find("changes")->as_list().back(), {.indent = 0}).value(),
            R"({"at_ns":40,"device":"cpu","bytes":-100,"held_bytes":50})");
}

}  // namespace
}  // namespace profline::workload
