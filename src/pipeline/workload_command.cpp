#include "pipeline/workload_command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "config/overrides/override.h"
#include "formats/json.h"
#include "formats/node.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

Command users_command(const StageContext& context, const WorkloadRun& run,
                      std::vector<std::string> argv) {
  const RunSetup& setup = context.setup;
  const settings::Workload& workload = setup.settings.pipeline.workload;
  program::ProgramRun program = run.program;
  program.run_folder = setup.folder;
  program.record_folder = run.out / run::folders::kRecorded;
  Command command;
  command.argv = std::move(argv);
  command.cwd = (setup.cwd / workload.cwd).lexically_normal();
  command.env = program::environment(program, context.tools.companions, workload);
  return command;
}

/// OpenBLAS has its own threads besides those of OpenMP, which the rest of libtorch uses. They spin
/// while they wait for work, for 2^26 cycles by default, while OpenMP's threads need the cores: on
/// two cores a request of the tiny model takes 130 ms that way, and 27 ms with a short wait.
/// OpenBLAS reads this when it is loaded, so the workload cannot set it itself.
constexpr const char* kBlasSpin = "OPENBLAS_THREAD_TIMEOUT";
constexpr const char* kShortSpin = "4";

std::string program_of(const Toolbox& tools) {
  if (tools.workload && *tools.workload) return tools.workload->value().string();
  return "profline-workload";
}

/// The value at a dotted path of maps; a null pointer if it does not exist.
Node* find_in(Node& config, std::string_view key) {
  Node* at = &config;
  while (at != nullptr && !key.empty()) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    at = at->find(key.substr(0, dot));
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return at;
}

/// A value in Hydra's grammar, quoted where a character would otherwise have a meaning.
std::string value_text(const Node& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (!value.is_string()) return config::print_value(value).value_or("null");
  const std::string& text = value.as_string();
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
  if (is_plain) return text;
  const config::OverrideValue::Variant quoted = config::QuotedString{.text = text};
  return config::print_value(config::OverrideValue(quoted)).value_or(text);
}

class Overrides {
 public:
  explicit Overrides(const RunSetup& setup) : setup_(setup) {}

  void set(std::string_view key, std::string_view text) {
    list_.push_back(std::string(key) + "=" + std::string(text));
  }
  void set(std::string_view key, const Node& value) { set(key, value_text(value)); }
  /// Adds the value of the config, if it has one.
  void pass(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value != nullptr) set(key, *value);
  }
  void pass_given(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value != nullptr && !value->is_null()) set(key, *value);
  }
  /// Relative paths start where profline was started.
  void pass_path(std::string_view key) {
    const Node* value = setup_.config.find_path(key);
    if (value == nullptr || !value->is_string() || value->as_string().empty()) return;
    set(key, Node::string((setup_.cwd / value->as_string()).lexically_normal().string()));
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  const RunSetup& setup_;
  std::vector<std::string> list_;
};

/// The same images in the same order in every run, limited to as many as the stage uses.
void pass_sampling(const RunSetup& setup, const WorkloadRun& run, Overrides& overrides) {
  if (run.samples) {
    overrides.set("dataset.sampling.num_epochs", "1");
    overrides.set("dataset.sampling.num_samples_per_epoch", std::to_string(*run.samples));
  } else {
    overrides.pass("dataset.sampling.num_epochs");
    overrides.pass("dataset.sampling.num_samples_per_epoch");
  }
  overrides.pass("dataset.sampling.randomize");
  if (setup.sampling_seed) {
    overrides.set("dataset.sampling.seed", std::to_string(*setup.sampling_seed));
  } else {
    overrides.pass_given("dataset.sampling.seed");
  }
}

fs::path run_folder(const RunSetup& setup, const WorkloadRun& run) {
  return run.out == setup.stage_folder(run.stage) ? run.out / run::folders::kWorkload : run.out;
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
    Command command = users_command(context, run, std::move(*argv));
    command.log = run.out / run::files::kLog;
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
  command.log = run.out / run::files::kLog;
  return command;
}

std::optional<std::string> config_secrets(const RunSetup& setup) {
  const Node part = redacted_part(setup.config, redacted(setup.config, setup.redactor));
  if (part.is_null()) return std::nullopt;
  auto text = write_json(part, {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  if (!text) return std::nullopt;
  return std::move(*text);
}

fs::path handed_config_file(const RunSetup& setup, std::string_view stage,
                            std::span<const ConfigChange> changes) {
  if (changes.empty()) return setup.folder / run::files::kResolvedConfig;
  return setup.stage_folder(stage) / run::files::kHandedConfig;
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

std::vector<std::string> module_overrides(const RunSetup& setup, const WorkloadRun& run) {
  Overrides overrides(setup);
  overrides.pass_path("model.path");
  overrides.pass_path("dataset.root");
  overrides.pass("device");
  overrides.pass("infer.max_new_tokens");
  overrides.set("pipeline.torch_profiler.enable", "false");
  overrides.set("pipeline.static_analysis.enable", "false");
  pass_sampling(setup, run, overrides);
  overrides.pass_given("dataset.subset_filelist");
  overrides.set("hydra.run.dir", Node::string(run_folder(setup, run).string()));
  overrides.set("hydra.job.chdir", "true");
  return overrides.take();
}

}  // namespace profline::pipeline
