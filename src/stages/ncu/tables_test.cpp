#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kernels/classify.h"
#include "base/files.h"
#include "stages/ncu/internal/captures.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/ncu/csv_reader.h"

namespace profline::stages::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CounterReport golden(const std::string& name) {
  const auto path = testing::source_dir() / "tests/golden/ncu" / name / "input.csv";
  auto report = ncu::load_csv(path.string(), {});
  EXPECT_TRUE(report) << report.error().to_string();
  return report ? std::move(*report) : CounterReport();
}

settings::Ceilings h200() {
  settings::Ceilings ceilings;
  ceilings.device = "NVIDIA H200";
  ceilings.source = "datasheet";
  ceilings.bytes_per_second = 4.8e12;
  ceilings.rates = {
      {settings::Cores::Tensor, settings::Precision::Bf16, settings::Accumulation::Fp32, 989e12},
      {settings::Cores::Vector, settings::Precision::Fp32, settings::Accumulation::Fp32, 67e12}};
  return ceilings;
}

TEST(NcuKernelRows, OfARealCaptureHaveTimeRangesAndAPlaceUnderTheRoof) {
  const auto classifier = kernels::shipped_classifier();
  ASSERT_TRUE(classifier);
  const CounterReport report = golden("2025.3-raw-kernels");
  const NcuKernels table = kernel_rows(report, h200(), *classifier);
  ASSERT_FALSE(table.kernels.empty());
  std::uint64_t launches = 0;
  double before = std::numeric_limits<double>::infinity();
  for (const NcuKernel& kernel : table.kernels) {
    launches += kernel.launches;
    ASSERT_TRUE(kernel.duration_ns);
    const double total = *kernel.duration_ns * static_cast<double>(kernel.launches);
    EXPECT_LE(total, before) << "most time first";
    before = total;
    EXPECT_THAT(kernel.ranges, ElementsAre("decode"));
    EXPECT_EQ(kernel.device_name, "NVIDIA H200");
    EXPECT_NE(kernel.bound, "");
    EXPECT_EQ(kernel.grid.size(), 3U);
  }
  EXPECT_EQ(launches, report.kernels.size());
  EXPECT_EQ(table.launches, launches);
  EXPECT_EQ(table.ceilings_source, "datasheet");
  const std::string page = kernels_page(table);
  EXPECT_THAT(page, HasSubstr("Ceilings: datasheet."));
  EXPECT_THAT(page, HasSubstr("| `decode` |"));
}

TEST(NcuRegionRows, AreThoseThatWereReplayed) {
  const CounterReport report = golden("2025.3-details-range");
  const std::vector<NcuRegion> regions = region_rows(report);
  ASSERT_FALSE(regions.empty());
  EXPECT_EQ(regions[0].name, "decode");
  EXPECT_EQ(regions[0].parent, "");
  EXPECT_EQ(regions[0].depth, 0U);
  EXPECT_EQ(regions[0].folder, "decode");
  EXPECT_GT(regions[0].instances, 0U);
  EXPECT_GT(regions[0].duration_ns, 0.0);
  EXPECT_FALSE(regions[0].counters.empty());
  EXPECT_TRUE(region_rows(golden("2025.3-raw-kernels")).empty()) << "kernels are no regions";
}

TEST(NcuRegionRows, OfNestedRangesHaveParentsAndFoldersOfTheirOwn) {
  CounterReport report;
  ProfiledKernel range;
  range.is_range = true;
  const OpenRange a{0, report.names.id_of("A"), RangeKind::PushPop};
  const OpenRange a1{0, report.names.id_of("A1"), RangeKind::PushPop};
  const OpenRange odd{0, report.names.id_of("A A1"), RangeKind::PushPop};
  range.name = a.name;
  range.ranges = {a};
  report.kernels.push_back(range);
  range.name = a1.name;
  range.ranges = {a, a1};
  report.kernels.push_back(range);
  report.kernels.push_back(range);
  range.name = odd.name;
  range.ranges = {odd};
  report.kernels.push_back(range);
  range.ranges = {{0, report.names.id_of("A/A1"), RangeKind::PushPop}};
  report.kernels.push_back(range);
  const std::vector<NcuRegion> regions = region_rows(report);
  ASSERT_EQ(regions.size(), 4U);
  EXPECT_EQ(regions[1].name, "A::A1");
  EXPECT_EQ(regions[1].parent, "A");
  EXPECT_EQ(regions[1].depth, 1U);
  EXPECT_EQ(regions[1].folder, "A__A1");
  EXPECT_EQ(regions[1].instances, 2U);
  EXPECT_EQ(regions[1].duration_ns, std::nullopt) << "no time was collected, none is made up";
  EXPECT_EQ(regions[2].folder, "A_A1");
  EXPECT_EQ(regions[3].folder, "A_A1-2");
}

TEST(NcuRegions, AreWrittenTogetherAndApart) {
  const testing::TempDir folder;
  NcuRegions regions{.tool = "ncu 2024.1.1", .replay_mode = "range", .regions = {}};
  regions.regions = region_rows(golden("2025.3-details-range"));
  ASSERT_TRUE(write_regions(regions, folder / "regions"));
  const auto text = read_file(folder / "regions/report.json");
  ASSERT_TRUE(text);
  const auto back = from_document<NcuRegions>(*text, "report.json");
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, regions);
  EXPECT_THAT(*read_file(folder / "regions/report.md"), HasSubstr("| `decode` | `decode` | 0 |"));
  for (const char* name : {"report.json", "report.md"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "regions/decode" / name)) << name;
  }
}

}  // namespace
}  // namespace profline::stages::internal
