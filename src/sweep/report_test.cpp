#include "sweep/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job job(std::int64_t number, std::vector<std::string> overrides, double step_ms,
        double tokens_per_s) {
  Job made{number, std::to_string(number), std::move(overrides), {}, "", {}};
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
  EXPECT_THAT(sweep.best, ElementsAre(Best{"step_ms", 0}, Best{"tokens_per_s", 3}));
  EXPECT_THAT(sweep.pareto_metrics, ElementsAre("step_ms", "tokens_per_s"));
  EXPECT_THAT(sweep.pareto, ElementsAre(0, 1, 3)) << "job 2 is slower than 1 and does less";
  EXPECT_THAT(axis_values(sweep, "batch"), ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_EQ(label_of(sweep, sweep.jobs[3]), "batch=8");
  EXPECT_EQ(state_counts(sweep), "4 ok, 1 failed");
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

TEST(SweepReport, IsMarkdownWithLinksIntervalsAndReasons) {
  Sweep sweep = batches();
  sweep.jobs[2].status = {.state = JobState::Killed, .why = "ended | without a record"};
  sweep.jobs[2].metrics.clear();
  summarise(sweep);
  const std::string text = markdown_of(sweep);
  EXPECT_THAT(text, HasSubstr("4 jobs: 3 ok, 1 killed."));
  EXPECT_THAT(text, HasSubstr("10.0 ms (9.00 ms to 11.0 ms)"));
  EXPECT_THAT(text, HasSubstr("[0](0/report.md)"));
  EXPECT_THAT(text, HasSubstr("- job 2, `batch=16`: killed: ended \\| without a record\n"));
}

}  // namespace
}  // namespace profline::sweep
