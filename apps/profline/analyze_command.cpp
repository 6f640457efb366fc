#include "analysis/static_model/static_compute.h"
#include "base/files.h"
#include "base/strings.h"
#include "command_line.h"
#include "formats/json.h"
#include "session/configuration.h"
#include "session/machine_ceilings.h"
#include "session/run_preparation.h"
#include "stages/static_analysis/analysis_subject.h"
#include "standard_streams.h"
#include "tools/gpu/driver.h"
#include "verb.h"

namespace profline {
namespace {

using stages::AnalysisSubject;
using static_model::StaticCompute;
using static_model::ViewBatch;

constexpr WholeNumbers kTokens{.least = 1, .most = std::uint64_t{1} << 30U};
constexpr WholeNumbers kBatches{.least = 1, .most = 1U << 20U};
constexpr WholeNumbers kSides{.least = 1, .most = 1U << 16U};
constexpr WholeNumbers kViews{.least = 1, .most = 1U << 16U};

/// `1024,640x6`: one view with a side of 1024 pixels and six of 640.
Result<std::vector<ViewBatch>> parse_views(const std::string& text) {
  std::vector<ViewBatch> batches;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t times = part.find('x');
    ViewBatch batch;
    batch.side = PL_TRY(parse_whole_number(part.substr(0, times), "a side in --views", kSides));
    if (times != std::string_view::npos) {
      batch.views =
          PL_TRY(parse_whole_number(part.substr(times + 1), "a number in --views", kViews));
    }
    batches.push_back(batch);
  }
  return batches;
}

/// From `--model-config` and the options that belong to it.
Result<AnalysisSubject> subject_of_options(const Arguments& arguments, const std::string& file) {
  const auto prompt = PL_TRY(whole_number(arguments, "--prompt", kTokens));
  const auto answer = PL_TRY(whole_number(arguments, "--new", kTokens));
  if (!prompt || !answer) {
    return usage("--model-config needs --prompt and --new: how many tokens go in and come out");
  }
  stages::RequestShape shape{*prompt, *answer, {}};
  if (const auto views = arguments.value("--views")) shape.views = PL_TRY(parse_views(*views));
  return stages::subject_of_file(file, shape);
}

Result<AnalysisSubject> subject_of_config(const Arguments& arguments,
                                          const session::Remarks& remarks, settings::Device& device,
                                          std::string& ceilings) {
  for (const char* option : {"--prompt", "--new", "--views", "--dtype"}) {
    if (arguments.has(option)) return usage(std::string(option) + " goes with --model-config");
  }
  const auto configuration = PL_TRY(session::Configuration::compose(config_choice(arguments)));
  const std::vector<Error> problems = configuration->problems();
  report_composition(*configuration, remarks);
  if (!problems.empty()) return Error::all(problems);
  config::Resolution resolution(configuration->composition().config, configuration->context());
  const settings::Root settings = PL_TRY(settings::read_settings(PL_TRY(resolution.resolve_all())));
  device = settings.device;
  ceilings = settings.ceilings;
  return stages::subject_of(settings, std::filesystem::current_path());
}

/// Loading the driver takes a while.
std::string name_of(const settings::Device& device) {
  if (device.kind == settings::Device::Kind::Cpu) return "";
  return session::device_name(device, gpu::load_driver());
}

Result<static_model::NumberFormat> format_of(const Arguments& arguments, AnalysisSubject& subject) {
  const std::string given = arguments.value("--dtype").value_or("");
  if (const auto format = stages::format_of(subject, given)) return *format;
  return usage("dtype '" + (given.empty() ? subject.dtype : given) +
               "' is not one of bf16, fp16, fp32, tf32, fp8, int8; choose one with --dtype");
}

Result<void> take_request_options(const Arguments& arguments, static_model::Request& request) {
  if (const auto batch = PL_TRY(whole_number(arguments, "--batch", kBatches))) {
    request.batch = *batch;
  }
  if (const auto context = PL_TRY(whole_number(arguments, "--context", kTokens))) {
    request.context = *context;
  }
  if (arguments.value("--attention") == "square") {
    request.attention = static_model::AttentionCount::Square;
  }
  if (arguments.value("--head") == "all") request.head = static_model::HeadCount::All;
  return {};
}

Result<StaticCompute> analyse(const Arguments& arguments, AnalysisSubject subject,
                              const std::string& device, const std::string& choice) {
  PL_TRY(take_request_options(arguments, subject.request));
  const static_model::NumberFormat format = PL_TRY(format_of(arguments, subject));
  const auto search_path = PL_TRY(
      session::config_search_path(config_choice(arguments), std::filesystem::current_path()));
  const roofline::KnownCeilings ceilings = PL_TRY(session::ceilings_for(
      search_path, {device, "", 0}, {choice, std::filesystem::current_path()}));
  return stages::static_compute_of(std::move(subject), format, ceilings.used, device);
}

/// `profline analyze`: the theoretical cost of a model, from the configuration or from a
/// config.json alone. Runs nothing.
class AnalyzeVerb final : public Verb {
 public:
  std::string_view name() const override { return "analyze"; }
  std::string_view summary() const override {
    return "compute a model's FLOPs, bytes and minimum times without running it";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline analyze -cn demo", "FLOPs, bytes and minimum times of the tiny model"},
        {"profline analyze model/deepseek_ocr/arch@model=deepseek_ocr.random",
         "the full-size model, without its weights"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> AnalyzeVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  const std::vector<Option> own = {
      {"--model-config", "", Takes::Value, "FILE",
       "read the model from this config.json instead of the configuration"},
      {"--prompt", "", Takes::Value, "N", "prompt tokens, including image slots"},
      {"--new", "", Takes::Value, "N", "tokens to generate"},
      {"--device", "", Takes::Value, "NAME",
       "device whose peak rates to use, such as 'NVIDIA H200' or h200"},
      {"--ceilings", "", Takes::Value, "CHOICE",
       "measured, datasheet or a file written by 'profline ceilings' [measured if available, "
       "otherwise datasheet]"},
      {"--dtype", "", Takes::Value, "NAME",
       "number format of weights and matrix products [from config.json]"},
      {"--batch", "", Takes::Value, "N", "sequences per batch [1]"},
      {"--context", "", Takes::Value, "N",
       "context length of a decode step [prompt plus half of the new tokens]"},
      {"--views", "", Takes::Value, "LIST",
       "image views, such as 1024,640x6 [one, from vision_config]"},
      {"--attention",
       "",
       Takes::Value,
       "COUNT",
       "attention scores to count in the prompt [causal]",
       {"causal", "square"}},
      {"--head",
       "",
       Takes::Value,
       "ROWS",
       "prompt positions to compute logits for [last]",
       {"last", "all"}},
      {"--output-dir", "", Takes::Value, "DIR",
       "also write static_compute.json and .md to this folder"},
  };
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

Result<ExitCode> AnalyzeVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const auto file = arguments.value("--model-config");
  if (file && !arguments.words.empty()) {
    return usage("--model-config takes no overrides, but got '" + arguments.words.front() + "'");
  }
  settings::Device device{.kind = settings::Device::Kind::Cpu, .index = {}};
  std::string ceilings = "auto";
  AnalysisSubject subject =
      file ? PL_TRY(subject_of_options(arguments, *file))
           : PL_TRY(subject_of_config(arguments, services.remarks, device, ceilings));
  if (const auto choice = arguments.value("--ceilings")) ceilings = *choice;
  const auto given = arguments.value("--device");
  const StaticCompute result =
      PL_TRY(analyse(arguments, std::move(subject), given ? *given : name_of(device), ceilings));
  if (const auto folder = arguments.value("--output-dir")) {
    PL_TRY(create_folders(*folder));
    PL_TRY(static_model::write_static_compute(result, *folder));
  }
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(write_json(static_model::to_node(result)))
                               : static_model::to_text(result);
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

std::unique_ptr<Verb> analyze_verb() {
  return std::make_unique<AnalyzeVerb>();
}

}  // namespace profline
