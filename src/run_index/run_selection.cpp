#include "run_index/run_selection.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "analysis/requests/series.h"
#include "base/strings.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_folder.h"

namespace profline::run_index {
namespace {

using Relation = MetricCondition::Relation;

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

Error no_condition(std::string_view text) {
  return {ErrorKind::Config,
          "--metric takes NAME, or NAME with <, <=, > or >= and a number, as in "
          "'token_ms<5', not '" +
              std::string(text) + "'"};
}

bool holds_for(const std::optional<std::string>& wanted, std::string_view value) {
  return !wanted || contains(value, *wanted);
}

using Seconds = std::chrono::sys_seconds;

constexpr std::chrono::hours kPause{1};
constexpr std::size_t kNewest = 50;

/// The time of `2026-11-15T10:20:30.123Z`, without the fraction.
std::optional<Seconds> moment_of(const std::string& timestamp) {
  std::istringstream text(timestamp);
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  char mark = 0;
  text >> year >> mark >> month >> mark >> day >> mark >> hour >> mark >> minute >> mark >> second;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!text || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

bool is_usable(const IndexedRun& run) {
  return run.state == "ok" && run.disturbance <= requests::kDisturbedShare;
}

}  // namespace

bool MetricCondition::holds(const IndexedRun& run) const {
  const IndexedMetric* metric = run.find_metric(name);
  if (metric == nullptr) return false;
  switch (relation) {
    case Relation::Any:
      return true;
    case Relation::Less:
      return metric->value < bound;
    case Relation::AtMost:
      return metric->value <= bound;
    case Relation::More:
      return metric->value > bound;
    case Relation::AtLeast:
      return metric->value >= bound;
  }
  return false;
}

Result<MetricCondition> parse_metric_condition(std::string_view text) {
  MetricCondition condition;
  const std::size_t at = text.find_first_of("<>");
  condition.name = std::string(trim(text.substr(0, at)));
  if (condition.name.empty() || condition.name.find('=') != std::string::npos) {
    return no_condition(text);
  }
  if (at == std::string_view::npos) return condition;
  const bool with_equal = at + 1 < text.size() && text[at + 1] == '=';
  if (text[at] == '<') {
    condition.relation = with_equal ? Relation::AtMost : Relation::Less;
  } else {
    condition.relation = with_equal ? Relation::AtLeast : Relation::More;
  }
  const std::string_view number = trim(text.substr(at + (with_equal ? 2 : 1)));
  const char* const end = number.data() + number.size();
  const auto [rest, failure] = std::from_chars(number.data(), end, condition.bound);
  if (failure != std::errc() || rest != end || !std::isfinite(condition.bound)) {
    return no_condition(text);
  }
  return condition;
}

bool RunFilter::holds(const IndexedRun& run) const {
  const std::string& workload = run.program.empty() ? run.model : run.program;
  if (!holds_for(experiment, run.experiment) || !holds_for(model, workload)) return false;
  if (device && !contains(run.device, *device) && !contains(run.device_name, *device)) return false;
  if (since && run.started < *since) return false;
  // Compares at the precision of the bound: no part of a day is after that day.
  if (until && run.started.substr(0, until->size()) > *until) return false;
  return std::all_of(metrics.begin(), metrics.end(),
                     [&](const MetricCondition& condition) { return condition.holds(run); });
}

Result<std::string> parse_moment(std::string_view text, std::string_view option) {
  constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:dd";
  constexpr std::array<std::size_t, 5> kLengths = {4, 7, 10, 16, 19};
  std::string moment(text);
  if (moment.size() > 10 && moment[10] == ' ') moment[10] = 'T';
  bool fits = std::find(kLengths.begin(), kLengths.end(), moment.size()) != kLengths.end();
  for (std::size_t i = 0; fits && i < moment.size(); ++i) {
    fits = kPattern[i] == 'd' ? is_digit(moment[i]) : moment[i] == kPattern[i];
  }
  if (fits) return moment;
  return Error(ErrorKind::Config, std::string(option) +
                                      " takes a day in UTC, as in 2026-11-15 or "
                                      "2026-11-15T10:20, not '" +
                                      std::string(text) + "'");
}

std::vector<bool> opens_series(std::span<const IndexedRun> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::tie(runs[i].started, runs[i].folder) < std::tie(runs[j].started, runs[j].folder);
  });
  std::vector<bool> opens(runs.size(), false);
  std::map<std::string, Seconds> busy_until;  // by machine
  for (const std::size_t i : order) {
    const auto started = moment_of(runs[i].started);
    if (!started) continue;
    const auto [before, is_first] = busy_until.try_emplace(runs[i].host, *started);
    opens[i] = is_first || *started - before->second > kPause;
    before->second =
        std::max({before->second, *started, moment_of(runs[i].ended).value_or(*started)});
  }
  return opens;
}

