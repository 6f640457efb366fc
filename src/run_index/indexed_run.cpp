#include "run_index/indexed_run.h"

#include <algorithm>
#include <array>

#include "analysis/requests/series.h"
#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/artifacts.h"
#include "schema/read.h"
#include "settings/workload.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;

/// A list must not fail because of a file that is not essential.
Node tree_or_null(const run::Run& run, const run::ArtifactName<Node>& name) {
  const auto& tree = run.get(name);
  return tree ? *tree : Node();
}

/// A digest of everything that determines how long the unprofiled run takes: runs with the same
/// fingerprint measured the same thing.
std::string fingerprint_of(const IndexedRun& run, const Node& config, const Node& environment,
                           const Node& inputs) {
  NodeMap document;
  for (const char* key : run::kWorkloadKeys) {
    if (const Node* value = config.find_path(key)) document.set(key, *value);
  }
  for (const char* key : {"cpu.model", "driver", "libtorch", "variables"}) {
    if (const Node* value = environment.find_path(key)) document.set(key, *value);
  }
  document.set("inputs", inputs);
  for (const std::string* fact :
       {&run.host, &run.device, &run.device_name, &run.version, &run.commit}) {
    document.set("fact " + std::to_string(document.size()), Node::string(*fact));
  }
  const auto text = write_json(Node::map(std::move(document)),
                               {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  constexpr std::size_t kDigits = 16;
  return text ? sha256_hex(*text).substr(0, kDigits) : "";
}

void add_metrics(const run::Run& opened, IndexedRun& run) {
  if (const auto& all = opened.baseline()) {
    run.disturbance = requests::disturbed_share(*all);
    for (const requests::Series& series : requests::series_of(*all)) {
      run.metrics.push_back({series.name, series.unit, requests::value_of(series),
                             static_cast<std::int64_t>(series.units.size())});
    }
  }
  const auto wall = requests::wall_ms(tree_or_null(opened, run::kProcess));
  if (wall) run.metrics.push_back({std::string(requests::kWallFigure), "ms", *wall, 1});
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

bool is_interpreter(std::string_view name) {
  constexpr std::array<std::string_view, 6> kOthers = {"bash", "sh",   "node",
                                                       "perl", "ruby", "julia"};
  return name.starts_with("python") ||
         std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

}  // namespace

std::string program_name(std::span<const std::string> command) {
  if (command.empty()) return "";
  const std::string name = fs::path(command.front()).filename().string();
  if (name == "torchrun") {
    // The options may take values of their own.
    const auto script = std::find_if(command.begin(), command.end(),
                                     [](const std::string& word) { return word.ends_with(".py"); });
    return script == command.end() ? name : fs::path(*script).filename().string();
  }
  if (!is_interpreter(name)) return name;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-m" && i + 1 < command.size()) return command[i + 1];
    if (word == "-c") return name + " -c";
    const bool takes_value = word == "-X" || word == "-W";
    if (takes_value) ++i;
    if (!word.starts_with("-")) return fs::path(word).filename().string();
  }
  return name;
}

const IndexedMetric* IndexedRun::find_metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const IndexedMetric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
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
  run.program = program_name(users_command(config));
  if (run.program.empty()) run.model = run::text_at(config, "model.name");
  run.device = record.device;
  run.device_name = run::device_name(opened);
  run.host = record.host;
  run.version = record.version;
  run.commit = record.commit;
  run.started = record.started;
  run.ended = record.ended;
  run.fingerprint = fingerprint_of(run, config, environment, inputs);
  add_metrics(opened, run);
  return run;
}

}  // namespace profline::run_index
