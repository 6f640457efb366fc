#include "run_index/indexed_run.h"

#include <algorithm>

#include "analysis/samples/sample_series.h"
#include "base/files.h"
#include "base/sha256.h"
#include "formats/json.h"
#include "formats/json_write.h"
#include "formats/yaml.h"
#include "records/run_record.h"
#include "records/sample.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;

/// A list must not fail for a file that it could do without.
Node tree_or_null(const fs::path& file, Result<Node> (*parse)(std::string_view, std::string)) {
  const auto text = read_file(file);
  if (!text) return {};
  return parse(*text, file.string()).value_or(Node());
}

std::string text_at(const Node& tree, std::string_view path) {
  const Node* value = tree.find_path(path);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

std::string device_name(const Node& environment, const std::string& device) {
  constexpr std::string_view kCuda = "cuda:";
  if (!device.starts_with(kCuda)) return text_at(environment, "cpu.model");
  const Node* gpus = environment.find("gpus");
  if (gpus == nullptr || !gpus->is_list()) return "";
  for (const Node& gpu : gpus->as_list()) {
    const Node* index = gpu.find("index");
    const bool is_it = index != nullptr && index->is_int() &&
                       std::to_string(index->as_int()) == device.substr(kCuda.size());
    if (is_it) return text_at(gpu, "name");
  }
  return "";
}

/// Of what decides how long the unprofiled run takes: runs that agree in it measured the same
/// thing.
std::string fingerprint_of(const IndexedRun& run, const Node& config, const Node& environment,
                           const Node& inputs) {
  NodeMap document;
  for (const char* key :
       {"device", "use_flash_attn", "model", "infer", "dataset", "pipeline.workload"}) {
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

std::vector<IndexedMetric> metrics_of(const fs::path& file) {
  std::vector<IndexedMetric> metrics;
  const auto text = read_file(file);
  if (!text) return metrics;
  const auto samples = parse_samples(*text, file.string());
  if (!samples) return metrics;
  for (const samples::Series& series : samples::series_of(*samples)) {
    metrics.push_back({series.name, series.unit, samples::value_of(series),
                       static_cast<std::int64_t>(series.units.size())});
  }
  return metrics;
}

}  // namespace

const IndexedMetric* IndexedRun::find_metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const IndexedMetric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

Result<IndexedRun> read_indexed_run(const fs::path& root, const fs::path& folder) {
  const fs::path at = root / folder;
  const RunRecord record = PL_TRY(read_run_record(at));
  const Node config = tree_or_null(at / "config.resolved.json", parse_json);
  const Node environment = tree_or_null(at / "env.json", parse_json);
  const Node inputs = tree_or_null(at / "inputs.yaml", parse_yaml);
  IndexedRun run;
  run.id = record.id;
  run.folder = folder.string();
  run.experiment = record.experiment;
  run.state = to_text(record.state);
  run.exit_code = record.exit_code;
  run.model = text_at(config, "model.name");
  run.device = record.device;
  run.device_name = device_name(environment, record.device);
  run.host = record.host;
  run.version = record.version;
  run.commit = record.commit;
  run.started = record.started;
  run.ended = record.ended;
  run.fingerprint = fingerprint_of(run, config, environment, inputs);
  run.metrics = metrics_of(at / "baseline" / "samples.jsonl");
  return run;
}

}  // namespace profline::run_index
