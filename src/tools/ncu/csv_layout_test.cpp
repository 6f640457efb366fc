// Tables in the formats of other versions and options of ncu, and broken tables. The layouts are
// those of the real tools, the numbers are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/ncu/csv_reader.h"

namespace profline::ncu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CounterReport read(std::string_view text) {
  auto report = read_csv(text, {.source = "x.csv", .keep = {}});
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(*report) : CounterReport();
}

std::string failure(std::string_view text) {
  const auto report = read_csv(text, {.source = "x.csv", .keep = {}});
  EXPECT_FALSE(report);
  return report ? "" : report.error().to_string();
}

double value(const CounterReport& report, std::size_t kernel, std::string_view name,
             std::string_view section = {}) {
  const Counter* counter = report.find(report.kernels.at(kernel), name, section);
  return counter == nullptr ? -1 : counter->value;
}

TEST(NcuLayout, Of2022HasNoShapeColumnsButMetrics) {
  const CounterReport report = read(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\","
      "\"Context\",\"Stream\",\"device__attribute_compute_capability_major\","
      "\"device__attribute_compute_capability_minor\",\"device__attribute_display_name\","
      "\"gpu__time_duration.sum\",\"launch__block_dim_x\",\"launch__block_dim_y\","
      "\"launch__block_dim_z\",\"launch__grid_dim_x\",\"launch__grid_dim_y\","
      "\"launch__grid_dim_z\",\"launch__shared_mem_per_block_dynamic\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"usecond\",\"block\",\"block\","
      "\"block\",\"\",\"\",\"\",\"Kbyte/block\"\n"
      "\"0\",\"7\",\"app\",\"127.0.0.1\",\"k(int)\",\"2022-Sep-01 10:00:00\",\"1\",\"7\",\"8\","
      "\"6\",\"NVIDIA RTX A4500\",\"31.872000\",\"16\",\"16\",\"1\",\"64\",\"64\",\"1\","
      "\"4.096\"\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  const ProfiledKernel& kernel = report.kernels[0];
  EXPECT_THAT(kernel.shape.grid, ElementsAre(64, 64, 1));
  EXPECT_THAT(kernel.shape.block, ElementsAre(16, 16, 1));
  EXPECT_EQ(kernel.shape.dynamic_shared_bytes, 4096U);
  EXPECT_EQ(report.names.text(kernel.compute_capability), "8.6");
  EXPECT_EQ(report.names.text(kernel.device_name), "NVIDIA RTX A4500");
  EXPECT_DOUBLE_EQ(value(report, 0, "gpu__time_duration.sum"), 31872);
}

TEST(NcuLayout, OfDetailsHasUnitsInAColumnAndRowsThatEndEarly) {
  const CounterReport report = read(
      "==PROF== Connected to process 7 (/usr/bin/app)\n"
      "step \"1 done\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\","
      "\"Device\",\"CC\",\"Section Name\",\"Body Item Label\",\"Metric Name\",\"Metric Unit\","
      "\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n"
      "\"0\",\"7\",\"k\",\"1\",\"7\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"0\",\"8.6\",\"SOL\",\"\","
      "\"Memory Throughput\",\"%\",\"46.51\",\n"
      "\"0\",\"7\",\"k\",\"1\",\"7\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"0\",\"8.6\",\"Memory\",\"\","
      "\"Memory Throughput\",\"Gbyte/second\",\"2.50\",\n"
      "\"0\",\"7\",\"k\",\"1\",\"7\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"0\",\"8.6\",\"SOL\",\"\","
      "\"\",\"\",\"\",\"Hint\",\"INF\",\"use more blocks\"\n"
      "\"1\",\"7\",\"k\",\"1\",\"7\",\"(8, 1, 1)\",\"(2, 1, 1)\",\"1\",\"8.6\",\"SOL\",\"\","
      "\"Duration (gpu__time_duration.sum)\",\"msecond\",\"1.5\",\n");
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(value(report, 0, "Memory Throughput", "SOL"), 46.51);
  EXPECT_EQ(value(report, 0, "Memory Throughput", "Memory"), 2.5e9);
  ASSERT_EQ(report.kernels[0].advice.size(), 1U);
  EXPECT_EQ(report.kernels[1].device, 1);
  EXPECT_EQ(value(report, 1, "gpu__time_duration.sum"), 1.5e6);
  EXPECT_EQ(report.reading.used, 4U);
}

TEST(NcuLayout, OfASummaryHasTheMeanOverLaunches) {
  const CounterReport report = read(
      "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
      "\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\","
      "\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"7\",\" \",\"h\",\"k\",\"(16, 16, 1)\",\"(64, 64, 1)\",\"0\",\"8.6\",\"12\",\"SOL\","
      "\"Duration\",\"usecond\",\"1.0\",\"3.0\",\"2.0\"\n"
      "\"7\",\" \",\"h\",\"k\",\"(16, 16, 1)\",\"(32, 64, 1)\",\"0\",\"8.6\",\"3\",\"SOL\","
      "\"Duration\",\"usecond\",\"1.0\",\"3.0\",\"1.5\"\n");
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[0].id, std::nullopt);
  EXPECT_EQ(report.kernels[0].launches, 12U);
  EXPECT_EQ(value(report, 0, "Duration"), 2000);
  EXPECT_EQ(value(report, 1, "Duration"), 1500);
}

