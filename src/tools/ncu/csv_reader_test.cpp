// Output of ncu 2025.3.1 on an H200, trimmed.

#include "tools/ncu/csv_reader.h"

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/paths.h"

namespace profline::ncu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kClockNote =
    "ncu warns: Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling "
    "results may be inconsistent.";

CounterReport golden(const std::string& name, const ReadOptions& options = {}) {
  const auto path = testing::source_dir() / "tests/golden/ncu" / name / "input.csv";
  auto report = load_csv(path.string(), options);
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(*report) : CounterReport();
}

/// The number with its unit: `7872 ns`.
std::string counter(const CounterReport& report, const ProfiledKernel& kernel,
                    std::string_view name, std::string_view section = {}) {
  const Counter* found = report.find(kernel, name, section);
  if (found == nullptr) return "none";
  char text[64];
  std::snprintf(text, sizeof text, "%.15g", found->value);
  return std::string(text) + ' ' + report.names.text(found->unit);
}

TEST(NcuCsv, HasOneRecordAKernelOfTheRawPage) {
  const CounterReport report = golden("2025.3-raw-kernels");
  ASSERT_EQ(report.kernels.size(), 6U);
  const ProfiledKernel& gemm = report.kernels[0];
  EXPECT_EQ(gemm.id, 0U);
  EXPECT_EQ(gemm.process, 920);
  EXPECT_EQ(report.names.text(gemm.process_name), "probe");
  EXPECT_EQ(report.names.text(gemm.name), "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT");
  EXPECT_EQ(report.names.text(gemm.device_name), "NVIDIA H200");
  EXPECT_EQ(report.names.text(gemm.compute_capability), "9.0");
  EXPECT_EQ(gemm.context, 1);
  EXPECT_EQ(gemm.stream, 7);
  EXPECT_EQ(gemm.device, 0);
  EXPECT_FALSE(gemm.is_range);
  EXPECT_THAT(gemm.shape.grid, ElementsAre(4, 27, 1));
  EXPECT_THAT(gemm.shape.block, ElementsAre(384, 1, 1));
  EXPECT_EQ(gemm.shape.registers_per_thread, 168U);
  EXPECT_EQ(gemm.shape.dynamic_shared_bytes, 164'308U);
  ASSERT_EQ(gemm.ranges.size(), 1U);
  EXPECT_EQ(report.names.text(gemm.ranges[0].name), "decode");
  EXPECT_EQ(report.names.text(report.kernels[5].name).substr(0, 44),
            "void at::elementwise_kernel<128, 4, void at:");
}

TEST(NcuCsv, HasNumbersInBaseUnitsWithoutSeparators) {
  const CounterReport report = golden("2025.3-raw-kernels");
  const ProfiledKernel& gemm = report.kernels[0];
  EXPECT_EQ(counter(report, gemm, "gpu__time_duration.sum"), "7872 ns");
  EXPECT_EQ(counter(report, gemm, "dram__bytes.sum.per_second"), "2229333333333.33 byte/s");
  EXPECT_EQ(counter(report, gemm, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"), "141557760 ");
  EXPECT_EQ(counter(report, gemm, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), "8.81 %");
  EXPECT_EQ(counter(report, gemm, "smsp__cycles_elapsed.avg.per_second"), "1823946399.98 hz");
  EXPECT_EQ(counter(report, gemm, "launch__registers_per_thread"), "168 register/thread");
  EXPECT_EQ(counter(report, gemm, "launch__kernel_name"), "none");
}

TEST(NcuCsv, AccountsForEveryRowAndCell) {
  const CounterReport report = golden("2025.3-raw-kernels");
  EXPECT_EQ(report.reading.used, 6U);
  EXPECT_EQ(report.reading.events(), 6U);
  EXPECT_THAT(report.reading.notes, ElementsAre(kClockNote));
  // Six rows of 84 columns, 13 of them before the metrics; an empty kernel name and three texts per
  // row.
  EXPECT_EQ(report.cells, (CounterCells{.numbers = 402, .texts = 18, .absent = 6, .left_out = 0}));
}

TEST(NcuCsv, KeepsOnlyWhatIsAskedFor) {
  const CounterReport report = golden(
      "2025.3-raw-kernels",
      {.source = "x.csv", .keep = [](std::string_view name) { return name.starts_with("gpu__"); }});
  EXPECT_EQ(counter(report, report.kernels[1], "gpu__time_duration.sum"), "3520 ns");
  EXPECT_EQ(report.kernels[1].counters.size(), 3U);
  EXPECT_EQ(report.cells.left_out, 6U * 68);
  EXPECT_EQ(report.names.text(report.kernels[1].device_name), "NVIDIA H200");
}

TEST(NcuCsv, HasOneRecordARangeOfTheDetailsPage) {
  const CounterReport report = golden("2025.3-details-range");
  ASSERT_EQ(report.kernels.size(), 2U);
  const ProfiledKernel& range = report.kernels[0];
  EXPECT_TRUE(range.is_range);
  EXPECT_EQ(report.names.text(range.name), "decode");
  EXPECT_EQ(range.process, 1062);
  EXPECT_EQ(range.stream, std::nullopt);
  EXPECT_EQ(counter(report, range, "Duration"), "1005376 ns");
  EXPECT_EQ(counter(report, range, "DRAM Frequency"), "3199392068.24 hz");
  EXPECT_EQ(counter(report, range, "Memory Throughput", "GPU Speed Of Light Throughput"), "7.37 %");
  ASSERT_FALSE(range.advice.empty());
  EXPECT_EQ(report.names.text(range.advice[0].rule), "SOLBottleneck");
  EXPECT_EQ(report.names.text(range.advice[0].kind), "OPT");
  EXPECT_THAT(report.names.text(range.advice[0].text), HasSubstr("grids that are too small"));
  EXPECT_EQ(report.reading.events(), report.reading.used);
}

// The program: ranges pushed in two domains and one started, and a quote in its output.
TEST(NcuCsv, HasTheRangesThatWereOpen) {
  const CounterReport report = golden("2025.3-raw-known-work");
  ASSERT_EQ(report.kernels.size(), 4U);
  const std::vector<OpenRange>& ranges = report.kernels[0].ranges;
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].kind, RangeKind::StartEnd);
  EXPECT_EQ(report.names.text(ranges[0].name), "started");
  EXPECT_EQ(report.names.text(ranges[1].name), "outer");
  EXPECT_EQ(report.names.text(ranges[2].domain), "llm");
  EXPECT_EQ(report.names.text(ranges[2].name), "aten::mm");
}

TEST(NcuCsv, IsTheSameInOnePieceAndInMany) {
  const auto path = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const auto whole = read_csv(*text, {});
  const auto pieces = read_csv(
      [rest = std::string_view(*text)]() mutable -> Result<std::string_view> {
        const std::string_view chunk = rest.substr(0, 17);
        rest.remove_prefix(chunk.size());
        return chunk;
      },
      ReadOptions());
  ASSERT_TRUE(whole && pieces);
  ASSERT_EQ(whole->kernels.size(), pieces->kernels.size());
  for (std::size_t i = 0; i < whole->kernels.size(); ++i) {
    EXPECT_EQ(whole->kernels[i].counters, pieces->kernels[i].counters);
  }
}

TEST(NcuCsv, HoldsForTheWholeFixtures) {
  const auto folder = testing::shared_dir() / "fixtures/h200";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const auto report = load_csv((folder / "ncu-kernel-raw.csv").string(), {});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->kernels.size(), 6U);
  const CounterCells& cells = report->cells;
  EXPECT_EQ(cells.numbers + cells.texts + cells.absent, 6U * (1317 - 13));
  EXPECT_THAT(report->reading.notes, ElementsAre(kClockNote));
}

TEST(NcuCsv, OfAFileThatIsNotThereNamesIt) {
  const auto report = load_csv("/nonexistent/raw.csv", {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().to_string(), "cannot read /nonexistent/raw.csv: no such file");
}

}  // namespace
}  // namespace profline::ncu
