#include "workload/ceilings/measure_ceilings.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
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

/// Another program takes the device during some of the measurements that begin with a rest.
class ContendedClock final : public DeviceClock {
 public:
  explicit ContendedClock(std::vector<int> contended) : contended_(std::move(contended)) {}
  void rest() {
    const bool is_contended =
        std::find(contended_.begin(), contended_.end(), ++rests_) != contended_.end();
    slow_parts_ = is_contended ? kParts : 0;
  }
  std::size_t mark() override { return marks_++; }
  void synchronise() override {}
  std::chrono::nanoseconds between(std::size_t from, std::size_t to) const override {
    return std::chrono::milliseconds(is_slow_ ? 1000 : 10) * (to - from);
  }
  void restart() override {
    marks_ = 0;
    is_slow_ = slow_parts_-- > 0;
  }

 private:
  static constexpr int kParts = 2;  ///< the burst and the sustained rate
  std::vector<int> contended_;
  int rests_ = 0;
  int slow_parts_ = 0;
  bool is_slow_ = false;
  std::size_t marks_ = 0;
};

std::vector<CeilingFigure> products_on(ContendedClock& device) {
  NullProgress progress;
  SystemClock clock;
  const CeilingsServices services{progress, clock, [] { return false; },
                                  [&](Seconds) { device.rest(); }};
  ceilings::Bench bench({}, services, device);
  ceilings::measure_products(
      bench, ceilings::Format::Fp32, at::kCPU,
      {{{64, 64, 64}}, {{32, 64, 64}, {1, 16, 16}}, Seconds(0.1), Seconds(0.005)});
  return bench.take({}, {});
}

TEST(Products, AreLabelledBestIfNoOtherShapeIsFaster) {
  ContendedClock device({1});
  const std::vector<CeilingFigure> figures = products_on(device);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].shape, "32 x 64 x 64");
  EXPECT_TRUE(figures[0].is_best);
  EXPECT_EQ(figures[0].detail, "second operand transposed, best of 3 shapes");
  EXPECT_TRUE(figures[0].burst && figures[0].sustained) << "measured again, as long as the best";
  EXPECT_EQ(figures[1].shape, "64 x 64 x 64");
  EXPECT_FALSE(figures[1].is_best);
  EXPECT_EQ(figures[1].detail, "second operand transposed");
  EXPECT_EQ(figures[2].shape, "1 x 16 x 16");
  EXPECT_FALSE(figures[2].is_best);
  EXPECT_FALSE(figures[2].burst);
}

TEST(Products, AreNotLabelledBestForAMoment) {
  ContendedClock device({1, 2, 3});
  const std::vector<CeilingFigure> figures = products_on(device);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].shape, "64 x 64 x 64");
  EXPECT_TRUE(figures[0].is_best);
  EXPECT_EQ(figures[1].shape, "32 x 64 x 64");
  EXPECT_LT(figures[1].highest(), figures[0].highest());
}

class ChoiceTest : public ::testing::Test {
 protected:
  /// The chosen one of ways that take so long, in a trial and in a longer one.
  std::size_t chosen(Seconds budget = Seconds(60)) {
    const CeilingsServices services{progress_, clock_, [this] { return stops_; }, [](Seconds) {}};
    const ceilings::Bench bench({.budget = budget}, services, device_);
    return ceilings::fastest(bench, trial_.size(), [this](std::size_t way, Seconds least) {
      tries_.emplace_back(way, least.count());
      if (tries_.size() == stop_after_) stops_ = true;
      return Seconds(least > Seconds(0.1) ? longer_[way] : trial_[way]);
    });
  }
  NullProgress progress_;
  SystemClock clock_;
  FixedClock device_;
  std::vector<double> trial_{5, 3, 4, 1, 2, 6};
  std::vector<double> longer_{1, 2.5, 9, 3, 2, 1};
  std::vector<std::pair<std::size_t, double>> tries_;
  std::size_t stop_after_ = 0;
  bool stops_ = false;
};

TEST_F(ChoiceTest, IsMadeAmongTheBestThreeByALongerTrial) {
  EXPECT_EQ(chosen(), 4U);
  EXPECT_THAT(tries_,
              ::testing::ElementsAre(std::pair(0, 0.02), std::pair(1, 0.02), std::pair(2, 0.02),
                                     std::pair(3, 0.02), std::pair(4, 0.02), std::pair(5, 0.02),
                                     std::pair(3, 0.2), std::pair(4, 0.2), std::pair(1, 0.2)));
}

TEST_F(ChoiceTest, IsTheBestSoFarOnceTheTimeIsUp) {
  EXPECT_EQ(chosen(Seconds(0)), 0U) << "one is needed in any case";
  EXPECT_EQ(tries_.size(), 1U);
  tries_.clear();
  stop_after_ = 3;
  EXPECT_EQ(chosen(), 1U);
  EXPECT_EQ(tries_.size(), 3U);
  stops_ = false;
  tries_.clear();
  stop_after_ = 7;
  EXPECT_EQ(chosen(), 3U) << "only one had its longer trial, so the short ones decide";
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
