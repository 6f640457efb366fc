#include <gtest/gtest.h>

#include "workload/measure/metrics.h"

namespace profline::workload {
namespace {

/// Each reading is a tenth of a second after the one before.
class StridingClock final : public Clock {
 public:
  Steady now() const override {
    ++readings_;
    return Steady(std::chrono::milliseconds(100) * readings_);
  }
  Wall wall_now() const override { return {}; }

 private:
  mutable int readings_ = 0;
};

TEST(CpuCeilings, AreWorkOverTheTimeOfTheBestRun) {
  const CpuCeilings ceilings = measure_cpu_ceilings(StridingClock());
  // 64 MiB read and 64 MiB written, and 2 * 640^3 FLOP, in a tenth of a second each.
  EXPECT_DOUBLE_EQ(ceilings.copy_bytes_per_s, 10.0 * 2 * 64 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(ceilings.gemm_flops_per_s, 10.0 * 2 * 640 * 640 * 640);
  EXPECT_GE(ceilings.threads, 1);
}

}  // namespace
}  // namespace profline::workload
