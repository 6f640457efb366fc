#pragma once

#include <string>
#include <vector>

#include "run/run.h"
#include "sweep/sweep.h"

/// What a sweep shows: swept keys against metrics.
namespace profline::sweep {

/// The figures of a run without a profiler: medians over requests with 95 % intervals, and the wall
/// time of a user's program.
std::vector<Metric> metrics_of(const run::Run& run);

/// `key=value` from an override, without a leading `+` and without quotes around the value; a
/// deleted key has the value `(deleted)`.
struct Setting {
  std::string key;
  std::string value;
};
Setting setting_of(const std::string& override_text);
/// The value of a key in a job; empty if the job does not set it.
std::string value_of(const Job& job, std::string_view key);
/// The overrides of the swept keys: `batch=4 dtype=bf16`; all but Hydra's own if nothing is swept.
std::string label_of(const Sweep& sweep, const Job& job);

/// The most informative metrics that at least one job has.
std::vector<std::string> main_metrics(const std::vector<Job>& jobs);

/// Fills in what follows from the jobs: swept keys, best jobs, the Pareto front. Only jobs that
/// succeeded count as best.
void summarise(Sweep& sweep);

/// `12.3 ms`; with `interval`, `12.3 ms (12.1 ms to 12.6 ms)`.
std::string metric_text(const Metric& metric, bool interval = false);

/// `sweep.md`
std::string markdown_of(const Sweep& sweep);

/// The values of a key in the order of an axis: by size if all are numbers, else as they come.
std::vector<std::string> axis_values(const Sweep& sweep, std::string_view key);

/// How many jobs are in each state: `30 ok, 1 failed, 1 pending`.
std::string state_counts(const Sweep& sweep);

}  // namespace profline::sweep
