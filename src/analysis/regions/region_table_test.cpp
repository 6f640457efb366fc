#include "analysis/regions/region_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/paths.h"
#include "tools/ncu/csv_reader.h"

namespace profline::regions {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A report made by hand: rows with a duration, in ranges.
class Made {
 public:
  Made& row(const std::string& name, bool is_range, double ns,
            const std::vector<std::string>& ranges) {
    ProfiledKernel kernel;
    kernel.id = report.kernels.size();
    kernel.name = report.names.id_of(name);
    kernel.is_range = is_range;
    for (const std::string& range : ranges) {
      kernel.ranges.push_back({.name = report.names.id_of(range)});
    }
    kernel.counters.push_back({.name = report.names.id_of("gpu__time_duration.sum"),
                               .unit = report.names.id_of("ns"),
                               .value = ns});
    report.kernels.push_back(std::move(kernel));
    return *this;
  }
  Made& kernel(const std::string& name, double ns, const std::vector<std::string>& ranges) {
    return row(name, false, ns, ranges);
  }
  Made& range(double ns, const std::vector<std::string>& ranges) {
    return row(ranges.back(), true, ns, ranges);
  }

  /// For the previous row.
  Made& instructions(double count) {
    report.kernels.back().counters.push_back(
        {.name = report.names.id_of(kInstructions), .value = count});
    return *this;
  }

  CounterReport report;
};

Made kernels_in_ranges() {
  Made made;
  made.kernel("conv", 100, {"residual", "block.conv1"})
      .kernel("conv", 100, {"residual", "block.conv1"})
      .kernel("bias", 10, {"residual", "block.conv1"})
      .kernel("conv", 50, {"residual", "block.conv2"})
      .kernel("relu", 7, {"residual"})
      .kernel("pool", 3, {"head"});
  return made;
}

std::vector<NcuRegion> table_of(const CounterReport& report, const Rules& rules = {}) {
  auto table = region_table(report, rules);
  EXPECT_TRUE(table) << table.error().to_string();
  return table ? *std::move(table) : std::vector<NcuRegion>();
}

std::string as_text(const std::vector<NcuRegion>& regions) {
  std::string text;
  for (const NcuRegion& region : regions) {
    text += region.name + " " + std::to_string(static_cast<int>(region.inclusive_ns.value_or(-1))) +
            " " + std::to_string(static_cast<int>(region.exclusive_ns.value_or(-1))) + "\n";
  }
  return text;
}

TEST(RegionTable, SumsKernelsInclusiveAndExclusive) {
  const std::vector<NcuRegion> regions = table_of(kernels_in_ranges().report);
  EXPECT_EQ(as_text(regions),
            "head 3 3\n"
            "residual 267 7\n"
            "residual::block.conv1 210 210\n"
            "residual::block.conv2 50 50\n");
  const NcuRegion& residual = regions[1];
  EXPECT_EQ(residual.reconciles, true);
  EXPECT_EQ(residual.children_ns, 260);
  EXPECT_EQ(residual.source, RegionSource::Kernels);
  EXPECT_THAT(residual.kernels,
              ElementsAre(NcuRegionKernel{"conv", 3, 250}, NcuRegionKernel{"bias", 1, 10},
                          NcuRegionKernel{"relu", 1, 7}));
  EXPECT_EQ(regions[2].parent, "residual");
  EXPECT_EQ(regions[2].folder, "residual__block.conv1");
  double exclusive = 0;
  for (const NcuRegion& region : regions) exclusive += *region.exclusive_ns;
  EXPECT_EQ(exclusive, 270) << "every launch once";
}

TEST(RegionTable, LeavesOutWhatItsRulesSay) {
  Rules rules;
  rules.exclude = {{"residual::block.conv1", "bias"}, {"", "^pool$"}};
  const std::vector<NcuRegion> regions = table_of(kernels_in_ranges().report, rules);
  EXPECT_EQ(as_text(regions),
            "head -1 -1\n"
            "residual 267 7\n"
            "residual::block.conv1 200 200\n"
            "residual::block.conv2 50 50\n");
  EXPECT_EQ(regions[0].launches_left_out, 1U);
  rules.include = {{"residual::block.conv1", "bias|conv"}, {"residual", "relu"}};
  EXPECT_EQ(as_text(table_of(kernels_in_ranges().report, rules)),
            "head -1 -1\n"
            "residual 7 7\n"
            "residual::block.conv1 200 200\n"
            "residual::block.conv2 50 50\n")
      << "exclude wins";
}

TEST(RegionTable, TakesAReplayedRangeAsItWasMeasured) {
  Made made;
  made.range(100, {"residual"})
      .range(110, {"residual"})
      .range(60, {"residual", "a"})
      .range(40, {"residual", "a"})
      .range(30, {"other", "inner"});
  const std::vector<NcuRegion> regions = table_of(made.report);
  EXPECT_EQ(as_text(regions),
            "other 30 0\n"
            "other::inner 30 30\n"
            "residual 210 110\n"
            "residual::a 100 100\n");
  EXPECT_EQ(regions[0].source, RegionSource::Children);
  EXPECT_EQ(regions[2].source, RegionSource::Range);
  EXPECT_EQ(regions[2].instances, 2U);
  EXPECT_EQ(regions[2].duration_ns, 105);
  EXPECT_EQ(regions[2].reconciles, true);
}

TEST(RegionTable, SaysWhenChildrenComeToMoreThanTheirParent) {
  Made made;
  made.range(100, {"p"}).range(60, {"p", "a"}).range(45, {"p", "b"});
  const std::vector<NcuRegion> regions = table_of(made.report);
  EXPECT_EQ(regions[0].reconciles, false);
  EXPECT_EQ(regions[0].exclusive_ns, 0);
}

TEST(RegionTable, RefusesRulesItCannotKeep) {
  Made made;
  made.range(100, {"p"});
  Rules rules;
  rules.exclude = {{"", "x"}};
  const auto whole = region_table(made.report, rules);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message(),
            "ranges were replayed as a whole, so no kernel can be excluded from them: capture with "
            "replay_mode=kernel to choose kernels by region");
  rules.exclude = {{"", "("}};
  EXPECT_FALSE(region_table(kernels_in_ranges().report, rules));
}