std::map<std::string, std::vector<std::size_t>> usual_runs(std::span<const IndexedRun> runs) {
  const std::vector<bool> opens = opens_series(runs);
  std::map<std::string, std::vector<std::size_t>> usual;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_usable(runs[i]) && !opens[i]) usual[runs[i].fingerprint].push_back(i);
  }
  for (auto& [fingerprint, these] : usual) {
    std::stable_sort(these.begin(), these.end(), [&](std::size_t i, std::size_t j) {
      return runs[i].started > runs[j].started;
    });
    if (these.size() > kNewest) these.resize(kNewest);
  }
  return usual;
}

namespace {

namespace fs = std::filesystem;
using Action = PruneStep::Action;

std::string newest(std::size_t keep) {
  return keep == 1 ? "the newest" : fmt::format("the {} newest", keep);
}

/// The canonical folder, if it is inside the root itself: no `..`, no link.
std::optional<fs::path> inside(const fs::path& root, const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::canonical(root, failure);
  if (failure || folder.empty() || folder.is_absolute()) return std::nullopt;
  const fs::path expected = (whole / folder).lexically_normal();
  const bool is_below =
      expected != whole && !expected.lexically_relative(whole).string().starts_with("..");
  if (!is_below || fs::canonical(expected, failure) != expected) return std::nullopt;
  return expected;
}

}  // namespace

std::vector<PruneStep> plan_prune(const std::vector<IndexedRun>& newest_first, std::size_t keep) {
  std::vector<PruneStep> steps;
  std::size_t kept = 0;
  for (const IndexedRun& run : newest_first) {
    PruneStep step{run, Action::Keep, ""};
    if (run.state == "running") {
      step.why = "it is still running";
    } else if (kept < keep) {
      ++kept;
      step.why = keep == 1 ? "it is the newest" : "one of " + newest(keep);
    } else {
      step.action = Action::Remove;
      step.why = keep == 0 ? "--keep is 0" : "older than " + newest(keep);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;
    const bool is_file = at->is_regular_file(gone) && !at->is_symlink(gone);
    const std::uint64_t size = is_file ? at->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

Result<std::optional<std::string>> remove_run(const fs::path& root, const fs::path& run) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(root / run, failure))) return std::optional("it is gone");
  const auto found = inside(root, run);
  if (!found) return std::optional("it is not in " + root.string());
  const fs::path& folder = *found;
  const run::FolderLock lock(folder, run::FolderLock::Kind::Own);
  const auto record = run::read_record(folder);
  if (!record && record.error().kind() == ErrorKind::NotFound) return std::optional("it is gone");
  const bool says_running = !record || record->state == RunState::Running;
  // On a file system without locks, the run's own record decides.
  if (says_running && !lock.is_held()) return std::optional("it is still running");
  if (lock.is_taken()) return std::optional("another program is using it");
  const fs::path aside =
      folder.parent_path() /
      fmt::format(".pruned-{}-{}", folder.filename().string(), static_cast<int>(::getpid()));
  fs::rename(folder, aside, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot remove " + folder.string() + ": " + failure.message());
  }
  fs::remove_all(aside, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot remove all of " + aside.string() + ": " +
                                    failure.message() + "; it is a run that was pruned");
  }
  return std::optional<std::string>();
}

bool remove_dangling_latest(const fs::path& root) {
  std::error_code failure;
  const fs::path link = root / run::folders::kLatest;
  if (!fs::is_symlink(fs::symlink_status(link, failure)) || fs::exists(link, failure)) return false;
  return fs::remove(link, failure);
}

}  // namespace profline::run_index
