#include "analysis/static_model/static_compute.h"
#include "base/files.h"
#include "base/strings.h"
#include "config_options.h"
#include "formats/json.h"
#include "session/configuration.h"
#include "session/devices.h"
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

Error usage(std::string message) {
  return Error(ErrorKind::Config, std::move(message)).with_reason("usage");
}

/// `1024,640x6`: one view of 1024 pixels a side and six of 640.
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

/// From `--model-config` and what goes with it.
Result<AnalysisSubject> subject_of_options(const Arguments& arguments, const std::string& file) {
  AnalysisSubject subject;
  subject.model = PL_TRY(stages::load_model_config(file));
  subject.config_from = file;
  subject.shapes_from = "the command line";
  const auto prompt = PL_TRY(whole_number(arguments, "--prompt", kTokens));
  const auto answer = PL_TRY(whole_number(arguments, "--new", kTokens));
  if (!prompt || !answer) {
    return usage("--model-config needs --prompt and --new: how many tokens go in and come out");
  }
  subject.request.prompt_tokens = *prompt;
  subject.request.new_tokens = *answer;
  if (const auto* decoder = std::get_if<static_model::Decoder>(&subject.model)) {
    if (arguments.has("--views")) return usage("--views is for models that see pictures");
    subject.dtype = decoder->dtype;
    return subject;
  }
  const auto& config = std::get<DeepseekOcrConfig>(subject.model);
  subject.dtype = config.torch_dtype.value_or("");
  const std::string side = std::to_string(config.vision_config.image_size);
  subject.views = PL_TRY(parse_views(arguments.value("--views").value_or(side)));
  return subject;
}

Result<AnalysisSubject> subject_of_config(const Arguments& arguments,
                                          const session::Remarks& remarks,
                                          settings::Device& device) {
  for (const char* option : {"--prompt", "--new", "--views", "--dtype"}) {
    if (arguments.has(option)) return usage(std::string(option) + " goes with --model-config");
  }
  const auto configuration = PL_TRY(session::Configuration::compose(config_choice(arguments)));
  const std::vector<Error> problems = configuration->problems();
  tell(*configuration, remarks);
  if (!problems.empty()) return Error::all(problems);
  config::Resolution resolution(configuration->composition().config, configuration->context());
  const settings::Root settings = PL_TRY(settings::read_settings(PL_TRY(resolution.resolve_all())));
  device = settings.device;
  return stages::subject_of(settings, std::filesystem::current_path());
}

/// Loading the driver takes a while.
std::string name_of(const settings::Device& device) {
  if (device.kind == settings::Device::Kind::Cpu) return "";
  return session::device_name(device, gpu::load_driver());
}

Result<static_model::NumberFormat> format_of(const Arguments& arguments,
                                             const AnalysisSubject& subject) {
  const std::string name = arguments.value("--dtype").value_or(subject.dtype);
  if (const auto format = static_model::number_format(name.empty() ? "bf16" : name)) return *format;
  return usage("dtype '" + name +
               "' is none of bf16, fp16, fp32, tf32, fp8, int8; give one with "
               "--dtype");
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
                              const std::string& device) {
  PL_TRY(take_request_options(arguments, subject.request));
  StaticCompute result;
  const static_model::NumberFormat format = PL_TRY(format_of(arguments, subject));
  const auto search_path = PL_TRY(
      session::config_search_path(config_choice(arguments), std::filesystem::current_path()));
  result.ceilings = PL_TRY(session::ceilings_for(search_path, device));
  result.device = device;
  result.request = subject.request;
  result.views = subject.views;
  result.shapes_from = subject.shapes_from;
  result.config_from = subject.config_from;
  result.cost = stages::cost_of(subject, format, subject.request);
  for (std::string& note : subject.notes) result.cost.notes.push_back(std::move(note));
  return result;
}

/// `profline analyze`: what a model costs by its shapes, from the configuration or from a
/// config.json alone. Nothing is run.
class AnalyzeVerb final : public Verb {
 public:
  std::string_view name() const override { return "analyze"; }
  std::string_view summary() const override {
    return "compute what a model costs from its shapes; runs nothing";
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
      {"--model-config", "", Takes::Value, "FILE", "a config.json instead of the configuration"},
      {"--prompt", "", Takes::Value, "N", "tokens of the prompt, image slots included"},
      {"--new", "", Takes::Value, "N", "tokens of the answer"},
      {"--device", "", Takes::Value, "NAME", "whose ceilings to use, as in 'NVIDIA H200' or h200"},
      {"--dtype", "", Takes::Value, "NAME", "of weights and products [what config.json says]"},
      {"--batch", "", Takes::Value, "N", "sequences at a time [1]"},
      {"--context", "", Takes::Value, "N", "keys of a decode step [prompt and half of the answer]"},
      {"--views", "", Takes::Value, "LIST", "pictures, as in 1024,640x6 [one of vision_config]"},
      {"--attention",
       "",
       Takes::Value,
       "COUNT",
       "scores of the prompt that count [causal]",
       {"causal", "square"}},
      {"--head", "", Takes::Value, "ROWS", "prompt positions with logits [last]", {"last", "all"}},
      {"--output-dir", "", Takes::Value, "DIR", "also write static_compute.json and .md there"},
  };
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

Result<ExitCode> AnalyzeVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const auto file = arguments.value("--model-config");
  if (file && !arguments.words.empty()) {
    return usage("--model-config takes no overrides, and there is '" + arguments.words.front() +
                 "'");
  }
  settings::Device device{.kind = settings::Device::Kind::Cpu, .index = {}};
  AnalysisSubject subject = file ? PL_TRY(subject_of_options(arguments, *file))
                                 : PL_TRY(subject_of_config(arguments, services.remarks, device));
  const auto given = arguments.value("--device");
  const StaticCompute result =
      PL_TRY(analyse(arguments, std::move(subject), given ? *given : name_of(device)));
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
