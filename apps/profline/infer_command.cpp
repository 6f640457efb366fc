#include "infer_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/core.h>

#include "base/files.h"
#include "base/terminal_text.h"
#include "configuration.h"
#include "formats/json_write.h"
#include "formats/yaml_write.h"
#include "workload_program.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPredictions = "pipeline.direct_inference.output.prediction.enable";
constexpr const char* kStage = "direct_inference";

/// What is to be run, all decided.
struct InferRun {
  fs::path folder;  ///< of the run
  fs::path cwd;     ///< where relative paths start
  bool chdir = true;
  Node config;  ///< resolved, with the device it comes to
  settings::Root settings;
};

/// Predictions are what the command is for: they are on unless the user says otherwise. Added at
/// the end, so that the user's overrides keep their numbers in messages.
ConfigChoice with_predictions(ConfigChoice choice) {
  const auto mentions = [](const std::string& text) {
    return text.find(kPredictions) != std::string::npos;
  };
  if (std::none_of(choice.overrides.begin(), choice.overrides.end(), mentions)) {
    choice.overrides.push_back(std::string(kPredictions) + "=true");
  }
  return choice;
}

bool names_run_dir(const ConfigChoice& choice) {
  return std::any_of(choice.overrides.begin(), choice.overrides.end(), [](const std::string& text) {
    return text.find("hydra.run.dir=") != std::string::npos;
  });
}

Result<InferRun> decide(const Configuration& configuration, const ConfigChoice& choice) {
  const config::Composition& composition = configuration.composition();
  config::Resolution resolution(composition.config, configuration.context());
  InferRun run;
  run.config = PL_TRY(resolution.resolve_all());
  run.settings = PL_TRY(settings::read_settings(run.config));
  if (run.settings.pipeline.workload.user_command()) {
    return Error(ErrorKind::Config,
                 "infer runs the built-in workload; pipeline.workload.command and module are for "
                 "profiling");
  }
  const settings::Device device = PL_TRY(decide_device(run.settings.device));
  run.config.as_map().set("device", Node::string(device.to_string()));
  run.settings = PL_TRY(settings::read_settings(run.config));  // fp16 on what turned out a CPU

  config::Resolution with_hydra(composition.root, configuration.context());
  const auto run_dir = PL_TRY(with_hydra.select("hydra.run.dir"));
  const auto chdir = PL_TRY(with_hydra.select("hydra.job.chdir"));
  if (!run_dir || !run_dir->is_string()) {
    return Error(ErrorKind::Config, "hydra.run.dir must be a folder");
  }
  run.cwd = fs::current_path();
  run.folder = PL_TRY(choose_run_folder(run.cwd / run_dir->as_string(), names_run_dir(choice)));
  run.chdir = chdir && chdir->is_bool() && chdir->as_bool();
  return run;
}

/// The config as it was composed, what it was composed from, and what the workload is handed.
Result<void> write_config(const InferRun& run, const config::Composition& composition) {
  PL_TRY(create_folders(run.folder / kStage));
  PL_TRY(write_file_atomic(run.folder / "config.yaml", write_yaml(composition.config)));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  PL_TRY(write_file_atomic(run.folder / "overrides.yaml", write_yaml(overrides)));
  NodeMap resolved;
  resolved.set("schema", Node::string("profline.resolved_config/1"));
  for (const NodeMap::Entry& entry : run.config.as_map()) resolved.set(entry.key, entry.value);
  const std::string text = PL_TRY(write_json(
      Node::map(std::move(resolved)), {.bytes_as_base64 = true, .scalar_keys_as_text = true}));
  return write_file_atomic(run.folder / "config.resolved.json", text);
}

