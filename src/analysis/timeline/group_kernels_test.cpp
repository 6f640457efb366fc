#include "analysis/timeline/group_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "testing/captures/timeline_builder.h"

namespace profline::timeline {
namespace {

using testing::random_timeline;
using testing::TimelineBuilder;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Row {
  std::string name;
  std::string range;
  std::uint64_t instances;
  std::int64_t total_ns;
  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const KernelUses& uses) {
  std::vector<Row> rows;
  for (const KernelUse& row : uses.rows) {
    const std::string ranges = row.launch_recorded ? join(row.ranges, " > ") : "no launch";
    rows.push_back({row.name, ranges, row.launches, row.total_ns});
  }
  return rows;
}

Timeline two_kernels() {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  const RowIndex other = builder.stream(1, 7);
  builder.range({0, 100, "decode", thread}).range({40, 60, "layer", thread});
  const auto first = builder.call({10, 11, thread});
  const auto second = builder.call({45, 46, thread});
  builder.work({20, 30, stream, first, "gemm"}).work({30, 34, stream, second, "gemm"});
  builder.work({50, 57, stream, second, "gemm"}).work({60, 61, other, 0, "softmax"});
  builder.work({70, 90, stream, second, "[copy]", WorkKind::Copy});
  return builder.window(0, 100).build();
}

TEST(GroupKernels, SummarisesByName) {
  const KernelUses uses = group_kernels(two_kernels());
  EXPECT_THAT(rows_of(uses), ElementsAre(Row{"gemm", "", 3, 21}, Row{"softmax", "", 1, 1}));
  EXPECT_EQ(uses.total_ns, 22);
  EXPECT_EQ(uses.launches, 4U);
  EXPECT_DOUBLE_EQ(uses.share(uses.rows[0]), 100.0 * 21 / 22);
  EXPECT_DOUBLE_EQ(uses.rows[0].mean_ns(), 7);
  EXPECT_DOUBLE_EQ(uses.rows[0].median_ns, 7);
  EXPECT_EQ(uses.rows[0].min_ns, 4);
  EXPECT_EQ(uses.rows[0].max_ns, 10);
  EXPECT_THAT(uses.rows[0].kernel_class, IsEmpty()) << "nobody was asked for it";
  EXPECT_THAT(uses.row_of, ElementsAre(0, 0, 0, 1, kNoRow)) << "a copy is no kernel";
}

TEST(GroupKernels, DistinguishesStacksOfRangesAndFiltersByThem) {
  const Timeline timeline = two_kernels();
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(rows_of(group_kernels(timeline, {.ranges = true})),
              ElementsAre(Row{"gemm", "decode > layer", 2, 11}, Row{"gemm", "decode", 1, 10},
                          Row{"softmax", "no launch", 1, 1}));
  const KernelUses inside =
      group_kernels(timeline, {}, {.inside = "decode", .attribution = &attribution});
  EXPECT_THAT(rows_of(inside), ElementsAre(Row{"gemm", "", 3, 21}));
  EXPECT_THAT(inside.row_of, ElementsAre(0, 0, 0, kNoRow, kNoRow));
}

TEST(GroupKernels, LabelsRangesAsTheTablesOfRangesDo) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  builder.range({0, 40, "ProfilerStep#1", thread}).range({50, 90, "ProfilerStep#2", thread});
  const auto first = builder.call({10, 11, thread});
  const auto second = builder.call({60, 61, thread});
  builder.work({20, 30, stream, first, "gemm"}).work({70, 75, stream, second, "gemm"});
  Timeline timeline = builder.window(0, 100).build();
  for (Range& range : timeline.ranges) range.domain = timeline.names.id_of("torch");
  EXPECT_THAT(rows_of(group_kernels(timeline, {.ranges = true})),
              ElementsAre(Row{"gemm", "torch:ProfilerStep#*", 2, 15}));
}

TEST(GroupKernels, DistinguishesDevices) {
  std::vector<std::string> rows;
  for (const KernelUse& row : group_kernels(two_kernels(), {.device = true}).rows) {
    rows.push_back(row.name + " on " + std::to_string(row.device));
  }
  EXPECT_THAT(rows, ElementsAre("gemm on 0", "softmax on 1"));
}

TEST(GroupKernels, DistinguishesOperators) {
  Timeline timeline = two_kernels();
  timeline.operators.push_back({9, 40, timeline.names.id_of("aten::mm"), 0, 0, 0});
  timeline.calls[0].op = 0;
  std::vector<std::string> rows;
  for (const KernelUse& row : group_kernels(timeline, {.op = true}).rows) {
    rows.push_back(row.name + " of '" + row.op + "' " + std::to_string(row.total_ns));
  }
  EXPECT_THAT(rows, ElementsAre("gemm of '' 11", "gemm of 'aten::mm' 10", "softmax of '' 1"));
}

/// One kernel in two spellings, with shapes that differ in the grid, in shared memory, or not.
Timeline two_spellings() {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  builder.work({0, 10, stream, 0, "void gemm<(int)4>(float*)"})
      .work({10, 22, stream, 0, "void gemm<4>(float*)"})
      .work({30, 35, stream, 0, "void gemm<4>(float*)"})
      .work({40, 41, stream, 0, "void gemm<4>(float*)"});
  Timeline timeline = builder.window(0, 100).build();
  timeline.shapes = {{{4, 1, 1}, {128, 1, 1}, 32, 16, 0},
                     {{4, 1, 1}, {128, 1, 1}, 32, 16, 48},
                     {{8, 1, 1}, {128, 1, 1}, 32, 0, 0}};
  for (RowIndex i = 0; i < 3; ++i) timeline.work[i].shape = i;
  return timeline;
}

std::vector<std::string> shapes_of(const std::vector<KernelUse>& rows) {
  std::vector<std::string> texts;
  for (const KernelUse& row : rows) {
    std::string text = row.printed_name + " " + std::to_string(row.total_ns) + ":";
    for (const std::uint32_t size : row.grid) text += " " + std::to_string(size);
    text += "; shared " + std::to_string(row.shared_bytes);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(GroupKernels, DistinguishesNamesAndShapesAsAsked) {
  const Timeline timeline = two_spellings();
  using Shape = KernelKeys::Shape;
  EXPECT_THAT(shapes_of(group_kernels(timeline).rows),
              ElementsAre("void gemm<(int)4>(float*) 28:; shared 0"));
  EXPECT_THAT(
      shapes_of(group_kernels(timeline, {.spelling = true}).rows),
      ElementsAre("void gemm<4>(float*) 18:; shared 0", "void gemm<(int)4>(float*) 10:; shared 0"));
  EXPECT_THAT(shapes_of(group_kernels(timeline, {.shape = Shape::GridAndBlock}).rows),
              ElementsAre("void gemm<(int)4>(float*) 22: 4 1 1; shared 0",
                          "void gemm<(int)4>(float*) 5: 8 1 1; shared 0",
                          "void gemm<(int)4>(float*) 1:; shared 0"));
  EXPECT_THAT(shapes_of(group_kernels(timeline, {.shape = Shape::Whole}).rows),
              ElementsAre("void gemm<(int)4>(float*) 12: 4 1 1; shared 64",
                          "void gemm<(int)4>(float*) 10: 4 1 1; shared 16",
                          "void gemm<(int)4>(float*) 5: 8 1 1; shared 0",
                          "void gemm<(int)4>(float*) 1:; shared 0"));
  for (const KernelUse& row : group_kernels(timeline, {.spelling = true}).rows) {
    EXPECT_EQ(row.name, "gemm<4>(float*)");
    EXPECT_EQ(row.short_name, "gemm");
  }
}

TEST(GroupKernels, NamesClasses) {
  const auto classes = kernels::Classifier::create({{{"mine", {"gemm"}, {}}}});
  ASSERT_TRUE(classes) << classes.error().to_string();
  const KernelUses uses = group_kernels(two_kernels(), {}, {.classes = &*classes});
  EXPECT_EQ(uses.rows[0].kernel_class, "mine");
  EXPECT_EQ(uses.rows[1].kernel_class, "other");
}

TEST(GroupKernels, GroupsRowsAgain) {
  const KernelUses fine = group_kernels(
      two_spellings(), {.spelling = true, .shape = KernelKeys::Shape::Whole, .ranges = true});
  const auto groups = group_kernels(fine.rows, {.shape = KernelKeys::Shape::GridAndBlock});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].all.name, "gemm<4>(float*)");
  EXPECT_EQ(groups[0].all.grid, (std::vector<std::uint32_t>{4, 1, 1}));
  EXPECT_EQ(groups[0].all.launches, 2U);
  EXPECT_EQ(groups[0].all.total_ns, 22);
  EXPECT_EQ(groups[0].all.min_ns, 10);
  EXPECT_EQ(groups[0].all.max_ns, 12);
  EXPECT_EQ(groups[0].all.shared_bytes, 0U);
  EXPECT_TRUE(groups[0].all.launch_recorded) << "ranges were not asked for";
  EXPECT_THAT(groups[0].members, ElementsAre(0, 1));
  EXPECT_THAT(groups[1].members, ElementsAre(2));
  const auto all = group_kernels(fine.rows, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].all.total_ns, 28);
  EXPECT_THAT(all[0].members, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(group_kernels(std::vector<KernelUse>(), {}).empty());
}

TEST(GroupKernels, TakesTheMeanOfTheMiddleTwoForTheMedian) {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  for (const std::int64_t end : {1, 2, 5, 100}) builder.work({0, end, stream});
  EXPECT_DOUBLE_EQ(group_kernels(builder.window(0, 100).build()).rows[0].median_ns, 3.5);
}

TEST(GroupKernels, HasEveryKernelOfRandomTimelinesInOneRow) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    const Attribution attribution = Attribution::of(timeline);
    std::uint64_t kernels = 0;
    std::int64_t total_ns = 0;
    for (const DeviceWork& work : timeline.work) {
      if (work.kind != WorkKind::Kernel) continue;
      ++kernels;
      total_ns += work.duration_ns();
    }
    for (const KernelUses& uses :
         {group_kernels(timeline),
          group_kernels(timeline, {.shape = KernelKeys::Shape::Whole, .ranges = true},
                        {.attribution = &attribution})}) {
      std::uint64_t launches = 0;
      std::int64_t sum_ns = 0;
      for (const KernelUse& row : uses.rows) {
        launches += row.launches;
        sum_ns += row.total_ns;
      }
      ASSERT_EQ(launches, kernels);
      ASSERT_EQ(sum_ns, total_ns);
      ASSERT_EQ(uses.launches, kernels);
      ASSERT_EQ(uses.total_ns, total_ns);
    }
  }
}

}  // namespace
}  // namespace profline::timeline
