#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/run.h"
#include "sweep/sweep.h"

/// What a sweep shows: swept keys against metrics.
namespace profline::sweep {

/// The figures of a run without a profiler: medians over requests with 95 % intervals, the wall
/// time of a user's program, what a load on a server measured, and the energy per token.
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

/// The address of a file of the job's report, relative to the sweep: `lr%3D0.1/report.html`. Empty
/// if the job has written no report.
std::string report_address(const Job& job, std::string_view file);

/// `#3 : batch=4 : failed: stage baseline failed`: how a job ended.
std::string end_line(const Sweep& sweep, const Job& job);
/// The setting is Hydra's own, and not one of the job.
bool is_hydras(std::string_view key);

/// The most informative metrics that at least one job has.
std::vector<std::string> main_metrics(const std::vector<Job>& jobs);

/// Fills in what follows from the jobs: swept keys, best jobs and those that are as good by their
/// intervals, the Pareto front. Only jobs that succeeded count as best. If some jobs have batches,
/// the time of a token in the others is also that of a step.
void summarise(Sweep& sweep);

/// `not clearly better than jobs 4 and 8`; empty if no job is as good.
std::string as_good_text(const Best& best);
/// What the figures of the jobs are.
std::string figures_note(const Sweep& sweep);
/// Short names of the swept keys, by key: the last part, where that is enough to tell them apart.
std::map<std::string, std::string> short_keys(const Sweep& sweep);

/// `12.3 ms`; with `interval`, `12.3 ms (12.1 ms to 12.6 ms)`.
std::string metric_text(const Metric& metric, bool interval = false);

/// `sweep.md`
std::string markdown_of(const Sweep& sweep);

/// The values of a key in the order of an axis: by size if all are numbers, else as they come.
std::vector<std::string> axis_values(const Sweep& sweep, std::string_view key);

/// How many jobs are in each state: `30 ok, 1 failed, 1 pending`.
std::string state_counts(const Sweep& sweep);

}  // namespace profline::sweep
