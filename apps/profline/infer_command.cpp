#include "infer_command.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "formats/json_write.h"
#include "run_session.h"
#include "standard_streams.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPredictions = "pipeline.direct_inference.output.prediction.enable";
constexpr std::string_view kStage = "direct_inference";

/// This stage alone; predictions are what the command is for, and are on unless the user says
/// otherwise. Added at the end, so that the user's overrides keep their numbers in messages.
ConfigChoice for_answers(ConfigChoice choice) {
  const auto mentions = [](const std::string& text) {
    return text.find(kPredictions) != std::string::npos;
  };
  if (std::none_of(choice.overrides.begin(), choice.overrides.end(), mentions)) {
    choice.overrides.push_back(std::string(kPredictions) + "=true");
  }
  for (const char* other : {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu"}) {
    choice.overrides.push_back("pipeline." + std::string(other) + ".enable=false");
  }
  choice.overrides.push_back("pipeline." + std::string(kStage) + ".enable=true");
  return choice;
}

/// The files and folders that are there now, by what they are.
std::vector<std::pair<std::string, fs::path>> outputs_of(const pipeline::RunSetup& setup) {
  const settings::Output& output = setup.settings.pipeline.direct_inference.output;
  const fs::path folder = setup.stage_folder(kStage);
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

Result<void> print_outputs(const pipeline::RunSetup& setup, OutputFormat format) {
  if (format == OutputFormat::Text) {
    std::string text = fmt::format("{:<12} {}\n", "run", printable(setup.folder.string()));
    for (const auto& [what, path] : outputs_of(setup)) {
      text += fmt::format("{:<12} {}\n", what, printable(path.string()));
    }
    return print_result(text);
  }
  NodeMap document;
  document.set("schema", Node::string("profline.infer/1"));
  document.set("run_dir", Node::string(setup.folder.string()));
  NodeMap outputs;
  for (const auto& [what, path] : outputs_of(setup)) outputs.set(what, Node::string(path.string()));
  document.set("outputs", Node::map(std::move(outputs)));
  return print_result(PL_TRY(write_json(Node::map(std::move(document)))));
}

}  // namespace

std::vector<Option> InferVerb::options() const {
  std::vector<Option> options = config_choice_options();
  options.push_back({"--workload", "", Option::Takes::Value, "PROGRAM",
                     "the profline-workload to run [beside profline, then on PATH]"});
  return options;
}

Result<ExitCode> InferVerb::run(const Services& services, const Invocation& invocation) const {
  RunWish wish;
  wish.choice = for_answers(config_choice(invocation.arguments));
  wish.programs.workload = invocation.arguments.value("--workload").value_or("");
  PreparedRun run = PL_TRY(prepare_run(wish, Making::Folder, services, invocation.output));
  const FinishedRun done = PL_TRY(start_run(run, wish, services, invocation));
  PL_TRY(print_outputs(run.plan.setup, invocation.output.format));
  return done.code;
}

}  // namespace profline
