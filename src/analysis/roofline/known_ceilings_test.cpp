#include "analysis/roofline/known_ceilings.h"

#include <gtest/gtest.h>

namespace profline::roofline {
namespace {

using settings::Accumulation;
using settings::Cores;
using settings::Precision;

settings::Ceilings datasheet() {
  settings::Ceilings ceilings;
  ceilings.device = "NVIDIA H200";
  ceilings.source = "a datasheet";
  ceilings.bytes_per_second = 4.8e12;
  ceilings.rates = {{Cores::Tensor, Precision::Bf16, Accumulation::Fp32, 989.5e12},
                    {Cores::Tensor, Precision::Int8, Accumulation::Fp32, 1979e12}};
  return ceilings;
}

CeilingFigure figure(std::string kind, std::string name, double burst, double sustained) {
  CeilingFigure one;
  one.kind = std::move(kind);
  one.name = std::move(name);
  one.burst.emplace().value = burst;
  one.sustained.emplace().value = sustained;
  return one;
}

MachineCeilings measured() {
  MachineCeilings ceilings;
  ceilings.device = "NVIDIA H200";
  ceilings.device_uuid = "GPU-1";
  ceilings.measured_at = "2026-11-18T20:00:00.000Z";
  ceilings.figures = {figure("memory", "dram read", 3.95e12, 4.6e12),
                      figure("memory", "dram copy", 4.1e12, 4.2e12),
                      figure("memory", "dram write", 4.7e12, 4.65e12),
                      figure("memory", "l2 read", 9e12, 9e12),
                      figure("matrix", "bf16", 800e12, 700e12),
                      figure("matrix", "fp8", 1200e12, 1100e12),
                      figure("matrix", "fp8 fast", 1400e12, 1300e12),
                      figure("matrix", "fp32", 50e12, 49e12)};
  return ceilings;
}

std::optional<std::string> nothing_set(std::string_view /*name*/) {
  return std::nullopt;
}

TEST(MeasuredCeilings, AreTheHighestRatesOfTheirKind) {
  const settings::Ceilings ceilings = measured_ceilings(measured(), datasheet());
  EXPECT_TRUE(ceilings.is_measured);
  EXPECT_EQ(ceilings.peak_name(), "measured peak");
  EXPECT_EQ(ceilings.bytes_per_second, 4.7e12);  // of device memory, not of a cache
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Bf16), 800e12);
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Fp8), 1400e12);
  EXPECT_EQ(ceilings.rate(Cores::Vector, Precision::Fp32), 50e12);
}

TEST(MeasuredCeilings, TakeFromTheDatasheetWhatWasNotMeasured) {
  const settings::Ceilings ceilings = measured_ceilings(measured(), datasheet());
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Int8), 1979e12);
  EXPECT_EQ(ceilings.source,
            "measured on 2026-11-18; memory: dram write in a burst, floors of phases: dram read "
            "sustained; tensor int8 as published: a datasheet");
  MachineCeilings nothing;
  nothing.device = "NVIDIA H200";
  EXPECT_EQ(measured_ceilings(nothing, datasheet()).bytes_per_second, 4.8e12);
}

TEST(MeasuredCeilings, KeepTheRateOfReadsForFloors) {
  const settings::Ceilings ceilings = measured_ceilings(measured(), datasheet());
  EXPECT_EQ(ceilings.read_rate(), 4.6e12);
  EXPECT_EQ(datasheet().read_rate(), 4.8e12) << "a datasheet has one rate for everything";
  MachineCeilings without_reads = measured();
  without_reads.figures.erase(without_reads.figures.begin());
  EXPECT_EQ(measured_ceilings(without_reads, datasheet()).read_rate(), 4.7e12);
}

TEST(ChosenCeilings, AreMeasuredIfThereAreAny) {
  const auto known = choose_ceilings({"auto", datasheet(), measured(), ""}, nothing_set);
  ASSERT_TRUE(known) << known.error().to_string();
  EXPECT_EQ(known->used.bytes_per_second, 4.7e12);
  EXPECT_EQ(known->record.why, "this device was measured");
  ASSERT_EQ(known->record.roofs.size(), 2U);
  EXPECT_EQ(known->record.roofs[0].kind, "measured");
  EXPECT_TRUE(known->record.roofs[0].is_used);
  EXPECT_EQ(known->record.roofs[1].kind, "datasheet");
  EXPECT_FALSE(known->record.roofs[1].is_used);
  EXPECT_EQ(known->record.roofs[1].bytes_per_second, 4.8e12);
}

TEST(ChosenCeilings, AreTheDatasheetsIfNothingWasMeasured) {
  const auto known = choose_ceilings({"auto", datasheet(), {}, "not measured"}, nothing_set);
  ASSERT_TRUE(known) << known.error().to_string();
  EXPECT_EQ(known->used, datasheet());
  EXPECT_EQ(known->used.peak_name(), "datasheet peak");
  EXPECT_EQ(known->record.why, "not measured");
  ASSERT_EQ(known->record.roofs.size(), 1U);
  EXPECT_TRUE(known->record.roofs[0].is_used);
}

TEST(ChosenCeilings, AreTheDatasheetsIfAskedFor) {
  const auto known = choose_ceilings({"datasheet", datasheet(), measured(), ""}, nothing_set);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->used, datasheet());
  ASSERT_EQ(known->record.roofs.size(), 2U);  // both are drawn
  EXPECT_TRUE(known->record.roofs[1].is_used);
}

TEST(ChosenCeilings, ThatDoNotExistAreAnError) {
  const auto known = choose_ceilings({"measured", datasheet(), {}, "not measured"}, nothing_set);
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(known.error().to_string(), "ceilings=measured: not measured");
}

TEST(ChosenCeilings, GiveWayToTheEnvironment) {
  const auto known =
      choose_ceilings({"auto", datasheet(), measured(), ""}, [](std::string_view name) {
        return name == "MEM_BANDWIDTH_GBS" ? std::optional<std::string>("1000") : std::nullopt;
      });
  ASSERT_TRUE(known);
  EXPECT_EQ(known->used.bytes_per_second, 1e12);
  EXPECT_EQ(known->used.read_rate(), 1e12);
  EXPECT_EQ(known->used.peak_name(), "peak");
  ASSERT_EQ(known->record.roofs.size(), 3U);
  EXPECT_EQ(known->record.roofs[0].kind, "given");
  EXPECT_TRUE(known->record.roofs[0].is_used);
  EXPECT_FALSE(known->record.roofs[1].is_used);
}

TEST(ChosenCeilings, OfAnUnknownDeviceAreNone) {
  const auto known = choose_ceilings({"auto", {}, {}, "not measured"}, nothing_set);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->record.roofs.empty());
}

}  // namespace
}  // namespace profline::roofline
