#include "comparison/run_measurements.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/captures/capture_series.h"
#include "analysis/requests/series.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/document.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "statistics/summary.h"

namespace profline::comparison {
namespace {

namespace fs = std::filesystem;

constexpr double kNsPerUs = 1e3;
/// Consecutive launches are not independent: means of this many blocks nearly are.
constexpr std::size_t kBlocks = 32;

class Measurements {
 public:
  explicit Measurements(const run::Run& run) : run_(run) {
    const RunRecord& record = run.record();
    found_.run = {record.id,         run.folder().string(),
                  record.experiment, std::string(to_text(record.state)),
                  record.started,    record.commit,
                  record.device,     record.host,
                  std::nullopt};
  }

  void documents() {
    found_.config = kept(run_.get(run::kConfig)).content;
    found_.environment = kept(run_.get(run::kEnvironmentTree)).content;
    found_.inputs = kept(run_.get(run::kInputs)).content;
  }
  void unprofiled();
  void captures();

  RunMeasurements take() && { return std::move(found_); }

 private:
  /// The artifact; if it exists but cannot be read, adds a note.
  template <typename T>
  const run::Artifact<T>& kept(const run::Artifact<T>& artifact) {
    if (artifact.is_there && !artifact) {
      found_.notes.push_back(found_.run.id + ": " + artifact.why_not);
    }
    return artifact;
  }

  void process();
  void clocks();
  void nsys_captures();
  void add(Family family, std::vector<captures::CallTimes> rows);

