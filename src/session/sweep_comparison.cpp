#include "session/sweep_comparison.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "sweep/report.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;

/// The jobs of a sweep that measured something, by their overrides without Hydra's own; empty for a
/// folder that is not a sweep, or one whose jobs repeat the same thing.
Result<std::map<std::string, fs::path>> different_jobs(const fs::path& folder) {
  std::map<std::string, fs::path> jobs;
  if (!sweep::holds_sweep(folder)) return jobs;
  const sweep::Sweep record = PL_TRY(sweep::read_sweep(folder));
  std::set<std::string> things;
  for (const sweep::Job& job : record.jobs) {
    const auto run = run_index::read_indexed_run(folder, job.folder);
    if (!run) continue;  // it has not started
    things.insert(run->fingerprint);
    std::vector<std::string> settings;
    for (const std::string& text : job.overrides) {
      const sweep::Setting setting = sweep::setting_of(text);
      const bool is_hydras = setting.key.starts_with("hydra.") || setting.key.starts_with("hydra/");
      if (!is_hydras) settings.push_back(setting.key + "=" + setting.value);
    }
    std::sort(settings.begin(), settings.end());
    jobs.emplace(join(settings, " "), folder / job.folder);
  }
  if (things.size() < 2) jobs.clear();
  return jobs;
}

Error not_a_sweep(const fs::path& sweep, const fs::path& job, const fs::path& other) {
  return Error(ErrorKind::Config, "'" + sweep.string() + "' is a sweep of different jobs, and '" +
                                      other.string() + "' is not; name one of its jobs, as in " +
                                      job.string());
}

}  // namespace

std::map<std::string, std::string> sweep_labels(const fs::path& root,
                                                const std::vector<run_index::IndexedRun>& runs) {
  std::map<std::string, std::string> labels;
  std::set<fs::path> sweeps;
  for (const run_index::IndexedRun& run : runs) {
    const fs::path parent = fs::path(run.folder).parent_path();
    if (!sweeps.insert(parent).second) continue;
    const auto record = sweep::read_sweep(root / parent);
    if (!record) continue;  // not a sweep, or one of another version
    for (const sweep::Job& job : record->jobs) {
      labels[(parent / job.folder).string()] = sweep::label_of(*record, job);
    }
  }
  std::erase_if(labels, [&](const auto& entry) {
    return std::none_of(runs.begin(), runs.end(),
                        [&](const auto& run) { return run.folder == entry.first; });
  });
  return labels;
}

Result<std::optional<SweepComparison>> compare_sweeps(const fs::path& a, const fs::path& b,
                                                      const ComparisonRequest& request,
                                                      const Interrupt& interrupt) {
  const auto jobs_a = PL_TRY(different_jobs(a));
  const auto jobs_b = PL_TRY(different_jobs(b));
  if (jobs_a.empty() && jobs_b.empty()) return std::optional<SweepComparison>();
  if (jobs_b.empty()) return not_a_sweep(a, jobs_a.begin()->second, b);
  if (jobs_a.empty()) return not_a_sweep(b, jobs_b.begin()->second, a);
  SweepComparison found;
  for (const auto& [overrides, run] : jobs_a) {
    const auto same = jobs_b.find(overrides);
    if (same == jobs_b.end()) {
      found.only_a.push_back(overrides);
      continue;
    }
    found.pairs.push_back({overrides, PL_TRY(compare_runs(run, same->second, request, interrupt))});
  }
  for (const auto& [overrides, run] : jobs_b) {
    if (!jobs_a.contains(overrides)) found.only_b.push_back(overrides);
  }
  if (found.pairs.empty()) {
    return Error(ErrorKind::Config, "no job of '" + a.string() +
                                        "' has the overrides of a job of '" + b.string() + "'");
  }
  return std::optional(std::move(found));
}

}  // namespace profline::session