TEST(NcuLayout, OfASummaryByRangeNamesTheRange) {
  const CounterReport report = read(
      "\"Domain\",\"Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\","
      "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\","
      "\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"<default domain>\",\"decode:none:none:none:none:ASCII:decode\",\"k\",\"(1, 1, 1)\","
      "\"(1, 1, 1)\",\"0\",\"9.0\",\"4\",\"SOL\",\"Duration\",\"ns\",\"1\",\"3\",\"2\"\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  ASSERT_EQ(report.kernels[0].ranges.size(), 1U);
  EXPECT_EQ(report.names.text(report.kernels[0].ranges[0].name), "decode");
  EXPECT_EQ(report.kernels[0].ranges[0].domain, 0U);
}

constexpr std::string_view kHeader =
    "\"ID\",\"Kernel Name\",\"a.sum\",\"b.pct\"\n\"\",\"\",\"byte\",\"%\"\n";

TEST(NcuLayout, CellsWithoutANumberAreCountedNotMadeUp) {
  const CounterReport report = read(std::string(kHeader) +
                                    "\"0\",\"k\",\"n/a\",\"nan\"\n"
                                    "\"1\",\"k\",\"\",\"inf\"\n"
                                    "\"2\",\"k\",\"(!) n/a\",\"-nan\"\n"
                                    "\"3\",\"k\",\"Yes\",\"(!) 1.5\"\n");
  EXPECT_EQ(report.kernels.size(), 4U);
  EXPECT_EQ(report.cells, (CounterCells{.numbers = 1, .texts = 1, .absent = 6, .left_out = 0}));
  EXPECT_EQ(value(report, 3, "b.pct"), 1.5);
  EXPECT_EQ(report.names.text(report.kernels[3].texts.at(0).text), "Yes");
}

TEST(NcuLayout, InstancesOfAMetricAreNotItsValue) {
  const CounterReport report = read(std::string(kHeader) +
                                    "\"0\",\"k\",\"2338 (1: 8; 16: 8)\",\"(0; 0.02; 0)\"\n"
                                    "\"1\",\"k\",\"2,338.5 (8; 8)\",\"NVIDIA H200 (NVL)\"\n");
  EXPECT_EQ(value(report, 0, "a.sum"), 2338);
  EXPECT_EQ(value(report, 0, "b.pct"), -1);
  EXPECT_EQ(value(report, 1, "a.sum"), 2338.5);
  EXPECT_EQ(report.names.text(report.kernels[1].texts.at(0).text), "NVIDIA H200 (NVL)");
}

TEST(NcuLayout, NumbersFollowTheLocale) {
  std::string german =
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"b.pct\"\n"
      "\"\",\"\",\"ns\",\"%\"\n";
  for (int i = 0; i < 10; ++i) german += "\"0\",\"k\",\"7.872\",\"46,51\"\n";
  const CounterReport report = read(german);
  EXPECT_EQ(value(report, 0, "gpu__time_duration.sum"), 7872);
  EXPECT_EQ(value(report, 9, "b.pct"), 46.51);
  EXPECT_THAT(report.reading.notes, IsEmpty());
  EXPECT_THAT(read(std::string(kHeader) + "\"0\",\"k\",\"46,51\",\"46.51\"\n").reading.notes,
              ElementsAre("numbers are written in two ways: '.' was taken for the decimal sign"));
}

TEST(NcuLayout, UnknownUnitsAreTold) {
  const CounterReport report =
      read("\"ID\",\"Kernel Name\",\"a.sum\"\n\"\",\"\",\"furlong\"\n\"0\",\"k\",\"3\"\n");
  EXPECT_EQ(value(report, 0, "a.sum"), 3);
  EXPECT_THAT(report.reading.notes,
              ElementsAre("unit 'furlong' is not known: 1 counter kept as written"));
}

TEST(NcuLayout, LinesOfTheLogBetweenRowsAreSkippedAndTold) {
  const CounterReport report = read(std::string(kHeader) +
                                    "\"0\",\"k\",\"1\",\"2\"\n==WARNING== Launch Failed\nhello, "
                                    "world\n\"1\",\"k\",\"3\",\"4\"\n");
  EXPECT_EQ(report.kernels.size(), 2U);
  EXPECT_THAT(report.reading.skipped,
              ElementsAre(Reading::Skipped{"a line of ncu's log", 1, "line 4"},
                          Reading::Skipped{"not as many cells as the header", 1, "line 5"}));
  EXPECT_EQ(report.reading.events(), 4U);
  EXPECT_THAT(report.reading.notes, ElementsAre("ncu warns: Launch Failed"));
}

TEST(NcuLayout, TablesOfSeveralProcessesMayFollowEachOther) {
  const CounterReport report =
      read(std::string(kHeader) + "\"0\",\"k\",\"1\",\"2\"\n" +
           "\"ID\",\"Process ID\",\"Kernel Name\",\"c.sum\"\n\"\",\"\",\"\",\"Kbyte\"\n"
           "\"0\",\"8\",\"m\",\"5\"\n");
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[1].process, 8);
  EXPECT_EQ(value(report, 1, "c.sum"), 5000);
  EXPECT_THAT(report.reading.skipped, IsEmpty());
}

