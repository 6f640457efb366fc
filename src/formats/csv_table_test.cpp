#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/csv.h"
#include "testing/paths.h"

namespace profline::csv {
namespace {

template <typename T>
std::string error_text(const Result<T>& result) {
  return result ? "a value: " + std::to_string(*result) : result.error().to_string();
}

TEST(CsvNumber, ReadsNumbersWithAndWithoutCommas) {
  struct Case {
    std::string_view text;
    double value;
  };
  constexpr Case kCases[] = {
      {"0", 0},          {"-1.5", -1.5},
      {"1e3", 1000},     {"1,234,567.5", 1234567.5},
      {"12,345", 12345}, {"-3,199,392,068.24", -3199392068.24},
      {"1234", 1234},    {"1,000e2", 100000},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Result<double> number = parse_number(c.text, Thousands::Commas);
    ASSERT_TRUE(number) << number.error().to_string();
    EXPECT_EQ(*number, c.value);
  }
}

TEST(CsvNumber, RefusesWhatIsNotAllNumber) {
  for (const char* text :
       {"",      " ",      "1 ",        " 1",    "10us",     "n/a",      "+1",
        "1.2.3", "--1",    "0x10",      "1,5",   "1,2345",   "1234,567", ",123",
        "123,",  "1,,234", "1,234.5,6", "-,123", "1,234,56", "1,234x",   "1 234"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(error_text(parse_number(text, Thousands::Commas)),
              "'" + std::string(text) + "' is not a number");
  }
  EXPECT_EQ(error_text(parse_number("1,234")), "'1,234' is not a number");
  for (const char* text : {"nan", "inf", "-inf"}) {
    EXPECT_EQ(error_text(parse_number(text)), "'" + std::string(text) + "' is not a finite number");
  }
  EXPECT_EQ(error_text(parse_number("1e999")), "'1e999' is not a number in range");
  EXPECT_EQ(error_text(parse_number(std::string(50, 'x'))),
            "'" + std::string(40, 'x') + "...' is not a number");
}

TEST(CsvNumber, ReadsIntegersExactly) {
  EXPECT_EQ(*parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_integer("-9,223,372,036,854,775,808", Thousands::Commas),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(error_text(parse_integer("9223372036854775808")),
            "'9223372036854775808' is not an integer in range");
  EXPECT_EQ(error_text(parse_integer("9,223,372,036,854,775,808", Thousands::Commas)),
            "'9,223,372,036,854,775,808' is not an integer in range");
  EXPECT_EQ(error_text(parse_integer("71.0")), "'71.0' is not an integer");
  EXPECT_EQ(error_text(parse_integer("1,234")), "'1,234' is not an integer");
}

TEST(CsvNumber, ReadsPercentages) {
  EXPECT_EQ(*parse_percent("71.4%"), 71.4);
  EXPECT_EQ(*parse_percent("-3 %"), -3);
  EXPECT_EQ(*parse_percent("1,200%", Thousands::Commas), 1200);
  for (const char* text : {"71.4", "%", "71.4%%", "71.4  %", "x%", "nan%"}) {
    EXPECT_EQ(error_text(parse_percent(text)), "'" + std::string(text) + "' is not a percentage");
  }
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kKernels =
    "Time (%),Total Time (ns),Instances,Name\n"
    "71.4,100062496,5,gemm\n"
    "28.6,40062496,7,\"void copy<4, 2>(float*)\"\n";

std::string error_of(std::string_view text, const TableOptions& options) {
  const Result<TableReader> table = TableReader::open(Reader(text), options);
  return table ? "no error" : table.error().to_string();
}

/// The cells of one column in all rows.
std::vector<std::string> column(TableReader& table, std::string_view name) {
  std::vector<std::string> cells;
  const Result<std::size_t> index = table.header().require(name);
  if (!index) return {index.error().to_string()};
  while (true) {
    const Result<const Record*> row = table.next();
    if (!row) return {row.error().to_string()};
    if (*row == nullptr) return cells;
    cells.emplace_back((*row)->cells[*index]);
  }
}

TEST(CsvTable, FindsColumnsByName) {
  Result<TableReader> table = TableReader::open(Reader(kKernels), {.required = {"Name"}});
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->header().find("Instances"), 2U);
  EXPECT_EQ(table->header().find("instances"), std::nullopt);
  EXPECT_THAT(column(*table, "Name"), ElementsAre("gemm", "void copy<4, 2>(float*)"));
  EXPECT_THAT(table->preamble(), IsEmpty());
}

TEST(CsvTable, TellsWhatIsWrongWithAHeader) {
  struct Case {
    std::string_view name, text;
    TableOptions options;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"a near name",
       kKernels,
       {.required = {"Total Time"}},
       "line 1: no column 'Total Time' (nearest: 'Total Time (ns)')"},
      {"nothing near",
       kKernels,
       {.required = {"gpu__time_duration.sum"}},
       "line 1: no column 'gpu__time_duration.sum'"},
      {"several at once",
       kKernels,
       {.required = {"Names", "Name", "Instance"}},
       "line 1: no column 'Names' (nearest: 'Name')\n"
       "line 1: no column 'Instance' (nearest: 'Instances')"},
      {"twice", "\na,b,a\n", {.required = {"a"}}, "line 2: column 'a' occurs twice"},
      {"empty", "", {.required = {"a"}}, "no header: the input has no records"},
      {"empty lines", "\n\n", {}, "no header: the input has no records"},
      {"no header after a preamble",
       "==PROF== x\n==ERROR== \"y\n",
       {.required = {"ID", "Name"}, .preamble = true},
       "no header with 'ID', 'Name' in 2 lines"},
      {"most of a header after a preamble",
       "==PROF== x\nName,Value\nID,Kernel Nam,Value\n1,2,3\n",
       {.required = {"ID", "Kernel Name", "Value"}, .preamble = true},
       "line 3: no column 'Kernel Name' (nearest: 'Kernel Nam')"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(error_of(c.text, c.options), c.error);
  }
}

TEST(CsvTable, PassesOverAPreamble) {
  constexpr std::string_view kText =
      "==PROF== Connected to process 920 (/bin/a)\n"
      "==PROF== Profiling \"gemm: 0%....50%\n"
      "\n"
      "\"ID\",\"Kernel Name\"\n\"0\",\"gemm\"\n==WARNING== late\n\"1\",\"copy\"\n";
  Result<TableReader> table =
      TableReader::open(Reader(kText), {.required = {"Kernel Name"}, .preamble = true});
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_THAT(table->preamble(), ElementsAre("==PROF== Connected to process 920 (/bin/a)",
                                             "==PROF== Profiling \"gemm: 0%....50%", ""));
  EXPECT_THAT(column(*table, "Kernel Name"), ElementsAre("gemm", "copy"));
  EXPECT_THAT(table->skipped().to_strings(), ElementsAre("line 6: 1 cell where the header has 2"));
}

TEST(CsvTable, TellsOfRaggedRowsAndKeepsTheRest) {
  constexpr std::string_view kText = "a,b,c\n1,2\n1,2,3\n1,2,3,4\n1\n4,5,6\n";
  Result<TableReader> strict = TableReader::open(Reader(kText), {.required = {"b"}});
  ASSERT_TRUE(strict);
  EXPECT_THAT(column(*strict, "b"), ElementsAre("2", "5"));
  EXPECT_THAT(strict->skipped().to_strings(), ElementsAre("line 2: 2 cells where the header has 3",
                                                          "line 4: 4 cells where the header has 3",
                                                          "line 5: 1 cell where the header has 3"));

  Result<TableReader> padding =
      TableReader::open(Reader(kText), {.required = {"b"}, .short_rows = ShortRows::Pad});
  ASSERT_TRUE(padding);
  EXPECT_THAT(column(*padding, "c"), ElementsAre("", "3", "6"));
  EXPECT_THAT(padding->skipped().to_strings(),
              ElementsAre("line 4: 4 cells where the header has 3",
                          "line 5: 1 cell where the header has 3"));
}

TEST(CsvTable, TakesComplaintsAboutItsRows) {
  Result<TableReader> table = TableReader::open(Reader("n\n1\nx\n"), {});
  ASSERT_TRUE(table);
  ASSERT_TRUE(table->next());
  ASSERT_TRUE(table->next());
  table->skip("not a kernel row");
  EXPECT_THAT(table->skipped().to_strings(), ElementsAre("line 3: not a kernel row"));
}

std::string fixture(const std::string& name) {
  std::ifstream stream(testing::shared_dir() / "fixtures" / "h200" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(CsvTable, ReadsWhatNcuWritesForKernels) {
  const std::string text = fixture("ncu-kernel-raw.csv");
  if (text.empty()) GTEST_SKIP() << "no ncu-kernel-raw.csv in " << testing::shared_dir();
  Result<TableReader> table = TableReader::open(
      Reader(text),
      {.required = {"ID", "Kernel Name", "gpu__time_duration.sum"}, .preamble = true});
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_THAT(table->preamble(), SizeIs(3));
  EXPECT_THAT(table->header().names(), SizeIs(1317));
  const std::vector<std::string> times = column(*table, "gpu__time_duration.sum");
  ASSERT_THAT(times, SizeIs(7));  // the units, then six kernels
  EXPECT_EQ(times.front(), "ns");
  for (std::size_t i = 1; i < times.size(); ++i) {
    const Result<double> nanoseconds = parse_number(times[i], Thousands::Commas);
    ASSERT_TRUE(nanoseconds) << nanoseconds.error().to_string();
    EXPECT_GT(*nanoseconds, 0);
  }
  EXPECT_TRUE(table->skipped().empty());
}

TEST(CsvTable, ReadsWhatNcuWritesForRanges) {
  const std::string text = fixture("ncu-range-details.csv");
  if (text.empty()) GTEST_SKIP() << "no ncu-range-details.csv in " << testing::shared_dir();
  const TableOptions options = {.required = {"Kernel Name", "Metric Name", "Metric Value"},
                                .preamble = true,
                                .short_rows = ShortRows::Pad};
  Result<TableReader> table = TableReader::open(Reader(text), options);
  ASSERT_TRUE(table) << table.error().to_string();
  const std::vector<std::string> values = column(*table, "Metric Value");
  ASSERT_THAT(values, SizeIs(22));
  EXPECT_EQ(*parse_number(values.front(), Thousands::Commas), 3199392068.24);
  EXPECT_TRUE(table->skipped().empty());
}

}  // namespace
}  // namespace profline::csv
