#include "analysis/captures/capture_series.h"

#include <gtest/gtest.h>

namespace profline::captures {
namespace {

using Values = std::vector<double>;

DeviceWork kernel(Timeline& timeline, std::string_view name, std::int64_t start, std::int64_t end,
                  RowIndex shape) {
  DeviceWork work;
  work.start_ns = start;
  work.end_ns = end;
  work.name = timeline.names.id_of(name);
  work.shape = shape;
  return work;
}

TEST(KernelTimes, AreByIdentityAndShape) {
  Timeline timeline;
  timeline.shapes.resize(2);
  timeline.shapes[0].grid = {4, 1, 1};
  timeline.shapes[0].block = {128, 1, 1};
  timeline.shapes[1].grid = {8, 1, 1};
  timeline.shapes[1].block = {128, 1, 1};
  timeline.work = {kernel(timeline, "void gemm<(int)4>(float*)", 0, 10, 0),
                   kernel(timeline, "void gemm<4>(float*)", 10, 22, 0),
                   kernel(timeline, "void gemm<4>(float*)", 30, 35, 1),
                   kernel(timeline, "copy", 40, 41, kNoRow)};
  timeline.work.back().kind = WorkKind::Copy;
  const auto rows = kernel_times(timeline);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].short_name, "gemm");
  EXPECT_EQ(rows[0].shape, "grid 4,1,1 block 128,1,1");
  EXPECT_EQ(rows[0].ns, (Values{10, 12}));
  EXPECT_EQ(rows[1].shape, "grid 8,1,1 block 128,1,1");
  EXPECT_EQ(rows[1].ns, Values{5});
}

TEST(OperatorTimes, LeaveOperatorsInsideOut) {
  Timeline timeline;
  timeline.threads.resize(2);
  const auto add = [&](std::string_view name, std::int64_t start, std::int64_t end, RowIndex on) {
    Operator op;
    op.start_ns = start;
    op.end_ns = end;
    op.name = timeline.names.id_of(name);
    op.thread = on;
    timeline.operators.push_back(op);
  };
  add("linear", 0, 100, 0);
  add("mm", 10, 60, 0);
  add("mm", 20, 30, 1);  // another thread: inside nothing
  add("copy", 50, 55, 0);
  add("mm", 70, 90, 0);
  const auto rows = operator_times(timeline);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "mm");
  EXPECT_EQ(rows[0].ns, (Values{45, 10, 20}));
  EXPECT_EQ(rows[1].name, "linear");
  EXPECT_EQ(rows[1].ns, Values{30});
  EXPECT_EQ(rows[2].ns, Values{5});
}

}  // namespace
}  // namespace profline::captures
