#include "session/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/strings.h"
#include "comparison/run_measurements.h"
#include "run_index/run_index.h"
#include "run_index/run_selection.h"
#include "statistics/significance.h"
#include "sweep/report.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using comparison::Comparison;
using comparison::KnownSpread;
using comparison::RunMeasurements;
using run_index::IndexedRun;
using run_index::RunIndex;

/// Fewer than three runs say next to nothing about a spread.
constexpr double kLeastDegrees = 2;

fs::path whole(const fs::path& folder) {
  std::error_code failure;
  fs::path found = fs::canonical(folder, failure);
  return failure ? fs::absolute(folder, failure) : found;
}

/// Leaves runs of the same things open, because they are measured next. The others are closed:
/// there may be many of them, and they may be large.
std::vector<IndexedRun> runs_below(const fs::path& root, const std::set<std::string>& fingerprints,
                                   run::OpenedRuns& opened) {
  const auto read = [&](const fs::path& below, const fs::path& folder) -> Result<IndexedRun> {
    if (const run::Run* run = opened.find(below / folder)) {
      return run_index::indexed_run(*run, folder);
    }
    run::Run run = PL_TRY(run::Run::open(below / folder));
    IndexedRun row = run_index::indexed_run(run, folder);
    if (fingerprints.contains(row.fingerprint)) opened.keep(std::move(run));
    return row;
  };
  auto index = RunIndex::open(root, RunIndex::Keep::IfThere);
  if (!index || !index->refresh(read)) return {};
  return index->runs().value_or(std::vector<IndexedRun>());
}

/// The measurements of each run, read once even if the run is on both sides.
using Measured = std::map<const run::Run*, RunMeasurements>;

Result<std::vector<RunMeasurements>> read_side(const std::vector<fs::path>& folders,
                                               bool with_captures, run::OpenedRuns& opened,
                                               Measured& measured, const Interrupt& interrupt) {
  std::vector<RunMeasurements> side;
  for (const fs::path& folder : folders) {
    if (interrupt.requested()) return Error(ErrorKind::Cancelled, "interrupted");
    const run::Run* run = PL_TRY(opened.open(folder));
    const auto [known, is_new] = measured.try_emplace(run);
    if (is_new) known->second = comparison::measurements_of(*run, {.captures = with_captures});
    side.push_back(known->second);
    side.back().run.folder = folder.string();
  }
  return side;
}

KnownSpread given_spread(double difference_of_two) {
  const double reach = std::sqrt(2.0) * statistics::normal_quantile(0.975);
  return {
      {.deviation = std::log1p(difference_of_two) / reach},
      "according to --run-spread, two runs differ by up to " + chosen_percent(difference_of_two),
      KnownSpread::Basis::Given};
}

}  // namespace

EarlierRuns::EarlierRuns(std::span<const fs::path> runs, run::OpenedRuns& opened,
                         const KnownRuns* known_runs) {
  std::set<fs::path> roots;
  std::set<std::string> fingerprints;
  for (const fs::path& run : runs) {
    roots.insert(whole(run).parent_path());
    if (const auto open = opened.open(run)) {
      fingerprints.insert(run_index::indexed_run(**open, run.filename()).fingerprint);
    }
  }
  std::vector<IndexedRun> known;
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    auto below =
        known_runs != nullptr ? known_runs->below(root) : runs_below(root, fingerprints, opened);
    for (IndexedRun& run : below) {
      folders.push_back(root / run.folder);
      known.push_back(std::move(run));
    }
  }
  const std::vector<bool> opens = run_index::opens_series(known);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (opens[i]) openers_.insert(folders[i]);
  }
  for (const auto& [fingerprint, usual] : run_index::usual_runs(known)) {
    if (fingerprint.empty() || !fingerprints.contains(fingerprint)) continue;
    auto& group = groups_.emplace_back();
    for (const std::size_t i : usual) {
      if (known_runs != nullptr && !known_runs->may_read(folders[i])) continue;
      const auto run = opened.open(folders[i]);
      if (run) group.push_back(comparison::measurements_of(**run, {.captures = false}));
    }
  }
}

bool EarlierRuns::opens_series(const fs::path& run) const {
  return openers_.contains(whole(run));
}

