#include "tools/ncu/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Installation knowing(std::vector<std::string> metrics) {
  Installation ncu{"/opt/ncu", {2024, 1, 1}};
  std::sort(metrics.begin(), metrics.end());
  ncu.metrics = std::move(metrics);
  ncu.sections = {"SpeedOfLight", "Occupancy"};
  return ncu;
}

const std::string kAdd = "smsp__sass_thread_inst_executed_op_fadd_pred_on";
const std::string kMul = "smsp__sass_thread_inst_executed_op_fmul_pred_on";
const std::string kFma = "smsp__sass_thread_inst_executed_op_ffma_pred_on";

TEST(NcuMetrics, OfTheOldKindAreTranslated) {
  settings::NcuCli cli;
  cli.metrics = schema::CommaList{{"flop_count_sp", "gpu__time_duration.sum"}};
  cli.sections.reset();
  const Collection collected = collection(knowing({kAdd, kMul, kFma, "gpu__time_duration"}), cli);
  EXPECT_THAT(collected.metrics,
              ElementsAre(kAdd + ".sum", kMul + ".sum", kFma + ".sum", "gpu__time_duration.sum"));
  EXPECT_THAT(collected.translated, ElementsAre("flop_count_sp"));
  EXPECT_THAT(collected.unknown_metrics, IsEmpty());
}

TEST(NcuMetrics, ThatThisNcuDoesNotKnowAreLeftOutByName) {
  settings::NcuCli cli;
  cli.metrics = schema::CommaList{{"flop_count_sp", "no__such.sum", "gpu__time_duration.sum",
                                   "launch__registers_per_thread", "group:memory__first_pass"}};
  cli.sections = schema::CommaList{{"SpeedOfLight", "WorkloadDistribution", "regex:Occ.*"}};
  const Collection collected = collection(knowing({kAdd, "gpu__time_duration"}), cli);
  EXPECT_THAT(collected.metrics,
              ElementsAre("gpu__time_duration.sum", "launch__registers_per_thread",
                          "group:memory__first_pass"));
  EXPECT_THAT(collected.unknown_metrics, ElementsAre("flop_count_sp", "no__such.sum"));
  EXPECT_THAT(collected.sections, ElementsAre("SpeedOfLight", "regex:Occ.*"));
  EXPECT_THAT(collected.unknown_sections, ElementsAre("WorkloadDistribution"));
}

TEST(NcuMetrics, AreAllKnownToAnNcuThatWasNotAsked) {
  settings::NcuCli cli;
  cli.metrics = schema::CommaList{{"no__such.sum"}};
  const Collection collected = collection({"/opt/ncu", {2024, 1, 1}}, cli);
  EXPECT_THAT(collected.metrics, ElementsAre("no__such.sum"));
  EXPECT_EQ(collected.sections, cli.sections->items);
}

TEST(NcuMetrics, ThatPatchKernelsAreNotForRanges) {
  settings::NcuCli cli;
  cli.metrics = schema::CommaList{{"flop_count_sp", kFma + ".sum", "gpu__time_duration.sum"}};
  cli.replay_mode = settings::ReplayMode::Range;
  const Collection collected = collection({"/opt/ncu", {2024, 1, 1}}, cli);
  EXPECT_THAT(collected.metrics, ElementsAre("gpu__time_duration.sum", "smsp__inst_executed.sum"));
  EXPECT_THAT(collected.unsupported, ElementsAre("flop_count_sp", kFma + ".sum"));
  EXPECT_THAT(collected.unknown_metrics, IsEmpty());
  EXPECT_THAT(collected.translated, IsEmpty());
}

TEST(NcuMetrics, CountOldOperationsFromTheirParts) {
  CounterReport report;
  ProfiledKernel whole;
  const auto counter = [&](const std::string& name, double value) {
    return Counter{report.names.id_of(name + ".sum"), 0, 0, value};
  };
  whole.counters = {counter(kAdd, 10), counter(kMul, 20), counter(kFma, 100)};
  ProfiledKernel partial;
  partial.counters = {counter(kAdd, 10)};
  report.kernels = {whole, partial};
  add_flop_counts(report, {"flop_count_sp"});
  const Counter* count = report.find(report.kernels[0], "flop_count_sp");
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->value, 230);
  EXPECT_EQ(report.find(report.kernels[1], "flop_count_sp"), nullptr) << "a part is not known";
}

}  // namespace
}  // namespace profline::ncu