TEST(NcuLayout, TornAndHostileTablesAreToldNotFatal) {
  struct Case {
    std::string_view name, rows, reason;
  };
  constexpr Case kCases[] = {
      {"torn row", "\"1\",\"k\",\"3",
       "quote is never closed; nothing from here to the end was read"},
      {"too many cells", "\"1\",\"k\",\"3\",\"4\",\"5\",\"6\"\n",
       "not as many cells as the header"},
      {"junk after a quote", "\"1\"x,\"k\",\"3\",\"4\"\n", "text after a closing quote"},
      {"invalid UTF-8", "\"1\",\"\xff\xfe\",\"\xc3\",\"4\"\n", ""},
      {"NUL", std::string_view("\"1\",\"k\0l\",\"3\",\"4\"\n", 18), ""},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const CounterReport report =
        read(std::string(kHeader) + "\"0\",\"k\",\"1\",\"2\"\n" + std::string(c.rows));
    ASSERT_GE(report.kernels.size(), 1U);
    EXPECT_EQ(report.reading.events(), 2U);
    const auto& skipped = report.reading.skipped;
    EXPECT_EQ(skipped.empty() ? "" : skipped[0].reason, c.reason);
  }
}

TEST(NcuLayout, ANameOfHalfAMegabyteIsKept) {
  const std::string name(512 << 10, 'x');
  const CounterReport report = read(std::string(kHeader) + "\"0\",\"" + name + "\",\"1\",\"2\"\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.names.text(report.kernels[0].name), name);
}

TEST(NcuLayout, WithoutATableIsAnErrorThatSaysWhy) {
  EXPECT_EQ(failure("==PROF== Connected to process 7\n==WARNING== No kernels were profiled.\n"),
            "x.csv: nothing to read: ncu says 'No kernels were profiled.'");
  EXPECT_EQ(failure("==WARNING== No ranges were profiled.\n"),
            "x.csv: nothing to read: ncu says 'No ranges were profiled.'");
  constexpr std::string_view kNoTable =
      "x.csv: no table of ncu's in it: no line has the columns 'ID' and 'Kernel Name' with "
      "metrics, or 'Kernel Name', 'Metric Name' and 'Metric Value', as --csv --page raw or details "
      "prints";
  EXPECT_EQ(failure(""), kNoTable);
  EXPECT_EQ(failure("Kernel Name,Time\nk,1\n"), kNoTable);
  EXPECT_EQ(failure("\"Kernel Name\",\"k(int)\",\n\"Address\",\"Source\"\n"), kNoTable);
  EXPECT_THAT(failure("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"),
              HasSubstr("ncu failed: ERR_NVGPUCTRPERM"));
}

}  // namespace
}  // namespace profline::ncu