std::optional<statistics::RunSpread> EarlierRuns::spread_within(const std::string& metric) const {
  std::vector<statistics::RunUnits> groups;
  bool paired = true;
  for (const auto& runs : groups_) {
    comparison::SeriesGroup group;
    for (const comparison::RunMeasurements& run : runs) {
      for (const comparison::Series& series : run.series) {
        if (series.name == metric) group.a.push_back(&series);
      }
    }
    if (group.a.empty()) continue;
    comparison::PairedUnits units = comparison::pair_units(group, true);
    paired = paired && units.paired;
    groups.push_back(std::move(units.a));
  }
  auto spread = statistics::spread_within(groups, paired);
  return spread && spread->degrees >= kLeastDegrees ? spread : std::nullopt;
}

std::optional<comparison::KnownSpread> EarlierRuns::spread(const std::string& metric) {
  const auto [place, is_new] = known_.try_emplace(metric);
  if (!is_new) return place->second;
  if (const auto spread = spread_within(metric)) {
    place->second = comparison::KnownSpread{
        *spread,
        fmt::format("runs of the same things differ by up to {} (two at a time, {:.0f} "
                    "degrees of freedom)",
                    percent(spread->difference_of_two()), spread->degrees),
        comparison::KnownSpread::Basis::Runs};
  }
  return place->second;
}

Result<Comparison> compare_runs(const fs::path& side_a, const fs::path& side_b,
                                const ComparisonRequest& request, const Interrupt& interrupt) {
  return compare_runs({PL_TRY(comparison::runs_in(side_a)), PL_TRY(comparison::runs_in(side_b))},
                      request, interrupt, nullptr);
}

Result<Comparison> compare_runs(const ComparedFolders& folders, const ComparisonRequest& request,
                                const Interrupt& interrupt, const KnownRuns* known) {
  const bool with_captures = comparison::wants_captures(request.metrics);
  run::OpenedRuns opened;
  Measured measured;
  auto a = PL_TRY(read_side(folders.a, with_captures, opened, measured, interrupt));
  auto b = PL_TRY(read_side(folders.b, with_captures, opened, measured, interrupt));

  std::vector<fs::path> all = folders.a;
  all.insert(all.end(), folders.b.begin(), folders.b.end());
  EarlierRuns earlier(all, opened, known);
  for (auto* side : {&a, &b}) {
    for (RunMeasurements& run : *side) run.opens_series = earlier.opens_series(run.run.folder);
  }
  const KnownSpread stated = comparison::stated_spread(a, b);
  const comparison::Rules rules{
      .threshold = request.threshold.value_or(comparison::usual_threshold(a, b)),
      .only = request.metrics,
      .known_spread = [&](const comparison::Series& series) {
        if (request.run_spread) return given_spread(*request.run_spread);
        return earlier.spread(series.name).value_or(stated);
      }};
  return comparison::compare(std::move(a), std::move(b), rules);
}

namespace {

namespace fs = std::filesystem;

/// A job that measured something, and the folder of its run.
struct MeasuredJob {
  sweep::Job job;
  fs::path run;
};
struct MeasuredSweep {
  std::set<std::string> swept;
  std::vector<MeasuredJob> jobs;
};

/// Without jobs for a folder that is not a sweep, or one whose jobs repeat the same thing.
Result<MeasuredSweep> different_jobs(const fs::path& folder) {
  MeasuredSweep found;
  if (!sweep::holds_sweep(folder)) return found;
  const sweep::Sweep record = PL_TRY(sweep::read_sweep(folder));
  found.swept.insert(record.swept.begin(), record.swept.end());
  std::set<std::string> things;
  for (const sweep::Job& job : record.jobs) {
    const auto run = run_index::read_indexed_run(folder, job.folder);
    if (!run) continue;  // it has not started
    things.insert(run->fingerprint);
    found.jobs.push_back({job, folder / job.folder});
  }
  if (things.size() < 2) found.jobs.clear();
  return found;
}

/// `key=value` for some of a job's settings, sorted.
std::string settings_text(const sweep::Job& job, const std::set<std::string>& keys) {
  std::vector<std::string> settings;
  for (const std::string& key : keys) settings.push_back(key + "=" + sweep::value_of(job, key));
  return join(settings, " ");
}

/// All settings of a job but Hydra's own.
std::string all_settings_text(const sweep::Job& job) {
  std::set<std::string> keys;
  for (const std::string& text : job.overrides) {
    const std::string key = sweep::setting_of(text).key;
    if (!sweep::is_hydras(key)) keys.insert(key);
  }
  return settings_text(job, keys);
}

bool are_told_apart(const MeasuredSweep& sweep, const std::set<std::string>& keys) {
  std::set<std::string> texts;
  return std::all_of(sweep.jobs.begin(), sweep.jobs.end(), [&](const MeasuredJob& each) {
    return texts.insert(settings_text(each.job, keys)).second;
  });
}

using JobTexts = std::map<std::string, std::size_t>;  ///< positions in `jobs`

/// What jobs of two sweeps have to share to be the same job.
class SharedSettings {
 public:
  SharedSettings(const MeasuredSweep& a, const MeasuredSweep& b)
      : keys_(a.swept),
        are_enough_(a.swept == b.swept && are_told_apart(a, keys_) && are_told_apart(b, keys_)) {
    keys_.insert(b.swept.begin(), b.swept.end());
  }