  const run::Run& run_;
  RunMeasurements found_;
  bool has_kernels_ = false;
  std::map<std::tuple<Family, std::string, std::string>, std::size_t> calls_;  // in found_.series
};

/// For a user's command: one run of it, of which only the total is known.
void Measurements::process() {
  const auto& document = kept(run_.get(run::kProcess));
  if (!document) return;
  const auto wall_ms = requests::wall_ms(*document);
  if (!wall_ms) return;
  Series wall;
  wall.name = wall.short_name = std::string(requests::kWallFigure);
  wall.unit = "ms";
  wall.units = {*wall_ms};
  wall.keys = {"command"};
  found_.series.push_back(std::move(wall));
}

void Measurements::clocks() {
  const auto& readings = kept(run_.get(run::kGpuReadings));
  if (!readings) return;
  double sum = 0;
  double count = 0;
  for (const run::GpuReading& reading : *readings) {
    const double clock = reading.sm_clock_mhz.value_or(0);
    if (clock <= 0) continue;
    sum += clock;
    count += 1;
  }
  if (count > 0) found_.run.sm_clock_mhz = sum / count;
}

void Measurements::unprofiled() {
  process();
  clocks();
  const auto& all = kept(run_.baseline());
  if (!all) return;
  found_.new_tokens = 0;
  for (const Request& request : *all) *found_.new_tokens += request.new_tokens.value_or(0);
  found_.disturbance = requests::disturbed_share(*all);
  for (requests::Series& one : requests::series_of(*all)) {
    Series series;
    series.family = one.is_phase ? Family::Phase : Family::Metric;
    series.name = series.short_name = std::move(one.name);
    series.unit = std::move(one.unit);
    series.better = one.better;
    series.units = std::move(one.units);
    series.keys = std::move(one.keys);
    series.per_step = one.per_step;
    found_.series.push_back(std::move(series));
  }
}

void Measurements::add(Family family, std::vector<captures::CallTimes> rows) {
  for (captures::CallTimes& row : rows) {
    const double total_ns = row.total_ns();
    if (total_ns <= 0) continue;
    const auto [place, is_new] =
        calls_.try_emplace({family, row.name, row.shape}, found_.series.size());
    if (is_new) found_.series.emplace_back();
    Series& series = found_.series[place->second];
    series.family = family;
    series.unit = "us";
    series.calls = series.calls.value_or(0) + row.ns.size();
    series.total = series.total.value_or(0) + total_ns / kNsPerUs;
    for (const double ns : statistics::block_means(row.ns, kBlocks)) {
      // A call shorter than the clock's resolution still took some time.
      series.units.push_back(std::max(ns, 1.0) / kNsPerUs);
    }
    series.name = std::move(row.name);
    series.short_name = std::move(row.short_name);
    series.shape = std::move(row.shape);
  }
}

/// Each capture is needed once and may be large, so only one is in memory at a time.
void Measurements::nsys_captures() {
  const auto& ranges = kept(run_.get(run::kNsysRanges));
  if (!ranges) return;
  for (const NsysCapture& capture : ranges->captures) {
    if (capture.sqlite.empty()) continue;
    const run::Artifact<Timeline> timeline = run_.read_capture(capture.sqlite);
    if (!kept(timeline)) continue;
    auto kernels = captures::kernel_times(*timeline);
    has_kernels_ = has_kernels_ || !kernels.empty();
    add(Family::Kernel, std::move(kernels));
  }
}

/// Kernels from nsys if it captured any, else from the torch profiler; operators from the latter.
void Measurements::captures() {
  nsys_captures();
  const run::Artifact<Timeline> trace = run_.read(run::kTorchTrace);
  if (!kept(trace)) return;
  add(Family::Operator, captures::operator_times(*trace));
  if (!has_kernels_) add(Family::Kernel, captures::kernel_times(*trace));
}

using Key = std::tuple<Family, std::string_view, std::string_view>;
using Member = std::vector<const Series*> SeriesGroup::*;

class Groups {
 public:
  void add(std::span<const RunMeasurements> side, Member member) {
    for (const RunMeasurements& run : side) {
      for (const Series& series : run.series) {
        const Key key(series.family, series.name, series.shape);
        const auto [place, is_new] = places_.try_emplace(key, groups_.size());
        if (is_new) groups_.emplace_back();
        (groups_[place->second].*member).push_back(&series);
      }
    }
  }
  std::vector<SeriesGroup> take() && { return std::move(groups_); }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<SeriesGroup> groups_;
};

double mean_total(const std::vector<const Series*>& runs) {
  double sum = 0;
  for (const Series* series : runs) sum += series->total.value_or(0);
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

bool is_captured(const SeriesGroup& group) {
  return group.any().family == Family::Operator || group.any().family == Family::Kernel;
}

std::vector<std::size_t> by_key(const Series& series) {
  std::vector<std::size_t> order(series.keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return series.keys[i] < series.keys[j]; });
  return order;
}

std::vector<std::string> sorted_keys(const Series& series) {
  std::vector<std::string> keys = series.keys;
  std::sort(keys.begin(), keys.end());
  return keys;
}

statistics::RunUnits units_of(const std::vector<const Series*>& runs, bool in_key_order) {
  statistics::RunUnits all;
  for (const Series* series : runs) {
    if (!in_key_order) {
      all.push_back(series->units);
      continue;
    }
    std::vector<double> units;
    for (const std::size_t i : by_key(*series)) units.push_back(series->units[i]);
    all.push_back(std::move(units));
  }
  return all;
}

}  // namespace

RunMeasurements measurements_of(const run::Run& run, const MeasurementOptions& options) {
  Measurements measurements(run);
  measurements.documents();
  measurements.unprofiled();
  if (options.captures) measurements.captures();
  return std::move(measurements).take();
}

Result<std::vector<fs::path>> runs_in(const fs::path& folder) {
  if (run::holds_run(folder)) return std::vector{folder};
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    return Error(ErrorKind::NotFound, "'" + folder.string() +
                                          "' is not a folder: give that of a run, "
                                          "or one that contains several");
  }
  std::vector<fs::path> runs;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    // `latest` points to one of the others.
    std::error_code ignored;
    if (!at->is_symlink(ignored) && run::holds_run(at->path())) runs.push_back(at->path());
  }
  if (failure) {
    return Error(ErrorKind::Io, "cannot list " + folder.string() + ": " + failure.message());
  }
  if (runs.empty()) {
    return Error(ErrorKind::NotFound,
                 "'" + folder.string() + "' contains no run: neither it nor a folder in it has a " +
                     run::files::kRecord);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::vector<SeriesGroup> group_series(std::span<const RunMeasurements> a,
                                      std::span<const RunMeasurements> b) {
  Groups collected;
  collected.add(a, &SeriesGroup::a);
  collected.add(b, &SeriesGroup::b);
  std::vector<SeriesGroup> groups = std::move(collected).take();
  std::stable_sort(groups.begin(), groups.end(), [](const SeriesGroup& x, const SeriesGroup& y) {
    const auto rank = [](const SeriesGroup& group) {
      const double time = std::max(mean_total(group.a), mean_total(group.b));
      return std::pair(group.any().family, is_captured(group) ? -time : 0.0);
    };
    return rank(x) < rank(y);
  });
  return groups;
}

PairedUnits pair_units(const SeriesGroup& group, bool may_pair) {
  const std::vector<std::string> first = sorted_keys(group.any());
  bool paired = may_pair && !first.empty();
  for (const auto& side : {group.a, group.b}) {
    for (const Series* series : side) paired = paired && sorted_keys(*series) == first;
  }
  return {paired, units_of(group.a, paired), units_of(group.b, paired)};
}

bool matches(std::string_view pattern, std::string_view text) {
  // Greedy with one position to return to: linear in practice, quadratic at worst.
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

}  // namespace profline::comparison
