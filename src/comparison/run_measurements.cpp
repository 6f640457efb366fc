#include "comparison/run_measurements.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "analysis/captures/capture_series.h"
#include "analysis/energy/energy.h"
#include "analysis/requests/phases.h"
#include "analysis/requests/series.h"
#include "analysis/requests/steady.h"
#include "analysis/requests/tokens.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/document.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/run_record.h"
#include "records/server.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "statistics/summary.h"

namespace profline::comparison {
namespace {

namespace fs = std::filesystem;

constexpr double kNsPerUs = 1e3;
constexpr double kNsPerMs = 1e6;
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
  void ranks();
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
  void load();
  void server();
  void server_steps();
  void server_windows();
  void add(requests::Series one);
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

/// For a load on a server: what its client measured. Where the model ran is not known.
void Measurements::load() {
  const auto& record = kept(run_.get(run::kLoad));
  if (!record) return;
  const auto& requests = kept(run::load_requests(run_));
  const run::Requests none;
  const run::Requests& all = requests ? *requests : none;
  found_.is_load = true;
  found_.run.device.clear();
  found_.requests = all.size();
  found_.steady_requests = requests::steady_requests(all, *record).size();
  found_.steadiness = requests::steadiness_of(*record);
  found_.load_tokens = record->prompts.mean_output_tokens;
  for (requests::Series& one : requests::load_series(all, *record)) add(std::move(one));
  if (const auto& readings = run_.get(run::kGpuReadings)) {
    if (auto energy = energy::series_of(*readings, all, *record)) add(std::move(*energy));
  }
  server();
  const auto note = [&](const std::string& text) {
    found_.notes.push_back(found_.run.id + ": " + text);
  };
  if (record->limit == LoadLimit::Client) {
    note("the client was the bottleneck, so the server may be faster: " + record->limit_reason);
  }
  const LoadMetrics& metrics = record->metrics;
  if (!metrics.ttft.marked.empty() || !metrics.tpot.marked.empty() || !metrics.itl.marked.empty() ||
      !metrics.e2e.marked.empty()) {
    note(
        "the client's own error could change some latencies by more than 5 %; its report marks "
        "them");
  }
  if (metrics.goodput && metrics.goodput->good == 0) note("no request met the SLOs: no goodput");
}

/// Of a server that says so itself, where the time to the first token goes.
void Measurements::server() {
  const auto& record = kept(run_.get(run::kBaselineServer));
  if (!record || !record->first_token) return;
  const auto add_mean = [&](const char* name, const std::optional<double>& ns) {
    if (!ns || *ns <= 0) return;
    Series series;
    series.name = series.short_name = name;
    series.unit = "ms";
    series.units = {*ns / kNsPerMs};
    found_.series.push_back(std::move(series));
  };
  add_mean("server_queue_ms", record->first_token->queue_ns);
  add_mean("server_prefill_ms", record->first_token->prefill_ns);
}

/// Steps in the window under nsys, else in that under the torch profiler.
void Measurements::server_steps() {
  const auto& nsys = kept(run_.get(run::kNsysServer));
  const auto& torch = kept(run_.get(run::kTorchServer));
  const auto has_steps = [](const run::Artifact<ServerRecord>& server) {
    return server && server->steps && !server->steps->kinds.empty();
  };
  const run::Artifact<ServerRecord>& server = has_steps(nsys) ? nsys : torch;
  if (!has_steps(server)) return;
  for (const ServerStepKind& kind : server->steps->kinds) {
    if (kind.kind == "idle" || kind.median_ns <= 0) continue;
    Series series;
    series.family = Family::Step;
    series.name = kind.kind + (kind.batch ? " at batch " + std::to_string(*kind.batch) : "");
    series.short_name = series.name;
    series.unit = "us";
    series.units = {kind.median_ns / kNsPerUs};
    series.calls = kind.count;
    series.total = kind.total_ns / kNsPerUs;
    found_.series.push_back(std::move(series));
  }
}

/// How busy the GPU was in the window of each profiler, and what the profiler cost.
void Measurements::server_windows() {
  constexpr double kPercent = 100;
  for (const auto* name : {&run::kNsysServer, &run::kTorchServer}) {
    const run::Artifact<ServerRecord>& server = kept(run_.get(*name));
    if (!server || !server->window) continue;
    const auto add_one = [&](std::string_view what, const char* unit, statistics::Better better,
                             const std::optional<double>& value) {
      if (!value || *value <= 0) return;
      Series series;
      series.family = Family::Step;
      series.name = std::string(what) + " (" + server->stage + ")";
      series.short_name = series.name;
      series.unit = unit;
      series.better = better;
      series.units = {*value};
      found_.series.push_back(std::move(series));
    };
    const auto percent_of = [](const std::optional<double>& share) {
      return share ? std::optional(*share * kPercent) : std::nullopt;
    };
    add_one("GPU busy", "%", statistics::Better::Higher, percent_of(server->gpu_busy_share));
    if (!server->cost) continue;
    const ServerCost& cost = *server->cost;
    add_one("tokens/s kept", "%", statistics::Better::Higher, percent_of(cost.throughput));
    add_one("longest pause", "ms", statistics::Better::Lower,
            std::max(cost.stall_open_ms, cost.stall_close_ms));
  }
}

void Measurements::add(requests::Series one) {
  Series series;
  series.family = one.is_phase ? Family::Phase : Family::Metric;
  series.name = series.short_name = std::move(one.name);
  series.unit = std::move(one.unit);
  series.better = one.better;
  series.units = std::move(one.units);
  series.keys = std::move(one.keys);
  series.left_out = std::move(one.left_out);
  series.per_step = one.per_step;
  found_.series.push_back(std::move(series));
}

void Measurements::clocks() {
  if (!kept(run_.get(run::kGpuReadings))) return;
  double sum = 0;
  double count = 0;
  for (const run::GpuReading& reading : run::measured_readings(run_)) {
    const double clock = reading.sm_clock_mhz.value_or(0);
    if (clock <= 0) continue;
    sum += clock;
    count += 1;
  }
  if (count > 0) found_.run.sm_clock_mhz = sum / count;
}

void Measurements::unprofiled() {
  process();
  load();
  clocks();
  const auto& all = kept(run_.baseline());
  if (!all) return;
  found_.new_tokens = 0;
  for (const Request& request : *all) {
    if (const auto tokens = requests::tokens_of(request)) *found_.new_tokens += tokens->all;
  }
  found_.disturbance = requests::disturbed_share(*all);
  const requests::PhaseTree tree(*all);
  const requests::SteadyPart steady(*all, tree);
  found_.requests = all->size();
  found_.steady_requests = steady.steady_requests();
  found_.steadiness = steady.verdict();
  for (requests::Series& one : requests::series_of(*all, tree, steady)) add(std::move(one));
  const auto& readings = run_.get(run::kGpuReadings);
  if (!readings) return;
  if (auto energy = energy::series_of(*readings, *all)) add(std::move(*energy));
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

/// Of a program with several ranks: what communication costs each of them.
void Measurements::ranks() {
  const auto& analysis = kept(run_.get(run::kRankAnalysis));
  if (!analysis) return;
  constexpr double kLeast = 1e-6;  // changes are ratios
  const auto series_of = [](const char* name, const char* unit) {
    Series series;
    series.family = Family::Rank;
    series.name = series.short_name = name;
    series.unit = unit;
    return series;
  };
  Series exposed = series_of("exposed_communication", "%");
  Series wait = series_of("collective_wait_ms", "ms");
  for (const RankRow& row : analysis->ranks) {
    const std::string key = "rank " + std::to_string(row.rank);
    if (const auto share = row.time.exposed_share()) {
      exposed.units.push_back(std::max(kLeast, 100 * *share));
      exposed.keys.push_back(key);
    }
    if (row.matched == 0) continue;
    const double wait_ns = static_cast<double>(row.waited_ns) / static_cast<double>(row.matched);
    wait.units.push_back(std::max(kLeast, wait_ns / kNsPerMs));
    wait.keys.push_back(key);
  }
  for (Series* series : {&exposed, &wait}) {
    if (!series->units.empty()) found_.series.push_back(std::move(*series));
  }
  if (const auto late = analysis->straggler()) {
    found_.notes.push_back(found_.run.id + ": rank " + std::to_string(*late) +
                           " is late: " + analysis->stragglers.front().evidence);
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
  server_steps();
  server_windows();
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
  return comparison::is_captured(group.any().family);
}

using Keys = std::vector<std::string>;

/// The inputs of a series, with those that are not steady or without.
Keys sorted_keys(const Series& series, bool with_left_out) {
  Keys keys = series.keys;
  if (with_left_out) keys.insert(keys.end(), series.left_out.begin(), series.left_out.end());
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// The units of these inputs, in their order. Each is among the keys of the series.
std::vector<double> units_of(const Series& series, const Keys& inputs) {
  std::map<std::string_view, double> known;
  for (std::size_t i = 0; i < series.keys.size(); ++i) known[series.keys[i]] = series.units[i];
  std::vector<double> units;
  units.reserve(inputs.size());
  for (const std::string& input : inputs) units.push_back(known[input]);
  return units;
}

statistics::RunUnits units_of(const std::vector<const Series*>& runs) {
  statistics::RunUnits all;
  for (const Series* series : runs) all.push_back(series->units);
  return all;
}

statistics::RunUnits units_of(const std::vector<const Series*>& runs, const Keys& inputs) {
  statistics::RunUnits all;
  for (const Series* series : runs) all.push_back(units_of(*series, inputs));
  return all;
}

/// The inputs that are steady in every run; empty unless every run measured the same ones and at
/// least half of them remain.
Keys common_inputs(const SeriesGroup& group) {
  const Keys measured = sorted_keys(group.any(), true);
  Keys common = measured;
  for (const auto& side : {group.a, group.b}) {
    for (const Series* series : side) {
      if (sorted_keys(*series, true) != measured) return {};
      const Keys steady = sorted_keys(*series, false);
      Keys both;
      std::set_intersection(common.begin(), common.end(), steady.begin(), steady.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
  }
  return common.size() * 2 < measured.size() ? Keys() : common;
}

}  // namespace

RunMeasurements measurements_of(const run::Run& run, const MeasurementOptions& options) {
  Measurements measurements(run);
  measurements.documents();
  measurements.unprofiled();
  measurements.ranks();
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
  const Keys inputs = may_pair ? common_inputs(group) : Keys();
  if (inputs.empty()) return {false, units_of(group.a), units_of(group.b)};
  return {true, units_of(group.a, inputs), units_of(group.b, inputs)};
}

}  // namespace profline::comparison