TEST(RegionTable, OfARealRangeIsOneRow) {
  const auto report =
      ncu::load_csv(testing::source_dir() / "tests/golden/ncu/2025.3-details-range/input.csv", {});
  ASSERT_TRUE(report) << report.error().to_string();
  const std::vector<NcuRegion> regions = table_of(*report);
  ASSERT_THAT(regions, SizeIs(1));
  EXPECT_EQ(regions[0].name, "decode");
  EXPECT_GT(regions[0].inclusive_ns.value_or(0), 0);
}

TEST(KernelRule, MayNameARegion) {
  EXPECT_EQ(parse_kernel_rule("copy").region, "");
  EXPECT_EQ(parse_kernel_rule("A::A1=copy.*").region, "A::A1");
  EXPECT_EQ(parse_kernel_rule("A::A1=copy.*").regex, "copy.*");
  EXPECT_EQ(parse_kernel_rule("a(?=b)").regex, "a(?=b)");
}

// As measured: each range waits for the device, so the parts take longer than the whole.
TEST(RegionTable, AddsUpByWorkWhereThatWasCounted) {
  Made made;
  made.range(700, {"A"}).instructions(1000);
  made.range(400, {"A", "A1"}).instructions(300);
  made.range(450, {"A", "A1"}).instructions(300);
  made.range(350, {"A", "A2"}).instructions(395);
  std::vector<NcuRegion> regions = table_of(made.report);
  ASSERT_THAT(regions, SizeIs(3));
  EXPECT_EQ(regions[0].children_ns, 1200);
  EXPECT_EQ(regions[0].instructions, 1000);
  EXPECT_EQ(regions[0].children_instructions, 995);
  EXPECT_EQ(regions[0].reconciles, true);
  EXPECT_EQ(regions[1].instructions, 600);
  made.range(1, {"A", "A2"}).instructions(20);
  regions = table_of(made.report);
  EXPECT_EQ(regions[0].reconciles, false) << "1015 of 1000 is more than one percent";
}

}  // namespace
}  // namespace profline::regions
