#include "workload/ceilings/measure_ceilings.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "workload/ceilings/internal/bench.h"
#include "workload/ceilings/internal/cpu_loops.h"
#include "workload/ceilings/internal/products.h"

namespace profline::workload {
namespace {

using ceilings::Seconds;

TEST(CpuLoops, ReadEveryWordOnce) {
  std::vector<std::uint64_t> words(1000 + 7);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = (i + 1) * 0x9e3779b97f4a7c15U;
    expected ^= words[i];
  }
  EXPECT_EQ(ceilings::read_words(words.data(), words.size()), expected);
  EXPECT_EQ(ceilings::read_words(words.data(), 0), 0U);
}

TEST(CpuLoops, TriadIsASumAndAProduct) {
  std::vector<float> a(1001);
  std::vector<float> b(1001);
  std::vector<float> to(1001);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  ceilings::triad(to.data(), a.data(), b.data(), to.size());
  for (std::size_t i = 0; i < to.size(); ++i) EXPECT_EQ(to[i], static_cast<float>(7 * i));
}

class CeilingsTest : public ::testing::Test {
 protected:
  Result<MachineCeilings> measure(CeilingsRequest request, bool stops = false) {
    return measure_ceilings(request, {progress_, clock_, [stops] { return stops; },
                                      [](Seconds time) { std::this_thread::sleep_for(time); }});
  }
  NullProgress progress_;
  SystemClock clock_;
};

TEST_F(CeilingsTest, OfACpuAreItsMemoryAndItsProducts) {
  const auto measured = measure(
      {.device = "cpu", .threads = 1, .budget = Seconds(10), .array_bytes = std::size_t{8} << 20U});
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_EQ(measured->threads, 1);
  EXPECT_FALSE(measured->is_gpu());
  for (const char* name : {"dram read", "dram write", "dram copy", "dram triad"}) {
    const CeilingFigure* figure = measured->find("memory", name);
    ASSERT_NE(figure, nullptr) << name;
    ASSERT_TRUE(figure->burst && figure->sustained) << name;
    EXPECT_EQ(figure->unit, "B/s");
    // No machine that runs this is a thousand times slower or faster.
    EXPECT_GT(*figure->highest(), 1e8) << name;
    EXPECT_LT(*figure->highest(), 1e13) << name;
  }
  const CeilingFigure* product = measured->find("matrix", "fp32");
  ASSERT_NE(product, nullptr);
  EXPECT_GT(*product->highest(), 1e8);
  EXPECT_NE(product->detail.find("best of"), std::string::npos);
}

TEST_F(CeilingsTest, WhatTheTimeDoesNotAllowIsNoted) {
  const auto measured = measure({.device = "cpu", .threads = 1, .budget = Seconds(0)});
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_TRUE(measured->figures.empty());
  ASSERT_FALSE(measured->notes.empty());
  EXPECT_EQ(measured->notes.front(), "dram: not measured, because the time was up");
}

TEST_F(CeilingsTest, OfAMissingDeviceAreAnError) {
  const auto measured = measure({.device = "cuda:97"});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().kind(), ErrorKind::NotFound);
}

TEST_F(CeilingsTest, AStoppedMeasurementIsCancelled) {
  const auto measured = measure({.device = "cpu", .threads = 1}, true);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().kind(), ErrorKind::Cancelled);
}

TEST(Products, AreOfTheShapeThatWasAsked) {
  const ceilings::ProductShape shape{3, 5, 7};
  EXPECT_EQ(shape.to_string(), "3 x 5 x 7");
  EXPECT_EQ(shape.flops(), 210);
  ceilings::make_product(ceilings::Format::Fp32, shape, at::kCPU)();
  ceilings::make_product(ceilings::Format::Fp32, {3, 5, 7, false}, at::kCPU)();
}

class FixedClock final : public DeviceClock {
 public:
  std::size_t mark() override { return marks_++; }
  void synchronise() override {}
  std::chrono::nanoseconds between(std::size_t from, std::size_t to) const override {
    return std::chrono::milliseconds(10) * (to - from);
  }
  void restart() override { marks_ = 0; }

 private:
  std::size_t marks_ = 0;
};

TEST(Products, AreNotLeftOutBecauseATypicalShapeIsSlow) {
  NullProgress progress;
  SystemClock clock;
  FixedClock device;  // every call takes 10 ms, so the largest product has the highest rate
  const CeilingsServices services{progress, clock, [] { return false; }, [](Seconds) {}};
  ceilings::Bench bench({}, services, device);
  ceilings::measure_products(
      bench, ceilings::Format::Fp32, at::kCPU,
      {{{32, 32, 32}, {64, 64, 64}}, {{1, 16, 16}}, Seconds(0.1), Seconds(0.005)});
  const std::vector<CeilingFigure> figures = bench.take({}, {});
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_TRUE(figures[0].is_best);
  EXPECT_EQ(figures[0].shape, "64 x 64 x 64");
  EXPECT_EQ(figures[0].detail, "second operand transposed, best of 3 shapes");
  EXPECT_FALSE(figures[1].is_best);
  EXPECT_EQ(figures[1].shape, "1 x 16 x 16");
}

TEST(Bench, AFigureHasTheClocksOfItsOwnTime) {
  NullProgress progress;
  SystemClock clock;
  FixedClock device;
  const CeilingsServices services{progress, clock, {}, [](Seconds) {}};
  ceilings::Bench bench({}, services, device);
  const Clock::Steady began = clock.now() - std::chrono::seconds(100);
  bench.measure({.kind = "memory",
                 .name = "x",
                 .shape = "",
                 .unit = "B/s",
                 .burst = {},
                 .sustained = {},
                 .detail = ""},
                50, [] {}, {Seconds(0), Seconds(0.02), Seconds(0), Seconds(0)});
  std::vector<gpu::GpuSample> samples(3);
  samples[0].state.sm_clock_mhz = 345;  // long ago
  samples[1].at = std::chrono::seconds(99);
  samples[1].state.sm_clock_mhz = 1980;  // the last one before
  samples[1].state.power_instant_mw = 400'000;
  samples[1].state.throttle_reasons = 4;
  samples[2].at = std::chrono::hours(1);
  samples[2].state.sm_clock_mhz = 210;
  const std::vector<CeilingFigure> figures = bench.take(samples, began);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_FALSE(figures[0].sustained);
  ASSERT_TRUE(figures[0].burst);
  // Two calls of 50 bytes between two marks, which are 10 ms apart.
  EXPECT_DOUBLE_EQ(figures[0].burst->value, 2 * 50 / 0.01);
  EXPECT_EQ(figures[0].burst->sm_clock_mhz, 1980);
  EXPECT_EQ(figures[0].burst->power_w, 400);
  EXPECT_EQ(figures[0].burst->throttle_reasons, 4U);
}

}  // namespace
}  // namespace profline::workload
