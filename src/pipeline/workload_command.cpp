#include "pipeline/workload_command.h"

#include <algorithm>
#include <cstdlib>

#include "base/assert.h"
#include "formats/json_write.h"
#include "formats/node_redaction.h"
#include "pipeline/module_overrides.h"
#include "records/config_secrets.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

Command users_command(const RunSetup& setup, std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  command.cwd = (setup.cwd / setup.settings.pipeline.workload.cwd).lexically_normal();
  command.env["PROFLINE_RUN_DIR"] = setup.folder.string();
  return command;
}

/// OpenBLAS has threads of its own beside OpenMP's, which the rest of libtorch uses, and they wait
/// for work by spinning, 2^26 cycles unless told otherwise, while OpenMP's want the cores: on two
/// cores a request of the tiny model takes 130 ms so, and 27 ms with a short wait. OpenBLAS reads
/// this when it is loaded, so it cannot be left to the workload.
constexpr const char* kBlasSpin = "OPENBLAS_THREAD_TIMEOUT";
constexpr const char* kShortSpin = "4";

std::string program_of(const Toolbox& tools) {
  if (tools.workload && *tools.workload) return tools.workload->value().string();
  return "profline-workload";
}

/// The value at a dotted path of maps; null pointer when there is none.
Node* find_in(Node& config, std::string_view key) {
  Node* at = &config;
  while (at != nullptr && !key.empty()) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    at = at->find(key.substr(0, dot));
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return at;
}

/// What the config that is handed to the workload lacks, as JSON; nothing when it lacks nothing.
std::optional<std::string> config_secrets(const RunSetup& setup) {
  const Node part = redacted_part(setup.config, redacted(setup.config, setup.redactor));
  if (part.is_null()) return std::nullopt;
  auto text = write_json(part, {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  if (!text) return std::nullopt;
  return std::move(*text);
}

}  // namespace

Command workload_command(const StageContext& context, const WorkloadRun& run) {
  const RunSetup& setup = context.setup;
  const settings::Workload& workload = setup.settings.pipeline.workload;
  if (auto argv = workload.user_command()) {
    if (!workload.command) {
      const std::vector<std::string> overrides = module_overrides(setup, run);
      argv->insert(argv->end(), overrides.begin(), overrides.end());
    }
    Command command = users_command(setup, std::move(*argv));
    command.log = run.out / "log";
    return command;
  }
  Command command;
  command.argv = {program_of(context.tools), "--mode", std::string(run.mode), "--config",
                  run.config.string(),       "--out",  run.out.string(),      "--base",
                  setup.cwd.string()};
  const auto add = [&command](std::string option, std::string value) {
    command.argv.push_back(std::move(option));
    command.argv.push_back(std::move(value));
  };
  if (run.samples) add("--samples", std::to_string(*run.samples));
  if (setup.sampling_seed) add("--sampling-seed", std::to_string(*setup.sampling_seed));
  if (run.baseline) add("--baseline", run.baseline->string());
  if (setup.verbosity < 0) command.argv.emplace_back("--quiet");
  if (setup.verbosity > 0) command.argv.emplace_back("--verbose");
  const bool is_cpu = setup.settings.device.kind == settings::Device::Kind::Cpu;
  if (is_cpu && std::getenv(kBlasSpin) == nullptr) command.env[kBlasSpin] = kShortSpin;
  if (auto secrets = config_secrets(setup)) command.env[kConfigSecrets] = std::move(*secrets);
  if (setup.chdir) command.cwd = setup.stage_folder(run.stage);
  command.log = run.out / "log";
  return command;
}

fs::path handed_config_file(const RunSetup& setup, std::string_view stage,
                            std::span<const ConfigChange> changes) {
  if (changes.empty()) return setup.folder / "config.resolved.json";
  return setup.stage_folder(stage) / "config.json";
}

Result<std::string> handed_config(const RunSetup& setup, std::span<const ConfigChange> changes) {
  Node changed = redacted(setup.config, setup.redactor);
  for (const ConfigChange& change : changes) {
    Node* value = find_in(changed, change.key);
    PL_ASSERT(value != nullptr, "changes are made from keys that the config has");
    *value = change.value;
  }
  NodeMap document;
  document.set("schema", Node::string("profline.resolved_config/1"));
  for (const NodeMap::Entry& entry : changed.as_map()) document.set(entry.key, entry.value);
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

std::vector<ConfigChange> changes_under_profiler(const Node& config) {
  struct Off {
    const char* key;
    const char* why;
  };
  constexpr Off kOff[] = {
      {"pipeline.torch_profiler.enable", "CUPTI serves one profiler at a time"},
      {"pipeline.torch_profiler.output.prediction.enable", "writing would disturb the measurement"},
      {"pipeline.torch_profiler.output.visualization.enable",
       "drawing would disturb the measurement"},
      {"pipeline.direct_inference.output.prediction.enable",
       "writing would disturb the measurement"},
      {"pipeline.direct_inference.output.visualization.enable",
       "drawing would disturb the measurement"},
  };
  std::vector<ConfigChange> changes;
  for (const Off& off : kOff) {
    const Node* value = config.find_path(off.key);
    const bool is_off = value == nullptr || (value->is_bool() && !value->as_bool());
    if (!is_off) changes.push_back({off.key, Node::boolean(false), off.why});
  }
  return changes;
}

}  // namespace profline::pipeline