  /// The values of the swept keys if both sweeps have the same ones: what else the user gave, such
  /// as the experiment's name, is what is compared. Otherwise all settings.
  std::string text_of(const sweep::Job& job) const {
    return are_enough_ ? settings_text(job, keys_) : all_settings_text(job);
  }
  /// The values by which the jobs of both sweeps differ.
  std::string label_of(const sweep::Job& job) const { return settings_text(job, keys_); }

  JobTexts texts_of(const MeasuredSweep& sweep) const {
    JobTexts texts;
    for (std::size_t i = 0; i < sweep.jobs.size(); ++i) {
      texts.emplace(text_of(sweep.jobs[i].job), i);
    }
    return texts;
  }

 private:
  std::set<std::string> keys_;
  bool are_enough_;
};

Error not_a_sweep(const fs::path& sweep, const fs::path& job, const fs::path& other) {
  return Error(ErrorKind::Config, "'" + sweep.string() + "' is a sweep of different jobs, and '" +
                                      other.string() + "' is not; name one of its jobs, as in " +
                                      job.string());
}

}  // namespace

std::map<std::string, std::string> sweep_labels(const fs::path& root,
                                                const std::vector<run_index::IndexedRun>& runs) {
  std::map<std::string, std::string> labels;
  std::set<fs::path> looked_at;
  for (const run_index::IndexedRun& run : runs) {
    // A job's folder may lie deeper in its sweep's: `sweep/model=tiny/seed=1`.
    fs::path above = run.folder;
    do {
      above = above.parent_path();
      if (!looked_at.insert(above).second) continue;
      const auto record = sweep::read_sweep(root / above);
      if (!record) continue;  // not a sweep, or one of another version
      for (const sweep::Job& job : record->jobs) {
        labels[(above / job.folder).string()] = sweep::label_of(*record, job);
      }
    } while (!above.empty());
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
  const MeasuredSweep sweep_a = PL_TRY(different_jobs(a));
  const MeasuredSweep sweep_b = PL_TRY(different_jobs(b));
  if (sweep_a.jobs.empty() && sweep_b.jobs.empty()) return std::optional<SweepComparison>();
  if (sweep_b.jobs.empty()) return not_a_sweep(a, sweep_a.jobs.front().run, b);
  if (sweep_a.jobs.empty()) return not_a_sweep(b, sweep_b.jobs.front().run, a);
  const SharedSettings shared(sweep_a, sweep_b);
  const JobTexts jobs_a = shared.texts_of(sweep_a);
  const JobTexts jobs_b = shared.texts_of(sweep_b);
  SweepComparison found;
  for (const auto& [overrides, at] : jobs_a) {
    const auto same = jobs_b.find(overrides);
    if (same == jobs_b.end()) {
      found.only_a.push_back(overrides);
      continue;
    }
    const auto& [job, run] = sweep_a.jobs[at];
    found.pairs.push_back(
        {overrides, shared.label_of(job),
         PL_TRY(compare_runs(run, sweep_b.jobs[same->second].run, request, interrupt))});
  }
  for (const auto& [overrides, at] : jobs_b) {
    if (!jobs_a.contains(overrides)) found.only_b.push_back(overrides);
  }
  if (found.pairs.empty()) {
    return Error(ErrorKind::Config, "no job of '" + a.string() +
                                        "' has the overrides of a job of '" + b.string() + "'");
  }
  return std::optional(std::move(found));
}

}  // namespace profline::session
