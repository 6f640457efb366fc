#include "workload/ceilings/pace.h"

#include <vector>

#include <gtest/gtest.h>

namespace profline::workload::ceilings {
namespace {

/// A device whose calls take what the test says, and a clock that agrees with it.
class FakeDevice final : public DeviceClock, public Clock {
 public:
  std::size_t mark() override {
    points_.push_back(time_);
    return points_.size() - 1;
  }
  void synchronise() override { ++waits; }
  std::chrono::nanoseconds between(std::size_t from, std::size_t to) const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(points_.at(to) - points_.at(from));
  }
  void restart() override { points_.clear(); }
  Steady now() const override {
    return Steady(std::chrono::duration_cast<Steady::duration>(time_));
  }
  Wall wall_now() const override { return {}; }

  void work(Seconds time) {
    time_ += time;
    ++calls;
  }
  Seconds time() const { return time_; }

  int calls = 0;
  int waits = 0;

 private:
  Seconds time_{0};
  std::vector<Seconds> points_;
};

class PaceTest : public ::testing::Test {
 protected:
  FakeDevice device_;
  Seconds rested_{0};
  PaceServices services_{device_, device_, [this](Seconds time) { rested_ += time; }};
};

TEST_F(PaceTest, ACallIsTimedOverAtLeastTheGivenTime) {
  const Seconds one = duration_of_call(
      services_, [&] { device_.work(Seconds(0.001)); }, Seconds(0.02));
  EXPECT_NEAR(one.count(), 0.001, 1e-9);
  EXPECT_GE(device_.calls, 1 + 20);
}

TEST_F(PaceTest, TheFirstCallIsNotCounted) {
  const Seconds one = duration_of_call(
      services_, [&] { device_.work(device_.calls == 0 ? Seconds(5) : Seconds(0.1)); },
      Seconds(0.1));
  EXPECT_NEAR(one.count(), 0.1, 1e-9);
}

TEST_F(PaceTest, BurstAndSustainedRatesAreMeasuredApart) {
  // The device is slow for its first 40 ms, and slower again after half a second.
  const auto call = [&] {
    const double at = device_.time().count();
    device_.work(Seconds(at < 0.04 ? 0.002 : at < 0.5 ? 0.001 : 0.00125));
  };
  const PacedRates rates = rates_at(
      services_, {Seconds(0.5), Seconds(0.03), Seconds(0.6), Seconds(1)}, call, Seconds(0.001));
  EXPECT_DOUBLE_EQ(rested_.count(), 0.5);
  ASSERT_TRUE(rates.burst);
  // 30 calls as estimated: 20 slow ones, then fast ones.
  EXPECT_NEAR(rates.burst->per_second, 30 / 0.05, 1e-6);
  ASSERT_TRUE(rates.sustained);
  EXPECT_NEAR(rates.sustained->per_second, 800, 1e-3);
  EXPECT_NEAR(rates.sustained->duration.count(), 1.25, 1e-6);  // 1000 calls
  EXPECT_NEAR(*rates.sustained->spread, 0, 1e-6);
  EXPECT_NEAR(Seconds(rates.sustained->end - rates.sustained->begin).count(), 1.25, 1e-6);
}

TEST_F(PaceTest, TheSpreadIsThatOfTenthsOfASecond) {
  const auto call = [&] { device_.work(Seconds(device_.calls < 200 ? 0.001 : 0.002)); };
  const PacedRates rates =
      rates_at(services_, {Seconds(0), Seconds(0), Seconds(0), Seconds(0.3)}, call, Seconds(0.001));
  EXPECT_FALSE(rates.burst);
  ASSERT_TRUE(rates.sustained);
  EXPECT_NEAR(rates.sustained->per_second, 300 / 0.4, 1e-6);
  EXPECT_NEAR(*rates.sustained->spread, (1000.0 - 500.0) / 750.0, 1e-6);
}

TEST_F(PaceTest, ACallLongerThanAWindowIsOneWindow) {
  const PacedRates rates = rates_at(
      services_, {Seconds(0), Seconds(0.03), Seconds(0.3), Seconds(1)},
      [&] { device_.work(Seconds(2)); }, Seconds(2));
  EXPECT_NEAR(rates.burst->per_second, 0.5, 1e-9);
  EXPECT_NEAR(rates.sustained->per_second, 0.5, 1e-9);
  EXPECT_FALSE(rates.sustained->spread);
  EXPECT_EQ(device_.calls, 3);
}

}  // namespace
}  // namespace profline::workload::ceilings
