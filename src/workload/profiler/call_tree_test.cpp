#include "workload/profiler/call_tree.h"

#include <gtest/gtest.h>

#include "workload/profiler/testing_recording.h"

namespace profline::workload {
namespace {

using profiler_test::call;
using profiler_test::kernel;
using profiler_test::recording_of;

std::string parent_name(const Recording& recording, const CallTree& tree, std::size_t index) {
  const auto parent = tree.calls[index].parent;
  return parent ? recording.events[tree.calls[*parent].event].name : "";
}

TEST(CallTree, NestsByTime) {
  const Recording recording =
      recording_of({call("child", 10, 40), call("linear", 0, 100), call("grandchild", 20, 30),
                    call("second", 40, 60), call("next", 100, 110)},
                   0, 110);
  const CallTree tree = build_call_tree(recording);
  ASSERT_EQ(tree.calls.size(), 5U);
  EXPECT_EQ(parent_name(recording, tree, 0), "");  // linear
  EXPECT_EQ(parent_name(recording, tree, 1), "linear");
  EXPECT_EQ(parent_name(recording, tree, 2), "child");
  EXPECT_EQ(parent_name(recording, tree, 3), "linear");
  EXPECT_EQ(parent_name(recording, tree, 4), "");
  EXPECT_EQ(tree.calls[0].self_ns, 50);
  EXPECT_EQ(tree.calls[1].self_ns, 20);
  EXPECT_EQ(tree.calls[2].self_ns, 10);
}

TEST(CallTree, AChildCannotOutliveItsParent) {
  // Cut to whole microseconds, 0.9 to 3.1 became 0 to 2 and its child 1.8 to 3.05 became 1 to 2…
  const Recording recording =
      recording_of({call("outer", 0, 2000), call("inner", 1000, 3000)}, 0, 3000);
  const CallTree tree = build_call_tree(recording);
  EXPECT_EQ(tree.calls[1].end_ns, 2000);
  EXPECT_EQ(tree.calls[0].self_ns + tree.calls[1].self_ns, 2000);
}

TEST(CallTree, ThreadsAreApart) {
  TraceEvent other = call("other", 10, 20);
  other.thread = 2;
  const Recording recording = recording_of({call("outer", 0, 100), other}, 0, 100);
  const CallTree tree = build_call_tree(recording);
  EXPECT_FALSE(tree.calls[1].parent);
  EXPECT_EQ(tree.calls[0].self_ns, 100);
}

TEST(CallTree, KernelsBelongToWhoStartedThem) {
  TraceEvent launch = call("cudaLaunchKernel", 22, 25);
  launch.kind = TraceEvent::Kind::Runtime;
  launch.thread = 4711;  // as CUPTI counts
  launch.caller = 2;
  const Recording recording =
      recording_of({call("aten::linear", 0, 50, 1), call("aten::mm", 20, 30, 2), launch,
                    kernel("gemm", 40, 90, 2), kernel("unknown", 95, 99, 77)},
                   0, 99);
  const CallTree tree = build_call_tree(recording);
  ASSERT_EQ(tree.calls.size(), 3U);
  EXPECT_EQ(tree.calls[0].self_device_ns, 0);
  EXPECT_EQ(tree.calls[0].total_device_ns, 50);
  EXPECT_EQ(tree.calls[1].self_device_ns, 50);
  EXPECT_EQ(parent_name(recording, tree, 2), "aten::mm");
  EXPECT_EQ(tree.calls[1].self_ns, 7);
}

TEST(CallTree, FindsTheInnermostCall) {
  const Recording recording =
      recording_of({call("outer", 0, 100), call("inner", 10, 20), call("late", 200, 300)}, 0, 300);
  const CallTree tree = build_call_tree(recording);
  EXPECT_EQ(tree.innermost(1, 15), 1U);
  EXPECT_EQ(tree.innermost(1, 50), 0U);
  EXPECT_EQ(tree.innermost(1, 150), std::nullopt);
  EXPECT_EQ(tree.innermost(1, -1), std::nullopt);
  EXPECT_EQ(tree.innermost(2, 15), std::nullopt);
}

}  // namespace
}  // namespace profline::workload
