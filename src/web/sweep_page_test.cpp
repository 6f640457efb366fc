#include <gtest/gtest.h>

#include "sweep/report.h"
#include "web/write_page.h"

namespace profline::web {
namespace {

/// Not a matcher: its message would be the whole page.
bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

sweep::Sweep four_jobs() {
  sweep::Sweep sweep;
  sweep.command_line.config_name = "demo";
  for (std::int64_t i = 0; i < 4; ++i) {
    sweep::Job job;
    job.number = i;
    job.folder = std::to_string(i);
    job.overrides = {"batch=" + std::to_string(1 << (i / 2)),
                     i % 2 == 0 ? "dtype=fp32" : "dtype=bf16"};
    job.status.state = sweep::JobState::Ok;
    job.verdict = "memory-bound";
    const double time = 10.0 + static_cast<double>(i);
    job.metrics = {{"prefill_ms", "ms", time, time - 1, time + 1, 5, false},
                   {"token_ms", "ms", 20 - time, {}, {}, 1, false},
                   {"tokens_per_s", "tokens/s", 1000 / (20 - time), {}, {}, 1, true}};
    sweep.jobs.push_back(job);
  }
  sweep::summarise(sweep);
  return sweep;
}

TEST(SweepPage, ShowsPlotsHeatMapsAndLinks) {
  const auto page = sweep_page(four_jobs(), "night <1>");
  ASSERT_TRUE(page) << page.error().to_string();
  EXPECT_TRUE(has(*page, "<title>profline sweep night &lt;1&gt;</title>"));
  for (const char* chart : {"tradeoff", "swept.0", "swept.3", "pairs.0_0", "pairs.0_1"}) {
    EXPECT_TRUE(has(*page, "data-chart=\"" + std::string(chart) + "\"")) << chart;
  }
  EXPECT_TRUE(has(*page, "href=\"3/report.html\""));
  EXPECT_TRUE(has(*page, "Best prefill_ms: 10.0 ms with batch=1 dtype=fp32."));
  EXPECT_TRUE(has(*page, "All jobs that ended succeeded."));
}

TEST(SweepPage, NamesJobsThatDidNotSucceed) {
  sweep::Sweep sweep = four_jobs();
  sweep.jobs[1].status.state = sweep::JobState::Killed;
  sweep.jobs[1].status.why = "ended without a record: Slurm says <OOM>";
  sweep::summarise(sweep);
  const auto page = sweep_page(sweep, "s");
  ASSERT_TRUE(page);
  EXPECT_TRUE(has(*page, "Slurm says &lt;OOM&gt;"));
  EXPECT_TRUE(has(*page, "3 ok, 1 killed"));
}

TEST(SweepPage, LinksOnlyToReportsThatExist) {
  sweep::Sweep sweep = four_jobs();
  sweep.jobs[0].folder = "batch=1 #50%?";
  sweep.jobs[1].status = {.state = sweep::JobState::Failed, .why = "no nsys", .started = "t"};
  sweep.jobs[1].verdict.clear();
  sweep::summarise(sweep);
  const auto page = sweep_page(sweep, "s");
  ASSERT_TRUE(page);
  EXPECT_TRUE(has(*page, "href=\"batch%3D1%20%2350%25%3F/report.html\""));
  EXPECT_FALSE(has(*page, "href=\"1/report.html\""));
  EXPECT_TRUE(has(*page, "href=\"2/report.html\""));
}

TEST(SweepPage, OfJobsThatMeasuredNothingHasNoCharts) {
  sweep::Sweep sweep = four_jobs();
  for (sweep::Job& job : sweep.jobs) job.metrics.clear();
  sweep::summarise(sweep);
  const auto page = sweep_page(sweep, "s");
  ASSERT_TRUE(page);
  EXPECT_TRUE(has(*page, "No job has measured anything yet."));
  EXPECT_FALSE(has(*page, "class=\"plot\""));
}

/// Jobs of several keys with two values each, all combinations.
sweep::Sweep many_jobs(std::size_t keys) {
  sweep::Sweep sweep;
  for (std::int64_t i = 0; i < (1 << keys); ++i) {
    sweep::Job job;
    job.number = i;
    for (std::size_t key = 0; key < keys; ++key) {
      const std::string name(1, static_cast<char>('a' + key));
      job.overrides.push_back(name + "=" + std::to_string((i >> key) & 1));
    }
    job.status.state = sweep::JobState::Ok;
    for (const char* metric : {"prefill_ms", "token_ms", "tokens_per_s", "wall_ms"}) {
      job.metrics.push_back({metric, "ms", 10.0 + static_cast<double>(i), {}, {}, 1, false});
    }
    sweep.jobs.push_back(job);
  }
  sweep::summarise(sweep);
  return sweep;
}

TEST(SweepPage, SaysWhatItLeavesOut) {
  const auto page = sweep_page(many_jobs(5), "s");
  ASSERT_TRUE(page);
  EXPECT_TRUE(has(*page,
                  "6 of 10 pairs have a heat map. Without one: <code>b</code> and <code>e</code>, "
                  "<code>c</code> and <code>d</code>, <code>c</code> and <code>e</code>, "
                  "<code>d</code> and <code>e</code>.</p>"));
  EXPECT_TRUE(has(*page,
                  "The other keys have 16 combinations. The first 8 have a line each; the line "
                  "&quot;other jobs&quot; has the jobs of the remaining 8."));
  EXPECT_TRUE(has(*page,
                  "Plots show 3 of 4 metrics. Without plots, and in the table of jobs: "
                  "<code>wall_ms</code>."));
  EXPECT_FALSE(has(*page, "The table has the first"));

  const auto small = sweep_page(four_jobs(), "s");
  ASSERT_TRUE(small);
  for (const char* words : {"have a heat map", "combinations.", "Plots show", "The table has"}) {
    EXPECT_FALSE(has(*small, words)) << words;
  }
}

TEST(SweepPage, SaysWhichJobsAndPairsOfALargeSweepItLeavesOut) {
  const auto page = sweep_page(many_jobs(10), "s");
  ASSERT_TRUE(page);
  EXPECT_TRUE(
      has(*page, "The table has the first 1000 of 1024 jobs; sweep.md and sweep.json have all."));
  EXPECT_TRUE(has(*page, "6 of 45 pairs have a heat map. Without one: "));
  EXPECT_TRUE(has(*page, ", and 29 more.</p>"));
}

}  // namespace
}  // namespace profline::web