Command workload_command(const InferRun& run, const fs::path& program, int verbosity) {
  const fs::path folder = run.folder / kStage;
  Command command;
  command.argv = {program.string(),
                  "--mode",
                  kStage,
                  "--config",
                  (run.folder / "config.resolved.json").string(),
                  "--out",
                  folder.string(),
                  "--base",
                  run.cwd.string()};
  if (verbosity < 0) command.argv.emplace_back("--quiet");
  if (verbosity > 0) command.argv.emplace_back("--verbose");
  if (run.chdir) command.cwd = folder;
  command.log = folder / "log";
  return command;
}

/// What the workload says, to our own stderr as it comes.
class PassedOn final : public RunObserver {
 public:
  void output(std::string_view bytes) override {
    std::fwrite(bytes.data(), 1, bytes.size(), stderr);
    std::fflush(stderr);
  }
};

Result<ExitCode> exit_code_of(const Exit& exit) {
  if (exit.why == Exit::Why::Cancelled) return ExitCode::Interrupted;
  for (const ExitCode code : {ExitCode::Done, ExitCode::Failed, ExitCode::BadInput,
                              ExitCode::Absent, ExitCode::Interrupted}) {
    if (exit.code == static_cast<int>(code)) return code;
  }
  return Error(ErrorKind::Tool, "profline-workload " + exit.describe());
}

/// The files and folders that are there now, by what they are.
std::vector<std::pair<std::string, fs::path>> outputs_of(const InferRun& run) {
  const settings::Output& output = run.settings.pipeline.direct_inference.output;
  const fs::path folder = run.folder / kStage;
  std::vector<std::pair<std::string, fs::path>> outputs;
  std::error_code failure;
  for (auto& [what, path] : std::initializer_list<std::pair<const char*, fs::path>>{
           {"predictions", folder / output.prediction_dir() / "predictions.jsonl"},
           {"pictures", folder / output.visualization_dir()},
           {"times", folder / "samples.jsonl"},
           {"log", folder / "log"}}) {
    if (fs::exists(path, failure)) outputs.emplace_back(what, path);
  }
  return outputs;
}

Result<void> print_outputs(const InferRun& run, OutputFormat format) {
  if (format == OutputFormat::Text) {
    fmt::print("{:<12} {}\n", "run", printable(run.folder.string()));
    for (const auto& [what, path] : outputs_of(run)) {
      fmt::print("{:<12} {}\n", what, printable(path.string()));
    }
    return {};
  }
  NodeMap document;
  document.set("schema", Node::string("profline.infer/1"));
  document.set("run_dir", Node::string(run.folder.string()));
  NodeMap outputs;
  for (const auto& [what, path] : outputs_of(run)) outputs.set(what, Node::string(path.string()));
  document.set("outputs", Node::map(std::move(outputs)));
  fmt::print("{}", PL_TRY(write_json(Node::map(std::move(document)))));
  return {};
}

}  // namespace

std::vector<Option> InferVerb::options() const {
  std::vector<Option> options = config_choice_options();
  options.push_back({"--workload", "", Option::Takes::Value, "PROGRAM",
                     "the profline-workload to run [beside profline, then on PATH]"});
  return options;
}

Result<ExitCode> InferVerb::run(const Services& services, const Invocation& invocation) const {
  const ConfigChoice choice = with_predictions(config_choice(invocation.arguments));
  const auto configuration = PL_TRY(Configuration::compose(choice));
  const std::vector<Error> problems = configuration->problems();
  print_remarks(*configuration, invocation.output);
  if (!problems.empty()) return Error::all(problems);
  const fs::path program =
      PL_TRY(find_workload(invocation.arguments.value("--workload").value_or("")));
  const InferRun run = PL_TRY(decide(*configuration, choice));
  PL_TRY(write_config(run, configuration->composition()));
  PassedOn passed_on;
  const Exit exit = PL_TRY(services.processes.run(
      workload_command(run, program, invocation.output.verbosity), passed_on));
  const ExitCode code = PL_TRY(exit_code_of(exit));
  if (code == ExitCode::Done || code == ExitCode::Interrupted) {
    PL_TRY(print_outputs(run, invocation.output.format));
  }
  return code;
}

}  // namespace profline
