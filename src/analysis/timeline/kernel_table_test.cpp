#include "analysis/timeline/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timeline/testing_timeline.h"

namespace profline::timeline {
namespace {

using ::testing::ElementsAre;

struct Row {
  std::string name;
  std::string range;
  std::uint64_t instances;
  std::int64_t total_ns;
  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const Timeline& timeline, const KernelTable& table) {
  std::vector<Row> rows;
  for (const KernelRow& row : table.rows) {
    const std::string range = !row.launched   ? "no launch"
                              : !row.in_range ? "outside"
                                              : timeline.names.text(row.range);
    rows.push_back({timeline.names.text(row.name), range, row.instances, row.total_ns});
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

TEST(KernelTable, SummarisesByName) {
  const Timeline timeline = two_kernels();
  const KernelTable table = kernel_table(timeline);
  EXPECT_THAT(rows_of(timeline, table),
              ElementsAre(Row{"gemm", "outside", 3, 21}, Row{"softmax", "outside", 1, 1}));
  EXPECT_EQ(table.total_ns, 22);
  EXPECT_EQ(table.instances, 4U);
  EXPECT_DOUBLE_EQ(table.share(table.rows[0]), 100.0 * 21 / 22);
  EXPECT_DOUBLE_EQ(table.rows[0].mean_ns(), 7);
  EXPECT_DOUBLE_EQ(table.rows[0].median_ns, 7);
  EXPECT_EQ(table.rows[0].min_ns, 4);
  EXPECT_EQ(table.rows[0].max_ns, 10);
  EXPECT_DOUBLE_EQ(table.rows[0].stddev_ns, 3) << "of the sample 10, 4, 7";
  EXPECT_DOUBLE_EQ(table.rows[1].stddev_ns, 0);
}

TEST(KernelTable, TellsRangesApartAndFiltersByThem) {
  const Timeline timeline = two_kernels();
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(
      rows_of(timeline, kernel_table(timeline, {.by_range = true, .attribution = &attribution})),
      ElementsAre(Row{"gemm", "layer", 2, 11}, Row{"gemm", "decode", 1, 10},
                  Row{"softmax", "no launch", 1, 1}));
  EXPECT_THAT(
      rows_of(timeline, kernel_table(timeline, {.inside = "decode", .attribution = &attribution})),
      ElementsAre(Row{"gemm", "outside", 3, 21}));
  EXPECT_THAT(rows_of(timeline, kernel_table(timeline, {.device = 1})),
              ElementsAre(Row{"softmax", "outside", 1, 1}));
  EXPECT_THAT(rows_of(timeline, copy_table(timeline)),
              ElementsAre(Row{"[copy]", "outside", 1, 20}));
}

TEST(KernelTable, TellsOperatorsApart) {
  Timeline timeline = two_kernels();
  timeline.operators.push_back({9, 40, timeline.names.id_of("aten::mm"), 0, 0, 0});
  timeline.calls[0].op = 0;
  std::vector<std::string> rows;
  for (const KernelRow& row : kernel_table(timeline, {.by_operator = true}).rows) {
    rows.push_back(timeline.names.text(row.name) + " of '" + timeline.names.text(row.op) + "' " +
                   std::to_string(row.total_ns));
  }
  EXPECT_THAT(rows, ElementsAre("gemm of '' 11", "gemm of 'aten::mm' 10", "softmax of '' 1"));
}

TEST(KernelTable, TakesTheMeanOfTheMiddleTwoForTheMedian) {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  for (const std::int64_t end : {1, 2, 5, 100}) builder.work({0, end, stream});
  const Timeline timeline = builder.window(0, 100).build();
  EXPECT_DOUBLE_EQ(kernel_table(timeline).rows[0].median_ns, 3.5);
}

TEST(KernelTable, HasEveryKernelOfRandomTimelinesInOneRow) {
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
    for (const KernelTable& table :
         {kernel_table(timeline),
          kernel_table(timeline,
                       {.by_shape = true, .by_range = true, .attribution = &attribution})}) {
      std::uint64_t instances = 0;
      std::int64_t sum_ns = 0;
      for (const KernelRow& row : table.rows) {
        instances += row.instances;
        sum_ns += row.total_ns;
      }
      ASSERT_EQ(instances, kernels);
      ASSERT_EQ(sum_ns, total_ns);
      ASSERT_EQ(table.instances, kernels);
      ASSERT_EQ(table.total_ns, total_ns);
    }
  }
}

}  // namespace
}  // namespace profline::timeline
