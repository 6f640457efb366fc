#include "sweep/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run.h"
#include "testing/runs/load_run.h"
#include "testing/temp_dir.h"

namespace profline::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job job(std::int64_t number, std::vector<std::string> overrides, double step_ms,
        double tokens_per_s) {
  Job made{number, std::to_string(number), std::move(overrides), {}, "memory-bound", {}};
  made.status.state = JobState::Ok;
  made.metrics = {{"step_ms", "ms", step_ms, step_ms - 1, step_ms + 1, 5, false},
                  {"tokens_per_s", "tokens/s", tokens_per_s, {}, {}, 1, true}};
  return made;
}

Sweep batches() {
  Sweep sweep;
  sweep.jobs = {job(0, {"hydra.sweep.dir=x", "+batch=1", "dtype=bf16"}, 10, 100),
                job(1, {"hydra.sweep.dir=x", "+batch=2", "dtype=bf16"}, 11, 180),
                job(2, {"hydra.sweep.dir=x", "+batch=16", "dtype=bf16"}, 30, 150),
                job(3, {"hydra.sweep.dir=x", "+batch=8", "dtype=bf16"}, 20, 400)};
  return sweep;
}

TEST(SweepReport, FindsSweptKeysBestJobsAndTheParetoFront) {
  Sweep sweep = batches();
  sweep.jobs.push_back(job(4, {"+batch=4", "dtype=bf16"}, 1, 1000));
  sweep.jobs[4].status = {.state = JobState::Failed, .why = "stage baseline failed"};
  summarise(sweep);
  EXPECT_THAT(sweep.swept, ElementsAre("batch"));
  EXPECT_THAT(sweep.best, ElementsAre(Best{"step_ms", 0, {1}}, Best{"tokens_per_s", 3, {}}))
      << "the intervals of jobs 0 and 1 overlap; a single value has none";
  EXPECT_THAT(sweep.pareto_metrics, ElementsAre("step_ms", "tokens_per_s"));
  EXPECT_THAT(sweep.pareto, ElementsAre(0, 1, 3)) << "job 2 is slower than 1 and does less";
  EXPECT_THAT(axis_values(sweep, "batch"), ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_EQ(label_of(sweep, sweep.jobs[3]), "batch=8");
  EXPECT_EQ(state_counts(sweep), "4 ok, 1 failed");
}

TEST(SweepReport, ComparesTokensOfSingleSequencesWithStepsOfBatches) {
  Sweep sweep = batches();
  sweep.jobs[0].metrics[0].name = "token_ms";
  summarise(sweep);
  EXPECT_THAT(main_metrics(sweep.jobs), ElementsAre("step_ms", "tokens_per_s"));
  EXPECT_THAT(sweep.best, ElementsAre(Best{"step_ms", 0, {1}}, Best{"tokens_per_s", 3, {}}));
  EXPECT_THAT(sweep.pareto, ElementsAre(0, 1, 3));
  EXPECT_NE(sweep.jobs[0].find_metric("token_ms"), nullptr);
  const std::vector<Job> before = sweep.jobs;
  summarise(sweep);
  EXPECT_EQ(sweep.jobs[0].metrics.size(), before[0].metrics.size());
  // Without batches, a token is a token.
  for (Job& each : sweep.jobs) each.metrics = {before[0].metrics[0], before[0].metrics[1]};
  summarise(sweep);
  EXPECT_THAT(main_metrics(sweep.jobs), ElementsAre("token_ms", "tokens_per_s"));
}

TEST(SweepReport, ShowsTheEnergyPerToken) {
  Sweep sweep = batches();
  sweep.jobs[1].metrics.push_back({"token_energy_j", "J", 0.0312, {}, {}, 1, false});
  sweep.jobs[3].metrics.push_back({"token_energy_j", "J", 0.0104, {}, {}, 1, false});
  summarise(sweep);
  EXPECT_THAT(main_metrics(sweep.jobs), ElementsAre("step_ms", "tokens_per_s", "token_energy_j"));
  EXPECT_EQ(sweep.best.back(), (Best{"token_energy_j", 3, {}}));
  EXPECT_THAT(markdown_of(sweep), HasSubstr("0.0104 J"));
}

TEST(SweepReport, OfALoadOnAServerTradesLatencyForThroughput) {
  const testing::TempDir folder;
  testing::LoadShape shape;
  shape.slo.ttft_ms = 60;
  testing::LoadRun(shape).write(folder.path());
  auto run = run::Run::open(folder.path());
  ASSERT_TRUE(run) << run.error().to_string();
  Sweep sweep;
  sweep.jobs = {job(0, {"rate=1"}, 1, 1)};
  sweep.jobs[0].metrics = metrics_of(*run);
  EXPECT_THAT(main_metrics(sweep.jobs),
              ElementsAre("ttft_ms", "tpot_ms", "output_tokens_per_s", "goodput_per_s"));
  for (const char* name : {"ttft_ms", "output_tokens_per_s", "goodput_per_s"}) {
    const Metric* metric = sweep.jobs[0].find_metric(name);
    ASSERT_NE(metric, nullptr) << name;
    ASSERT_TRUE(metric->low && metric->high) << name;
    EXPECT_LE(*metric->low, metric->value) << name;
    EXPECT_GE(*metric->high, metric->value) << name;
  }
  summarise(sweep);
  EXPECT_THAT(sweep.pareto_metrics, ElementsAre("ttft_ms", "output_tokens_per_s"));
}

TEST(SweepReport, OfOneJobOrOfNothingMeasuredHasNoFront) {
  Sweep sweep;
  sweep.jobs = {{0, "0", {"experiment=a"}, {}, "", {}}};
  summarise(sweep);
  EXPECT_THAT(sweep.swept, IsEmpty());
  EXPECT_THAT(sweep.pareto, IsEmpty());
  EXPECT_EQ(label_of(sweep, sweep.jobs[0]), "experiment=a");
}

TEST(SweepReport, ReadsOverridesOfEveryKind) {
  EXPECT_EQ(setting_of("++a.b=1,2").key, "a.b");
  EXPECT_EQ(setting_of("a=b=c").value, "b=c");
  EXPECT_EQ(setting_of("~a.b").value, "(deleted)");
  EXPECT_EQ(setting_of("model/arch@model=tiny").key, "model/arch@model");
}

TEST(SweepReport, NamesAtMostSixJobsThatAreAsGood) {
  EXPECT_EQ(as_good_text({"step_ms", 0, {}}), "");
  EXPECT_EQ(as_good_text({"step_ms", 0, {1, 2, 3, 4, 5, 6, 7, 8}}),
            "not clearly better than jobs 1, 2, 3, 4, 5, 6 and 2 more");
}

TEST(SweepReport, OfValuesWithoutIntervalsSaysSo) {
  Sweep sweep = batches();
  for (Job& each : sweep.jobs) each.metrics = {{"wall_ms", "ms", 5, {}, {}, 1, false}};
  EXPECT_EQ(figures_note(sweep), "Measured without a profiler. A single value has no interval.");
  for (Job& each : sweep.jobs) each.metrics.clear();
  EXPECT_EQ(figures_note(sweep), "No job has measured anything.");
}

TEST(SweepReport, ShortensKeysThatStayDifferent) {
  Sweep sweep;
  sweep.swept = {"infer.max_new_tokens", "model.dtype", "draft.dtype", "model/arch@model"};
  const auto names = short_keys(sweep);
  EXPECT_EQ(names.at("infer.max_new_tokens"), "max_new_tokens");
  EXPECT_EQ(names.at("model.dtype"), "model.dtype");
  EXPECT_EQ(names.at("draft.dtype"), "draft.dtype");
  EXPECT_EQ(names.at("model/arch@model"), "model");
}

TEST(SweepReport, HasALineForEachEnd) {
  Sweep sweep = batches();
  sweep.jobs[2].status = {.state = JobState::Failed, .why = "stage baseline failed"};
  summarise(sweep);
  EXPECT_EQ(end_line(sweep, sweep.jobs[0]), "#0 : batch=1 : ok");
  EXPECT_EQ(end_line(sweep, sweep.jobs[2]), "#2 : batch=16 : failed: stage baseline failed");
}

TEST(SweepReport, LinksToReportsInFoldersOfAnyName) {
  Job with_report = job(0, {}, 1, 1);
  with_report.folder = "a b/lr=1,#50% (é)";
  EXPECT_EQ(report_address(with_report, "report.md"),
            "a%20b/lr%3D1%2C%2350%25%20%28%C3%A9%29/report.md");
  with_report.verdict.clear();
  EXPECT_EQ(report_address(with_report, "report.md"), "");
}

TEST(SweepReport, IsMarkdownWithLinksIntervalsAndReasons) {
  Sweep sweep = batches();
  sweep.jobs[2].status = {.state = JobState::Killed, .why = "ended | without a record"};
  sweep.jobs[2].metrics.clear();
  summarise(sweep);
  const std::string text = markdown_of(sweep);
  EXPECT_THAT(text, HasSubstr("4 jobs: 3 ok, 1 killed."));
  EXPECT_THAT(text, HasSubstr("10.0 ms (9.00 ms to 11.0 ms)"));
  EXPECT_THAT(text, HasSubstr("[0](0/report.md)"));
  EXPECT_THAT(text, HasSubstr("| not clearly better than job 1 |"));
  EXPECT_THAT(text,
              HasSubstr("\nMedians over requests without a profiler, with 95 % intervals.\n"));
  EXPECT_THAT(text, HasSubstr("- job 2, `batch=16`: killed: ended \\| without a record\n"));
}

}  // namespace
}  // namespace profline::sweep
