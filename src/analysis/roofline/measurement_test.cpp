#include <initializer_list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/roofline/roofline.h"

namespace profline::roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct GivenCounter {
  std::string_view name, unit;
  double value;
};

/// What a kernel with these counters did.
Measurement measured(std::initializer_list<GivenCounter> counters,
                     std::string_view capability = "9.0") {
  CounterReport report;
  ProfiledKernel kernel;
  kernel.compute_capability = report.names.id_of(capability);
  for (const GivenCounter& given : counters) {
    kernel.counters.push_back(
        {report.names.id_of(given.name), 0, report.names.id_of(given.unit), given.value});
  }
  return measure(report, kernel);
}

std::vector<std::string> kinds(const Measurement& measured) {
  std::vector<std::string> texts;
  for (const Work& work : measured.work) {
    texts.push_back(std::string(to_text(work.cores)) + ' ' + std::string(to_text(work.precision)) +
                    (work.accumulation == Accumulation::Fast ? " fast " : " ") +
                    std::to_string(static_cast<long>(work.operations)) +
                    (work.is_rounded ? " rounded" : ""));
  }
  return texts;
}

// A bf16 product on an H200 with ncu 2025.3.1: the sum, and the same by instruction.
TEST(RooflineWork, OfTensorCoresIsCountedOnce) {
  const Measurement gemm = measured({
      {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum", "", 141557760},
      {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_on.sum", "", 0},
      {"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum", "", 0},
      {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", 141557760},
      {"sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained", "", 1081344},
      {"sm__ops_path_tensor_src_fp16.sum", "", 0},
      {"sm__ops_path_tensor_src_fp8_sparsity_off.sum", "", 0},
  });
  EXPECT_TRUE(gemm.counted_operations);
  EXPECT_THAT(kinds(gemm), ElementsAre("tensor bf16 141557760"));
  EXPECT_EQ(gemm.work[0].counters, "sm__ops_path_tensor_src_bf16_dst_fp32.sum");
  EXPECT_EQ(gemm.operations(), 141557760);
}

TEST(RooflineWork, OfTensorCoresIsPutTogetherFromPartsWhereThereIsNoSum) {
  EXPECT_THAT(
      kinds(measured({{"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum", "", 100},
                      {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_on.sum", "", 20},
                      {"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum", "", 3},
                      {"sm__ops_path_tensor_src_fp8_sparsity_off.sum", "", 7},
                      {"sm__ops_path_tensor_src_fp8_sparsity_on.sum", "", 1}})),
      ElementsAre("tensor bf16 123", "tensor fp8 8"));
}

TEST(RooflineWork, ReportsWhatTheSumsAreKeptIn) {
  EXPECT_THAT(kinds(measured({{"sm__ops_path_tensor_src_fp16_dst_fp16.sum", "", 5},
                              {"sm__ops_path_tensor_src_fp16_dst_fp16_sparsity_off.sum", "", 5},
                              {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "", 7}})),
              ElementsAre("tensor fp16 fast 5", "tensor fp16 7"));
}

TEST(RooflineWork, KnowsEveryPrecisionOfTensorCores) {
  for (const char* source : {"fp64", "fp8", "fp4", "int8", "int4", "int1"}) {
    const std::string name = "sm__ops_path_tensor_src_" + std::string(source) + ".sum";
    EXPECT_THAT(kinds(measured({{name, "", 9}})),
                ElementsAre("tensor " + std::string(source) + " 9"));
  }
  EXPECT_THAT(kinds(measured({{"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "", 9}})),
              ElementsAre("tensor tf32 9"));
  // Turing has one counter for what later chips count separately.
  EXPECT_THAT(kinds(measured({{"sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum", "", 9}})),
              ElementsAre("tensor fp16 9"));
  EXPECT_THAT(measured({{"sm__ops_path_tensor_src_posit.sum", "", 9}}).notes,
              ElementsAre("sm__ops_path_tensor_src_posit.sum names a precision that is not known"));
}

TEST(RooflineWork, OfTensorInstructionsIsKnownOnVoltaOnly) {
  const GivenCounter instructions{"sm__inst_executed_pipe_tensor.sum", "inst", 10};
  EXPECT_THAT(kinds(measured({instructions}, "7.0")), ElementsAre("tensor fp16 5120"));
  const Measurement ampere = measured({instructions}, "8.0");
  EXPECT_THAT(ampere.work, IsEmpty());
  EXPECT_FALSE(ampere.counted_operations);
  EXPECT_THAT(ampere.notes,
              ElementsAre("sm__inst_executed_pipe_tensor.sum counts instructions of unknown size: "
                          "collect sm__ops_path_tensor_* for operations"));
  EXPECT_TRUE(
      measured({{"sm__inst_executed_pipe_tensor.sum", "inst", 0}}, "8.0").counted_operations);
}

TEST(RooflineWork, OfOrdinaryCoresIsAddMulAndTwiceFma) {
  const Measurement all = measured({
      {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst", 1},
      {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst", 2},
      {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", 4},
      {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", 10},
      {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", 100},
      {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "inst", 1000},
      {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", 10000},
  });
  EXPECT_THAT(kinds(all), ElementsAre("vector fp64 11", "vector fp32 210", "vector fp16 42000"));
}

TEST(RooflineWork, OfOrdinaryCoresComesFromRatesToo) {
  const Measurement silu = measured({
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", "inst/cycle", 1},
      {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", "inst/cycle", 0},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "inst/cycle", 9.96},
      {"smsp__cycles_elapsed.avg", "cycle", 6878.88},
  });
  EXPECT_THAT(kinds(silu), ElementsAre("vector fp32 143906 rounded"));
}

TEST(RooflineWork, OfTheOldCountersIsTakenAsItIs) {
  EXPECT_THAT(kinds(measured({{"flop_count_hp", "", 3}, {"flop_count_sp.sum", "", 5}})),
              ElementsAre("vector fp32 5", "vector fp16 3"));
}

TEST(RooflineWork, OfNoneIsNoneAndNotUnknown) {
  const Measurement copy = measured({{"flop_count_sp", "", 0}});
  EXPECT_TRUE(copy.counted_operations);
  EXPECT_THAT(copy.work, IsEmpty());
  EXPECT_FALSE(measured({}).counted_operations);
}

TEST(RooflineBytes, ComeFromTheBestCounterThereIs) {
  struct Case {
    std::string_view name;
    std::vector<GivenCounter> counters;
    double dram;
  };
  const GivenCounter time{"gpu__time_duration.sum", "ns", 1000};
  const Case cases[] = {
      {"sum", {{"dram__bytes.sum", "byte", 5}, {"dram__bytes_read.sum", "byte", 3}}, 5},
      {"read and write",
       {{"dram__bytes_read.sum", "byte", 3}, {"dram__bytes_write.sum", "byte", 4}},
       7},
      {"sectors", {{"dram__sectors.sum", "sector", 2}}, 64},
      {"both ways, as Blackwell has it",
       {{"dram__bytes_op_read.sum", "byte", 3}, {"dram__bytes_op_write.sum", "byte", 4}},
       7},
      {"rate", {time, {"dram__bytes.sum.per_second", "byte/s", 2e9}}, 2000},
      {"label",
       {{"Duration", "ns", 500},
        {"Memory Throughput", "%", 40},
        {"Memory Throughput", "byte/s", 2e9}},
       1000},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    CounterReport report;
    ProfiledKernel kernel;
    for (const GivenCounter& given : c.counters) {
      kernel.counters.push_back(
          {report.names.id_of(given.name), 0, report.names.id_of(given.unit), given.value});
    }
    const Measurement found = measure(report, kernel);
    ASSERT_TRUE(found.dram_bytes);
    EXPECT_DOUBLE_EQ(found.dram_bytes->value, c.dram);
  }
  EXPECT_FALSE(measured({{"dram__bytes_read.sum", "byte", 3}}).dram_bytes) << "half is not all";
  EXPECT_FALSE(measured({{"dram__bytes.sum.per_second", "byte/s", 3}}).dram_bytes) << "no time";
  EXPECT_EQ(measured({{"dram__bytes.sum", "furlong", 3}}).dram_bytes, std::nullopt);
}

TEST(RooflineBytes, OfL2HaveTheirFormula) {
  const Measurement found =
      measured({{"gpu__time_duration.sum", "ns", 7872},
                {"derived__lts__lts2xbar_bytes.sum.per_second", "byte", 2364597560975.61}});
  ASSERT_TRUE(found.l2_bytes);
  EXPECT_NEAR(found.l2_bytes->value, 18614112, 1);
  EXPECT_EQ(found.l2_bytes->counters,
            "derived__lts__lts2xbar_bytes.sum.per_second x gpu__time_duration.sum");
  EXPECT_EQ(measured({{"lts__t_sectors.sum", "sector", 2}}).l2_bytes->value, 64);
}

TEST(RooflineShares, AreFoundUnderTheNamesOfEarlierReleases) {
  for (const char* name : {"DRAM Throughput", "SOL DRAM", "SOL FB"}) {
    const Measurement found = measured({{name, "%", 46.5}, {"SM [%]", "%", 6.5}});
    EXPECT_EQ(found.dram_pct, 46.5) << name;
    EXPECT_EQ(found.sm_pct, 6.5);
  }
}

TEST(RooflineCounters, ThatAreOfUseAreKept) {
  for (const char* name : {"gpu__time_duration.sum", "dram__bytes.sum.per_second", "Duration",
                           "sm__ops_path_tensor_src_fp8_sparsity_off.sum",
                           "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed",
                           "launch__waves_per_multiprocessor", "flop_count_hp"}) {
    EXPECT_TRUE(is_useful_counter(name)) << name;
  }
  for (const char* name : {"device__attribute_architecture", "sm__pipe_alu_cycles_active.avg",
                           "sm__ops_path_tensor_src_fp16.sum.peak_sustained"}) {
    EXPECT_FALSE(is_useful_counter(name)) << name;
  }
}

}  // namespace
}  // namespace profline::roofline
