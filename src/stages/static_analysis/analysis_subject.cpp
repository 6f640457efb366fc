#include "stages/static_analysis/analysis_subject.h"

#include <algorithm>
#include <span>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "inputs/dataset/dataset.h"
#include "inputs/images/views.h"
#include "run/artifacts.h"

namespace profline::stages {
namespace {

namespace ocr = settings::deepseek_ocr;
using static_model::ViewBatch;

Result<DeepseekOcrConfig> model_config(const ocr::Model& model, const std::filesystem::path& cwd,
                                       std::string& from) {
  if (model.init == ocr::Init::Random) {
    const bool is_tiny = model.variant == ocr::Variant::Tiny;
    from = is_tiny ? "the tiny model's shapes" : "the release's shapes";
    return is_tiny ? tiny_config() : official_config();
  }
  const std::filesystem::path folder = cwd / model.path.value_or("");
  from = (folder / "config.json").string();
  auto config = load_deepseek_ocr_config(folder / "config.json");
  if (config || config.error().kind() != ErrorKind::NotFound) return config;
  return Error(ErrorKind::NotFound,
               "model.path: " + config.error().message() +
                   "; two presets need no weights: model/deepseek_ocr/arch@model="
                   "deepseek_ocr.random and deepseek_ocr.tiny");
}

/// The picture whose shapes are used.
struct Sample {
  images::Size size;
  std::string name;
};

Result<Sample> sample_picture(const settings::Root& settings, const ocr::Preprocess& preprocess,
                              const std::filesystem::path& cwd) {
  if (settings.pipeline.static_analysis.use_synthetic_inputs) {
    return Sample{{preprocess.base_size, preprocess.base_size}, "model.preprocess"};
  }
  const dataset::Listing listing = PL_TRY(dataset::list_images(settings.dataset, cwd));
  constexpr std::uint64_t kSeed = 0;
  settings::Sampling sampling = settings.dataset.sampling();
  sampling.num_epochs = 1;  // only the first image is needed
  const auto items = dataset::sample(listing.images, sampling, kSeed);
  const dataset::Image& first = items.empty() ? listing.images.front() : items.front().image;
  const dataset::Facts facts = PL_TRY(dataset::facts(first));
  return Sample{facts.size, first.name};
}

std::vector<ViewBatch> batches_of(const images::ViewPlan& plan) {
  std::vector<ViewBatch> batches;
  if (plan.grid.is_tiled()) batches.push_back({plan.tile_side, plan.grid.tiles()});
  batches.push_back({plan.global_side, 1});
  return batches;
}

std::uint64_t context_of(const ocr::Infer& infer, const DeepseekOcrConfig& config) {
  switch (infer.context_len_mode) {
    case ocr::ContextLength::Fixed:
      return infer.context_len_fixed.value_or(0);
    case ocr::ContextLength::Max:
      return infer.model_window ? *infer.model_window
                                : static_cast<std::uint64_t>(config.max_position_embeddings);
    case ocr::ContextLength::Auto:
      break;
  }
  return 0;
}

using static_model::Count;

Result<std::uint64_t> whole(const Node& document, const std::string& path,
                            const std::string& file) {
  const Node* value = document.find_path(path);
  if (value != nullptr && value->is_int() && value->as_int() >= 0) {
    return static_cast<std::uint64_t>(value->as_int());
  }
  return Error(ErrorKind::Parse, path + " must be an integer that is not negative")
      .during("reading " + file);
}

/// The traced request; attention counts as the full square, as kernels compute it.
Result<static_model::Request> traced_request(const Node& document, const std::string& file) {
  static_model::Request request;
  request.prompt_tokens = PL_TRY(whole(document, "input.prompt_tokens", file));
  request.context = PL_TRY(whole(document, "input.decode_context", file));
  request.new_tokens = 2;
  request.attention = static_model::AttentionCount::Square;
  return request;
}

Result<std::vector<static_model::ViewBatch>> traced_views(const Node& document,
                                                          const std::string& file) {
  std::vector<static_model::ViewBatch> views;
  const std::uint64_t tiles = PL_TRY(whole(document, "input.tile_columns", file)) *
                              PL_TRY(whole(document, "input.tile_rows", file));
  // A single tile is the page itself, uncropped.
  if (tiles > 1) views.push_back({PL_TRY(whole(document, "input.tile_side", file)), tiles});
  views.push_back({PL_TRY(whole(document, "input.page_side", file)), 1});
  return views;
}

Result<std::optional<Node>> users_config(const std::optional<std::filesystem::path>& file) {
  if (!file) return std::optional<Node>();
  const std::string text = PL_TRY(read_file(*file));
  return std::optional(PL_TRY(parse_json(text, file->string())));
}

/// `12 of 14 requests in baseline/requests.jsonl`
std::string shapes_words(const static_model::CommonShapes& common, const std::string& file) {
  const std::string which =
      common.requests == common.of
          ? counted(common.of, "request")
          : std::to_string(common.requests) + " of " + counted(common.of, "request");
  return which + " in " + file;
}

bool has_quantized_cache(std::span<const Request> requests) {
  return std::any_of(requests.begin(), requests.end(), [](const Request& request) {
    return request.text("cache").find("Quantized") != std::string::npos;
  });
}

}  // namespace

Result<std::variant<DeepseekOcrConfig, static_model::Decoder>> load_model_config(
    const std::filesystem::path& path) {
  using Model = std::variant<DeepseekOcrConfig, static_model::Decoder>;
  const std::string text = PL_TRY(read_file(path));
  const Node tree = PL_TRY(parse_json(text, path.string()));
  const Node* type = tree.find("model_type");
  const bool is_ocr = tree.find("vision_config") != nullptr && type != nullptr &&
                      type->is_string() &&
                      (type->as_string() == "deepseek_vl_v2" || type->as_string() == "DeepseekOCR");
  if (is_ocr) return Model(PL_TRY(read_deepseek_ocr_config(tree)));
  return Model(PL_TRY(static_model::read_decoder(tree)));
}

std::uint64_t prompt_text_tokens(std::string_view prompt, bool is_tiny,
                                 std::vector<std::string>& notes) {
  constexpr std::string_view kImage = "<image>";
  std::string text;
  for (std::size_t at = 0; at < prompt.size();) {
    const std::size_t image = prompt.find(kImage, at);
    text += prompt.substr(at, image - at);
    if (image == std::string_view::npos) break;
    at = image + kImage.size();
  }
  struct Known {
    std::string_view text;
    std::uint64_t tokens;
    std::uint64_t tiny_tokens;
  };
  constexpr Known kKnown[] = {{"\n<|grounding|>Convert the document to markdown.", 9, 8},
                              {"\nFree OCR.", 4, 4}};
  // The template strips blanks at both ends of the prompt.
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  const std::string_view stripped =
      std::string_view(text).substr(0, end == std::string::npos ? 0 : end + 1);
  for (const Known& known : kKnown) {
    if (known.text == stripped) return (is_tiny ? known.tiny_tokens : known.tokens) + 1;
  }
  constexpr std::uint64_t kBytesAToken = 4;
  const std::uint64_t tokens = (stripped.size() + kBytesAToken - 1) / kBytesAToken;
  notes.push_back("the prompt's text was estimated at " + counted(tokens, "token") +
                  ", one per four bytes");
  return tokens + 1;
}

Result<AnalysisSubject> subject_of_file(const std::filesystem::path& config_json,
                                        const RequestShape& shape) {
  AnalysisSubject subject;
  subject.model = PL_TRY(load_model_config(config_json));
  subject.config_from = config_json.string();
  subject.shapes_from = "the command line";
  subject.request.prompt_tokens = shape.prompt_tokens;
  subject.request.new_tokens = shape.new_tokens;
  if (const auto* decoder = std::get_if<static_model::Decoder>(&subject.model)) {
    if (shape.views) {
      return Error(ErrorKind::Config, "--views is for models that see images").with_reason("usage");
    }
    subject.dtype = decoder->dtype;
    return subject;
  }
  const auto& config = std::get<DeepseekOcrConfig>(subject.model);
  subject.dtype = config.torch_dtype.value_or("");
  static_model::ViewBatch page;
  page.side = static_cast<std::uint64_t>(config.vision_config.image_size);
  subject.views = shape.views.value_or(std::vector{page});
  return subject;
}

std::optional<static_model::NumberFormat> format_of(AnalysisSubject& subject,
                                                    const std::string& dtype) {
  if (dtype.empty() && subject.format) return subject.format;
  const std::string own = subject.dtype.empty() ? "bf16" : subject.dtype;
  auto format = static_model::number_format(dtype.empty() ? own : dtype);
  const auto* decoder = std::get_if<static_model::Decoder>(&subject.model);
  if (!format || decoder == nullptr || !decoder->quantization) return format;
  if (dtype.empty()) {
    return static_model::with_quantization(*format, *decoder->quantization, subject.notes);
  }
  subject.notes.push_back("the checkpoint is quantised (" + decoder->quantization->method +
                          "), but all weights are counted in " + format->name);
  return format;
}

static_model::StaticCompute static_compute_of(AnalysisSubject subject,
                                              const static_model::NumberFormat& format,
                                              const settings::Ceilings& ceilings,
                                              const std::string& device) {
  static_model::StaticCompute result;
  result.cost = cost_of(subject, format, subject.request);
  result.request = subject.request;
  result.views = std::move(subject.views);
  result.ceilings = ceilings;
  result.device = device;
  result.shapes_from = std::move(subject.shapes_from);
  result.config_from = std::move(subject.config_from);
  for (std::string& note : subject.notes) result.cost.notes.push_back(std::move(note));
  return result;
}

static_model::ModelCost cost_of(const AnalysisSubject& subject,
                                const static_model::NumberFormat& format,
                                const static_model::Request& request) {
  if (const auto* decoder = std::get_if<static_model::Decoder>(&subject.model)) {
    return static_model::decoder_cost(*decoder, format, request);
  }
  return static_model::deepseek_ocr_cost(std::get<DeepseekOcrConfig>(subject.model), format,
                                         subject.views, request);
}

Result<AnalysisSubject> subject_of(const settings::Root& settings,
                                   const std::filesystem::path& cwd) {
  const auto* chosen = std::get_if<ocr::Subject>(&settings.subject);
  if (chosen == nullptr) {
    return Error(ErrorKind::Config,
                 "static analysis has closed forms for pipeline.workload.kind=deepseek_ocr only")
        .with_reason("workload");
  }
  AnalysisSubject subject;
  const DeepseekOcrConfig config = PL_TRY(model_config(chosen->model, cwd, subject.config_from));
  subject.model = config;
  subject.dtype = settings::to_text(settings::precision_of(chosen->model.dtype));
  if (chosen->model.dtype == settings::Dtype::Fp32 && chosen->model.allow_tf32) {
    subject.dtype = "tf32";
  }
  std::uint64_t slots = 0;
  const ocr::Preprocess& preprocess = chosen->model.preprocess;
  if (preprocess.enable) {
    const Sample sample = PL_TRY(sample_picture(settings, preprocess, cwd));
    const images::ViewPlan plan = images::plan_views(sample.size, preprocess);
    subject.views = batches_of(plan);
    subject.shapes_from = sample.name;
    slots = plan.slots;
  }
  subject.request.prompt_tokens =
      slots +
      prompt_text_tokens(chosen->infer.decoder_prompt, config == tiny_config(), subject.notes);
  subject.request.new_tokens = chosen->infer.max_new_tokens;
  subject.request.batch = chosen->infer.batch_size;
  subject.request.context = context_of(chosen->infer, config);
  return subject;
}

Result<std::vector<static_model::TracedPhase>> compare_with_trace(
    const AnalysisSubject& subject, const run::Artifact<Node>& static_trace) {
  if (!static_trace) return Error(ErrorKind::Parse, static_trace.why_not);
  const std::string& file = static_trace.file;
  const Node& document = *static_trace;
  const auto format = static_model::number_format(subject.dtype);
  if (!format) return Error(ErrorKind::Config, "no figures for dtype '" + subject.dtype + "'");
  AnalysisSubject traced = subject;
  traced.views = PL_TRY(traced_views(document, file));
  const static_model::ModelCost cost =
      cost_of(traced, *format, PL_TRY(traced_request(document, file)));
  std::vector<static_model::TracedPhase> phases;
  for (const static_model::PhaseCost& phase : cost.phases) {
    const std::string name(static_model::to_text(phase.phase));
    if (document.find_path("stages." + name) == nullptr) continue;
    const std::uint64_t flops = PL_TRY(whole(document, "stages." + name + ".flops", file));
    phases.push_back({name, Count(flops), phase.total().flops});
  }
  return phases;
}

Result<ProgramSubject> program_subject(const run::Run& files,
                                       const std::optional<std::filesystem::path>& config) {
  const run::Artifact<RecordedModels>& recorded = files.get(run::kRecordedModels);
  const run::Artifact<run::Requests>& requests = files.baseline();
  if (recorded.is_there && !recorded) {
    return Error(ErrorKind::Parse, recorded.file + " " + recorded.why_not);
  }
  const auto given = PL_TRY(users_config(config));
  const auto models = recorded ? std::span<const RecordedModel>(recorded->models)
                               : std::span<const RecordedModel>();
  const auto made = requests ? std::span<const Request>(*requests) : std::span<const Request>();
  ProgramSubject program;
  program.model = PL_TRY(static_model::model_of_program(models, made, given ? &*given : nullptr));
  const auto common = static_model::most_common_shapes(made, program.model);
  if (!common) {
    return Error(ErrorKind::NotFound,
                 "no request has a known prompt and one generated token per step and sequence")
        .with_reason("no_shapes");
  }
  AnalysisSubject& subject = program.subject;
  subject.model = program.model.decoder;
  subject.config_from = config ? config->string() : recorded.file + ", " + program.model.name;
  subject.dtype = program.model.format.name;
  subject.format = program.model.format;
  subject.request = common->shapes;
  subject.shapes_from = shapes_words(*common, requests.file);
  subject.notes = program.model.notes;
  if (has_quantized_cache(made)) {
    subject.notes.push_back("the KV cache is quantised, but counted in " + subject.dtype);
  }
  return program;
}

}  // namespace profline::stages
