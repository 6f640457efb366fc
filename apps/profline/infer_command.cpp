#include <filesystem>

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"
#include "session/run_session.h"
#include "standard_streams.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStage = run::stages::kDirectInference;

/// The files and folders that now exist, by kind.
std::vector<std::pair<std::string, fs::path>> outputs_of(const pipeline::RunSetup& setup) {
  const settings::Output& output = setup.settings.pipeline.direct_inference.output;
  const fs::path folder = setup.stage_folder(kStage);
  std::vector<std::pair<std::string, fs::path>> outputs;
  std::error_code failure;
  for (auto& [what, path] : std::initializer_list<std::pair<const char*, fs::path>>{
           {"predictions", folder / output.prediction_dir() / run::files::kPredictions},
           {"pictures", folder / output.visualization_dir()},
           {"times", folder / run::files::kRequests},
           {run::files::kLog, folder / run::files::kLog}}) {
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

/// `profline infer`: runs the model over the dataset for its answers, without a profiler.
class InferVerb final : public Verb {
 public:
  std::string_view name() const override { return "infer"; }
  std::string_view summary() const override {
    return "run the model over the dataset without a profiler; write predictions";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline infer -cn demo dataset.pages=2", "run the tiny model on two generated pages"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> InferVerb::options() const {
  std::vector<Option> options = config_choice_options();
  options.push_back({"--workload", "", Option::Takes::Value, "PROGRAM",
                     "the profline-workload to run [next to profline, then on PATH]"});
  return options;
}

Result<ExitCode> InferVerb::run(const Services& services, const Invocation& invocation) const {
  session::RunRequest request;
  request.choice = session::for_answers(config_choice(invocation.arguments));
  request.programs.workload = invocation.arguments.value("--workload").value_or("");
  request.argv = invocation.argv;
  session::PreparedRun run =
      PL_TRY(session::prepare_run(request, session::Making::Folder, services));
  const session::FinishedRun done = PL_TRY(session::start_run(run, request, services));
  PL_TRY(print_outputs(run.plan.setup, invocation.output.format));
  return done.code;
}

std::unique_ptr<Verb> infer_verb() {
  return std::make_unique<InferVerb>();
}

}  // namespace profline
