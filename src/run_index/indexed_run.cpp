#include "run_index/indexed_run.h"

#include <algorithm>

#include "analysis/energy/energy.h"
#include "analysis/requests/phases.h"
#include "analysis/requests/series.h"
#include "analysis/requests/steady.h"
#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/artifacts.h"
#include "schema/read.h"
#include "settings/pipeline.h"
#include "statistics/steady_state.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;

/// A list must not fail because of a file that is not essential.
Node tree_or_null(const run::Run& run, const run::ArtifactName<Node>& name) {
  const auto& tree = run.get(name);
  return tree ? *tree : Node();
}

std::string digest_of(NodeMap document) {
  constexpr std::size_t kDigits = 16;
  const auto text = write_json(Node::map(std::move(document)),
                               {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  return text ? sha256_hex(*text).substr(0, kDigits) : "";
}

/// A digest of what the config asks the workload to do. Two things in it say where, not what: the
/// device, which lists compare by kind, and the working directory, which differs between checkouts
/// of the same program.
std::string configuration_of(const Node& config) {
  NodeMap document;
  for (const std::string_view key : run::kWorkloadKeys) {
    const Node* value = key == "device" ? nullptr : config.find_path(key);
    if (value == nullptr) continue;
    Node asked = *value;
    if (key == "pipeline.workload" && asked.is_map()) asked.as_map().erase("cwd");
    document.set(std::string(key), std::move(asked));
  }
  return document.empty() ? "" : digest_of(std::move(document));
}

/// A digest of everything that determines how long the unprofiled run takes: runs with the same
/// fingerprint measured the same thing.
std::string fingerprint_of(const IndexedRun& run, const Node& config, const Node& environment,
                           const Node& inputs, const std::string& profline_commit) {
  NodeMap document;
  for (const char* key : run::kWorkloadKeys) {
    if (const Node* value = config.find_path(key)) document.set(key, *value);
  }
  for (const char* key : {"cpu.model", "driver", "libtorch", "variables"}) {
    if (const Node* value = environment.find_path(key)) document.set(key, *value);
  }
  document.set("inputs", inputs);
  if (run.commit != profline_commit) document.set("source", Node::string(run.commit));
  for (const std::string* fact :
       {&run.host, &run.device, &run.device_name, &run.version, &profline_commit}) {
    document.set("fact " + std::to_string(document.size()), Node::string(*fact));
  }
  return digest_of(std::move(document));
}

void add_metrics(const std::vector<requests::Series>& all, IndexedRun& run) {
  for (const requests::Series& series : all) {
    run.metrics.push_back({series.name, series.unit, requests::value_of(series),
                           static_cast<std::int64_t>(series.units.size())});
  }
}

/// A load on a server: its client does not know where the model ran.
void add_load(const run::Run& opened, IndexedRun& run) {
  const auto& load = opened.get(run::kLoad);
  if (!load) return;
  run.model = load->model.empty() ? load->url : load->model;
  run.device.clear();
  run.device_name.clear();
  run.steadiness = to_text(requests::steadiness_of(*load));
  const auto& all = run::load_requests(opened);
  add_metrics(requests::load_series(all ? *all : run::Requests(), *load), run);
  const auto& readings = opened.get(run::kGpuReadings);
  const auto energy = readings && all ? energy::series_of(*readings, *all, *load) : std::nullopt;
  if (energy) add_metrics({*energy}, run);
}

void add_metrics(const run::Run& opened, IndexedRun& run) {
  if (const auto& all = opened.baseline()) {
    run.disturbance = requests::disturbed_share(*all);
    const requests::PhaseTree tree(*all);
    const requests::SteadyPart steady(*all, tree);
    if (!all->empty()) run.steadiness = to_text(steady.verdict());
    add_metrics(requests::series_of(*all, tree, steady), run);
    const auto& readings = opened.get(run::kGpuReadings);
    const auto energy = readings ? energy::series_of(*readings, *all) : std::nullopt;
    if (energy) add_metrics({*energy}, run);
  }
  const auto wall = requests::wall_ms(tree_or_null(opened, run::kProcess));
  if (wall) run.metrics.push_back({std::string(requests::kWallFigure), "ms", *wall, 1});
}

/// Of a program with several ranks, as its reports compare them.
void add_ranks(const run::Run& opened, IndexedRun& run) {
  const auto& analysis = opened.get(run::kRankAnalysis);
  if (!analysis) return;
  constexpr double kNsPerMs = 1e6;
  const auto ranks = static_cast<std::int64_t>(analysis->ranks.size());
  const auto collectives = static_cast<std::int64_t>(analysis->skew.collectives);
  if (analysis->exposed_share) {
    run.metrics.push_back({"exposed_communication", "%", 100 * *analysis->exposed_share, ranks});
  }
  if (collectives > 0) {
    run.metrics.push_back(
        {"collective_skew_ms", "ms", analysis->skew.median_ns / kNsPerMs, collectives});
  }
  if (const auto late = analysis->straggler()) {
    run.metrics.push_back({"late_rank", "", static_cast<double>(*late), collectives});
  }
}

/// The user's program and its arguments; empty for the built-in workload.
std::vector<std::string> users_command(const Node& config) {
  // Not through settings::Workload: a run of another version may have other keys beside it.
  std::vector<std::string> command;
  const Node* given = config.find_path("pipeline.workload.command");
  if (given != nullptr && given->is_list()) {
    for (const Node& word : given->as_list()) {
      if (word.is_string()) command.push_back(word.as_string());
    }
    return command;
  }
  const std::string module(trim(run::text_at(config, "pipeline.workload.module")));
  if (!module.empty()) command = {"python3", "-m", module};
  return command;
}

}  // namespace

const IndexedMetric* IndexedRun::find_metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const IndexedMetric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

bool IndexedRun::is_too_short() const {
  return steadiness == to_text(statistics::Steadiness::TooShort);
}

Result<IndexedRun> read_indexed_run(const fs::path& root, const fs::path& folder) {
  return indexed_run(PL_TRY(run::Run::open(root / folder)), folder);
}

IndexedRun indexed_run(const run::Run& opened, const fs::path& folder) {
  const RunRecord& record = opened.record();
  const Node config = tree_or_null(opened, run::kConfig);
  const Node environment = tree_or_null(opened, run::kEnvironmentTree);
  const Node inputs = tree_or_null(opened, run::kInputs);
  IndexedRun run;
  run.id = record.id;
  run.folder = folder.string();
  run.experiment = record.experiment;
  run.state = to_text(record.state);
  run.exit_code = record.exit_code;
  run.program = settings::program_name(users_command(config));
  if (run.program.empty()) run.model = run::text_at(config, "model.name");
  run.device = record.device;
  run.device_name = run::device_name(opened);
  run.host = record.host;
  run.version = record.version;
  // The built-in model is profline's own; other programs are somebody else's.
  const bool is_own = users_command(config).empty() && !opened.get(run::kLoad);
  run.commit = is_own ? record.commit : run::text_at(environment, "source_commit");
  run.started = record.started;
  run.ended = record.ended;
  add_load(opened, run);
  run.fingerprint = fingerprint_of(run, config, environment, inputs, record.commit);
  run.configuration = configuration_of(config);
  add_metrics(opened, run);
  add_ranks(opened, run);
  return run;
}

}  // namespace profline::run_index
