#include "tools/nsys/stats_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::nsys {
namespace {

using ::testing::ElementsAre;

std::string error_text(const Result<KernelSummary>& summary) {
  return summary ? "no error" : summary.error().to_string();
}

TEST(StatsCsv, ReadsWhatNsys2023Prints) {
  const Result<KernelSummary> summary = read_kernel_summary(
      "Processing [syn.sqlite] with [/opt/nsys/reports/cuda_gpu_kern_sum.py]... \n"
      "\n"
      " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n"
      "\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "71.4,100062496,5,20012499.2,20012681.0,20009525,20014483,1868.8,"
      "\"void gemm<float, 128>(float const*)\"\n"
      "28.6,40000000,1,40000000.0,40000000.0,40000000,40000000,0.0,\"a \"\"b\"\"\"\n"
      "\n");
  ASSERT_TRUE(summary) << error_text(summary);
  ASSERT_EQ(summary->rows.size(), 2U);
  KernelSummaryRow first;
  first.name = "void gemm<float, 128>(float const*)";
  first.instances = 5;
  first.total_ns = 100062496;
  first.time_percent = 71.4;
  first.mean_ns = 20012499.2;
  first.median_ns = 20012681.0;
  first.min_ns = 20009525;
  first.max_ns = 20014483;
  first.stddev_ns = 1868.8;
  EXPECT_EQ(summary->rows[0], first);
  EXPECT_EQ(summary->rows[1].name, "a \"b\"");
  EXPECT_EQ(summary->reading.used, 2U);
  EXPECT_TRUE(summary->reading.skipped.empty());
}

TEST(StatsCsv, KnowsTheSpellingsOfAllReleases) {
  struct Case {
    std::string_view name, text;
  };
  constexpr Case kCases[] = {
      {"2020",
       "Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name\n"
       "60.0,3000,3,1000.0,900,1100,gemm\n"},
      {"calls", "\"Time(%)\",\"Total Time\",\"Calls\",\"Name\"\n60.0,3000,3,gemm\n"},
      {"microseconds", "Time (%),Total Time (us),Instances,Name\n60.0,3.000,3,gemm\n"},
      {"milliseconds", "Time (%),Total Time (msec),Instances,Name\n60.0,0.003,3,gemm\n"},
      {"thousands", "Time (%),Total Time (ns),Instances,Name\n60.0%,\"3,000\",3,gemm\n"},
      {"other order", "Name,Instances,Total Time (ns),Time (%)\ngemm,3,3000,60.0\n"},
      {"windows", "\xEF\xBB\xBFTime (%),Total Time (ns),Instances,Name\r\n60.0,3000,3,gemm\r\n"},
      {"progress before",
       "Processing: [==50% ]\rProcessing: [100%]\r"
       "Time (%),Total Time (ns),Instances,Name\n60.0,3000,3,gemm\n"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Result<KernelSummary> summary = read_kernel_summary(c.text);
    ASSERT_TRUE(summary) << error_text(summary);
    ASSERT_EQ(summary->rows.size(), 1U);
    EXPECT_EQ(summary->rows[0].name, "gemm");
    EXPECT_EQ(summary->rows[0].instances, 3U);
    EXPECT_EQ(summary->rows[0].total_ns, 3000);
    EXPECT_EQ(summary->rows[0].time_percent, 60.0);
  }
}

TEST(StatsCsv, ReadsGridAndBlock) {
  const Result<KernelSummary> summary = read_kernel_summary(
      "Time (%),Total Time (ns),Instances,Avg (ns),GridXYZ,BlockXYZ,Name\n"
      "60.0,3000,3,1000.0,  40    1    1, 384    2    1,gemm\n"
      "40.0,2000,2,1000.0,  40    1,?,gemm\n");
  ASSERT_TRUE(summary) << error_text(summary);
  ASSERT_EQ(summary->rows.size(), 2U);
  EXPECT_EQ(summary->rows[0].grid, (std::array<std::uint32_t, 3>{40, 1, 1}));
  EXPECT_EQ(summary->rows[0].block, (std::array<std::uint32_t, 3>{384, 2, 1}));
  EXPECT_EQ(summary->rows[1].grid, std::nullopt);
  EXPECT_EQ(summary->rows[1].block, std::nullopt);
}

TEST(StatsCsv, TellsOfEachRowItSkips) {
  const Result<KernelSummary> summary = read_kernel_summary(
      "Time (%),Total Time (ns),Instances,Name\n"
      "60.0,3000,3,gemm\n"
      "60.0,3000,many,gemm\n"
      "60.0,3000,3,\n"
      ",never,3,gemm\n"
      "60.0,3000\n"
      "Time (%),Total Time (ns),Count,Operation\n"
      "99.0,500,7,[CUDA memcpy Host-to-Device]\n");
  ASSERT_TRUE(summary) << error_text(summary);
  EXPECT_EQ(summary->rows.size(), 1U);
  EXPECT_THAT(summary->reading.skipped,
              ElementsAre(Reading::Skipped{"'many' is not a number of instances", 1, "line 3"},
                          Reading::Skipped{"no kernel name", 1, "line 4"},
                          Reading::Skipped{"'never' is not a total time", 1, "line 5"},
                          Reading::Skipped{"2 cells where the header has 4", 1, "line 6"},
                          Reading::Skipped{"belongs to another table", 2, "line 7"}));
  EXPECT_EQ(summary->reading.events(), 7U);
}

TEST(StatsCsv, TellsWhatIsNoKernelSummary) {
  constexpr std::string_view kTexts[] = {
      "", "SKIPPED: x.sqlite does not contain CUDA kernel data.\n",
      "Time (%),Total Time (ns),Count,Operation\n99.0,500,7,[CUDA memcpy]\n"};
  for (const std::string_view text : kTexts) {
    EXPECT_EQ(error_text(read_kernel_summary(text, "k.csv")),
              "k.csv: no header of a kernel summary; expected columns like 'Time (%)', 'Total Time "
              "(ns)', 'Instances' and 'Name', as 'nsys stats --report cuda_gpu_kern_sum --format "
              "csv' prints them");
  }
}

}  // namespace
}  // namespace profline::nsys
