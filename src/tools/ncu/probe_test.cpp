#include "tools/ncu/probe.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/processes/fake_processes.h"

namespace profline::ncu {
namespace {

using testing::FakeProcesses;

TEST(NcuProbe, ReadsTheVersion) {
  FakeProcesses processes;
  processes.expect({"/usr/bin/ncu", "--version"})
      .prints(
          "NVIDIA (R) Nsight Compute Command Line Profiler\n"
          "Copyright (c) 2018-2024 NVIDIA Corporation\n"
          "Version 2024.1.1.0 (build 33998838) (public-release)\n");
  const auto installation = probe(processes, "/usr/bin/ncu");
  ASSERT_TRUE(installation) << installation.error().to_string();
  EXPECT_EQ(installation->version, (ToolVersion{2024, 1, 1}));
}

TEST(NcuProbe, PassesOnWhyItFailed) {
  FakeProcesses processes;
  processes.expect({"/usr/bin/ncu", "--version"}).complains("cannot execute\n").exits(127);
  const auto installation = probe(processes, "/usr/bin/ncu");
  ASSERT_FALSE(installation);
  EXPECT_EQ(installation.error().to_string(),
            "'/usr/bin/ncu --version' exited with code 127: cannot execute");
}

constexpr const char* kMetricsTable =
    "Chip gh100\n"
    "------------------ ------- ----------------------------\n"
    "Metric Name        Unit    Metric Description\n"
    "------------------ ------- ----------------------------\n"
    "gpu__time_duration nsecond incremental duration in\n"
    "                           nanoseconds\n"
    "sm__throughput     %       of the SM\n"
    "\n"
    "Chip ga100\n"
    "------------------ ------- ----------------------------\n"
    "Metric Name        Unit    Metric Description\n"
    "------------------ ------- ----------------------------\n"
    "dram__throughput   %       of DRAM\n"
    "sm__throughput     %       of the SM\n";

TEST(NcuSurvey, AsksWhatThisReleaseCanDo) {
  testing::FakeProcesses processes;
  processes.expect({"/opt/ncu", "--version"}).prints("Version 2022.3.0.0 (build 31729285)\n");
  processes.expect({"/opt/ncu", "--list-sections"})
      .prints(
          "------------ ------------ -------\nIdentifier   Display Name Enabled\n"
          "------------ ------------ -------\nLaunchStats  Launch Stats yes\nSpeedOfLight GPU "
          "Speed    yes\n");
  processes.expect({"/opt/ncu", "--list-sets"})
      .prints(
          "---------- ----------- -------\nIdentifier Sections    Enabled\n---------- ----------- "
          "-------\ndefault    LaunchStats yes\n           SpeedOf\nfull       Compute     no\n");
  processes.expect({"/opt/ncu", "--help"})
      .prints(
          "usage: ncu [options] [program]\n\nGeneral Options:\n"
          "  -h [ --help ]                         Print this help message.\n"
          "  --kill arg (=0)                       Terminate the target application when the "
          "requested --launch-count \n"
          "                                        --section-folder.\n");
  processes.expect({"/opt/ncu", "--query-metrics", "--chips", "gh100,ga100,ad102"})
      .prints(kMetricsTable);
  const auto ncu = survey(processes, "/opt/ncu", false);
  ASSERT_TRUE(ncu) << ncu.error().to_string();
  using Names = std::vector<std::string>;
  EXPECT_EQ(ncu->sections, (Names{"LaunchStats", "SpeedOfLight"}));
  EXPECT_EQ(ncu->sets, (Names{"default", "full"}));
  EXPECT_EQ(ncu->options, (Names{"--help", "--kill"}));
  EXPECT_EQ(ncu->metrics, (Names{"dram__throughput", "gpu__time_duration", "sm__throughput"}));
  EXPECT_TRUE(ncu->knows_metric("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
  EXPECT_FALSE(ncu->knows_metric("sm__through.avg"));
}

TEST(NcuSurvey, AsksTheGpuThatIsHereFirst) {
  testing::FakeProcesses processes;
  processes.expect({"/opt/ncu", "--version"}).prints("Version 2025.3.1.0\n");
  for (const char* unanswered : {"--list-sections", "--list-sets", "--help"}) {
    processes.expect({"/opt/ncu", unanswered}).exits(1);
  }
  processes.expect({"/opt/ncu", "--query-metrics"}).prints(kMetricsTable);
  const auto ncu = survey(processes, "/opt/ncu", true);
  ASSERT_TRUE(ncu) << ncu.error().to_string();
  EXPECT_EQ(ncu->metrics.size(), 3U);
  EXPECT_TRUE(ncu->has_section("Anything"));
}

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
