#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/images/views.h"
#include "inputs/tokenizer/tokenizer.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/model_tensors.h"
#include "records/deepseek_ocr_config.h"
#include "workload/fast/open_engine.h"
#include "workload/generation/generate.h"
#include "workload/generation/generate_batch.h"
#include "workload/model/weight_source.h"
#include "workload/profiler/static_trace.h"
#include "workload/session/internal/subject.h"
#include "workload/session/run_request.h"

namespace profline::workload {
namespace {

// The sources of a DeepSeek-OCR: files of a checkpoint, or just a seed.

struct DeepseekFiles {
  DeepseekOcrConfig config;
  tokenizer::Tokenizer tokenizer;
  std::unique_ptr<weights::Checkpoint> checkpoint;  ///< what `weights` reads; null without files
  std::unique_ptr<WeightSource> weights;
  std::vector<std::string> notes{};
};

namespace fs = std::filesystem;
using settings::deepseek_ocr::Init;
using settings::deepseek_ocr::Model;
using settings::deepseek_ocr::Variant;

constexpr std::uint64_t kWeightSeed = 0;

const Model& model_of(const RunRequest& request) {
  return std::get<settings::deepseek_ocr::Subject>(request.settings.subject).model;
}

Result<fs::path> weights_folder(const RunRequest& request) {
  const fs::path folder = request.base / model_of(request).path.value_or(fs::path());
  std::error_code problem;
  if (fs::is_directory(folder, problem)) return folder;
  return Error(ErrorKind::NotFound,
               "model.path: there is no folder '" + folder.string() +
                   "'; without weights take model/deepseek_ocr/arch@model=deepseek_ocr.random "
                   "(full size) or deepseek_ocr.tiny");
}

Result<DeepseekOcrConfig> deepseek_config(const RunRequest& request) {
  const Model& model = model_of(request);
  if (model.init == Init::Random) {
    return model.variant == Variant::Tiny ? tiny_config() : official_config();
  }
  return load_deepseek_ocr_config(PL_TRY(weights_folder(request)) / "config.json");
}

/// The checkpoint's tokenizer; without files that of the tiny model, whose ids every variant has.
Result<tokenizer::Tokenizer> deepseek_tokenizer(const RunRequest& request) {
  if (model_of(request).init == Init::Random) {
    return tokenizer::Tokenizer::parse(tokenizer::tiny_tokenizer_json(), "<tiny tokenizer>");
  }
  return tokenizer::Tokenizer::load(PL_TRY(weights_folder(request)) / "tokenizer.json");
}

/// If there is no folder of weights, an Error of kind NotFound names the presets that need none.
Result<DeepseekFiles> open_deepseek_files(const RunRequest& request, at::Device device) {
  const Model& model = model_of(request);
  DeepseekFiles files{.config = PL_TRY(deepseek_config(request)),
                      .tokenizer = PL_TRY(deepseek_tokenizer(request)),
                      .checkpoint = nullptr,
                      .weights = nullptr};
  if (model.init == Init::Random && model.variant == Variant::Tiny) {
    files.weights = std::make_unique<DeterministicWeights>(files.config);
    return files;
  }
  if (model.init == Init::Random) {
    files.weights = std::make_unique<RandomWeights>(files.config, kWeightSeed, device);
    files.notes.emplace_back(
        "model: random weights; texts are meaningless and come from the tiny tokenizer");
    return files;
  }
  weights::Model loaded = PL_TRY(weights::open_model(PL_TRY(weights_folder(request))));
  for (const std::string& name : loaded.unused) {
    files.notes.push_back("model.path: tensor '" + name + "' is not used by the model");
  }
  files.config = std::move(loaded.config);
  files.checkpoint = std::make_unique<weights::Checkpoint>(std::move(loaded.checkpoint));
  files.weights = std::make_unique<CheckpointWeights>(*files.checkpoint);
  return files;
}

/// The prompt with its slots; without slots, the marker of the picture is left out.
Result<tokenizer::Prompt> assemble(const tokenizer::Tokenizer& tokenizer, std::string prompt,
                                   std::int64_t slots, tokenizer::TokenId bos) {
  if (slots == 0) {
    const std::size_t marker = prompt.find(tokenizer::kImageMarker);
    if (marker != std::string::npos) prompt.erase(marker, tokenizer::kImageMarker.size());
  }
  return tokenizer::assemble_prompt(tokenizer, prompt, slots, bos);
}

using settings::deepseek_ocr::Infer;
using settings::deepseek_ocr::Preprocess;
using std::chrono::nanoseconds;

constexpr std::int64_t kWarmupTokens = 8;

/// Views as the model's input, in one tensor of their common side.
at::Tensor tensor_of(std::span<const images::Picture> views) {
  const std::int64_t side = views.front().height;
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(views.size()), 3, side, side});
  const auto planes = static_cast<std::size_t>(3 * side * side);
  for (std::size_t i = 0; i < views.size(); ++i) {
    images::normalise(views[i], {tensor.data_ptr<float>() + i * planes, planes});
  }
  return tensor;
}

ImageViews tensors_of(const images::Views& views, at::Device device) {
  ImageViews tensors;
  tensors.page = tensor_of({&views.global, 1}).to(device);
  if (!views.tiles.empty()) tensors.tiles = tensor_of(views.tiles).to(device);
  tensors.grid = {views.plan.grid.columns, views.plan.grid.rows};
  return tensors;
}

GenerationOptions generation_options(const Infer& infer, std::int64_t eos_id) {
  GenerationOptions options;
  options.max_new_tokens = infer.max_new_tokens;
  options.no_repeat_ngram_size = infer.no_repeat_ngram_size;
  options.eos_id = eos_id;
  if (infer.do_sample) {
    options.sampling = Sampling{.temperature = infer.temperature,
                                .top_k = infer.top_k,
                                .top_p = infer.top_p,
                                .seed = infer.seed ? *infer.seed : std::random_device()()};
  }
  return options;
}

/// `1024 + 3x2 of 640`: the views of one image that the model sees.
std::string shape_of(const ImageViews& views) {
  std::string shape = std::to_string(views.page.size(-1));
  if (views.tiles.defined()) {
    shape += " + " + std::to_string(views.grid.columns) + "x" + std::to_string(views.grid.rows) +
             " of " + std::to_string(views.tiles.size(-1));
  }
  return shape;
}

/// `2 x (150x100), 96x64`: how often each occurs in a batch, in the order of their first use.
std::string tally(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const std::string& text : texts) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& entry) { return entry.first == text; });
    if (known != counts.end()) {
      ++known->second;
    } else {
      counts.emplace_back(text, 1);
    }
  }
  std::string all;
  for (const auto& [text, count] : counts) {
    all += (all.empty() ? "" : ", ") +
           (count == 1 ? text : std::to_string(count) + " x (" + text + ")");
  }
  return all;
}

Node list_of(const std::vector<std::string>& texts) {
  Node list = Node::list();
  for (const std::string& text : texts) list.as_list().push_back(Node::string(text));
  return list;
}

Node list_of(const std::vector<std::uint64_t>& counts) {
  Node list = Node::list();
  for (const std::uint64_t count : counts) {
    list.as_list().push_back(Node::integer(static_cast<std::int64_t>(count)));
  }
  return list;
}

const char* text_of(Finish finish) {
  return finish == Finish::Eos ? "eos" : "length";
}

/// The phases of the model, after the preparation on the host.
void set_phases(Request& request, nanoseconds preparing, const std::vector<PartTime>& parts) {
  request.phases = phases_of(parts, preparing);
  request.phases.insert(request.phases.begin(), {"preprocess", 0, preparing.count(), {}, true});
  // An engine that runs ahead of the host has begun one more step when the end comes.
  const std::size_t steps = std::max<std::size_t>(1, request.new_tokens.value_or(0)) - 1;
  for (Phase& phase : request.phases) {
    if (phase.path.find('/') == std::string::npos) request.ns += phase.ns;
    if (phase.path == scope::kDecode && !phase.steps_ns) phase.steps_ns.emplace();
    if (phase.steps_ns && phase.steps_ns->size() > steps) phase.steps_ns->resize(steps);
  }
  if (const Phase* const prefill = request.find_phase(scope::kPrefill)) {
    request.ttft_ns = preparing.count() + prefill->ns;
  }
}

void set_one_time(Request& request, const std::vector<std::string>& events) {
  if (events.empty()) return;
  request.attributes[kOneTimeAttribute] = list_of(events);
}

class DeepseekSubject final : public Subject {
 public:
  DeepseekSubject(const RunRequest& request, const Machine& machine, DeepseekFiles files,
                  std::unique_ptr<DeepseekOcr> model, OpenedEngine engine, Inputs inputs)
      : subject_(std::get<settings::deepseek_ocr::Subject>(request.settings.subject)),
        machine_(machine),
        tokenizer_(std::move(files.tokenizer)),
        model_(std::move(model)),
        engine_(std::move(engine.engine)),
        inputs_(std::move(inputs)) {
    for (std::string& note : files.notes) inputs_.notes.push_back(std::move(note));
    for (std::string& note : engine.notes) inputs_.notes.push_back(std::move(note));
  }

  const std::vector<dataset::Item>& items() const override { return inputs_.items; }
  std::vector<std::string> notes() const override { return inputs_.notes; }
  bool reads_pictures() const override { return preprocess().enable; }
  std::string engine() const override { return std::string(engine_->name()); }

  std::optional<ModelDims> dims() const override {
    const DeepseekOcrConfig& config = model_->config();
    return ModelDims{config.hidden_size, config.intermediate_size, config.num_hidden_layers};
  }

  std::vector<std::string> special_tokens() const override {
    std::vector<std::string> tokens;
    for (tokenizer::TokenId id = 0; id < tokenizer_.id_limit(); ++id) {
      if (tokenizer_.is_special(id)) tokens.emplace_back(tokenizer_.bytes_of(id));
    }
    return tokens;
  }

  std::size_t items_per_request() const override { return subject_.infer.batch_size; }

  Result<void> warm_up(bool synthetic) override {
    std::vector<Prepared> prepared;
    const Items first = requests().front();
    for (const dataset::Item& item : first) {
      images::Picture picture = PL_TRY(dataset::load(item.image));
      if (synthetic) {
        // With the image's size, so that what libraries prepare per shape is ready for it.
        const images::Colour grey{images::kLetterboxGrey, images::kLetterboxGrey,
                                  images::kLetterboxGrey};
        picture = images::Picture(picture.size(), grey);
      }
      prepared.push_back(PL_TRY(prepare(picture)));
    }
    Scopes none;
    std::vector<GenerationOptions> options = options_for(prepared);
    for (GenerationOptions& one : options) {
      one.max_new_tokens = std::min(one.max_new_tokens, kWarmupTokens);
    }
    PL_TRY(answer_all(prepared, options, none));
    return {};
  }

  Result<Answer> run(Items items, MeasuredScopes& scopes, const Extent& extent) override {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Prepared> prepared = PL_TRY(prepare(items));
    machine_.clock->synchronise();
    const auto ready = std::chrono::steady_clock::now();

    std::vector<GenerationOptions> options = options_for(prepared);
    for (GenerationOptions& one : options) {
      if (extent.max_new_tokens) {
        one.max_new_tokens = std::min(one.max_new_tokens, *extent.max_new_tokens);
      }
      one.should_stop = extent.stopping;
    }
    engine_->take_one_time_events();  // those of warm-up belong to no request
    const auto on_token = [&](std::size_t, std::int64_t) {
      if (extent.on_token) extent.on_token();
    };
    const std::vector<Generated> generated =
        PL_TRY(answer_all(prepared, options, scopes, on_token));

    Answer answer;
    Request& request = answer.request;
    request.start_ns = nanoseconds(begin.time_since_epoch()).count();
    request.prompt_tokens = 0;
    request.new_tokens = 0;
    request.batch = items.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      answer.stopped = answer.stopped || generated[i].finish == Finish::Stopped;
      request.prompt_tokens = std::max(*request.prompt_tokens, prepared[i].prompt.ids.size());
      request.new_tokens = std::max(*request.new_tokens, generated[i].ids.size());
      answer.texts.push_back(tokenizer_.decode(generated[i].ids, tokenizer::SpecialTokens::Keep));
    }
    set_phases(request, ready - begin, scopes.take());
    request.attributes = attributes_of(
        items.front(), {dtype_text(subject_.model.dtype), machine_.threads, engine()});
    set_inputs(request, prepared);
    if (items.size() == 1) {
      request.attributes["finish"] = Node::string(text_of(generated.front().finish));
    } else {
      set_each(request, items, prepared, generated);
    }
    set_one_time(request, engine_->take_one_time_events());
    return answer;
  }

  Result<std::vector<RepeatedPhase>> repeat_phases(Items items, std::chrono::nanoseconds least,
                                                   const std::function<bool()>& stopping) override {
    const std::vector<Prepared> prepared = PL_TRY(prepare(items));
    return std::vector<RepeatedPhase>{PL_TRY(repeat_prefill(prepared, least, stopping)),
                                      PL_TRY(repeat_decode(prepared, least, stopping))};
  }

 private:
  /// Of a repeated decode: 1.5 s of the fast engine on an H200, and 0.25 GB of keys and values.
  static constexpr std::int64_t kLongAnswer = 4096;

  struct Prepared {
    images::Size size;  ///< of the image
    std::optional<ImageViews> views;
    tokenizer::Prompt prompt;

    const ImageViews* picture() const { return views ? &*views : nullptr; }
  };

  const Preprocess& preprocess() const { return subject_.model.preprocess; }

  Result<std::vector<Prepared>> prepare(Items items) const {
    std::vector<Prepared> prepared;
    for (const dataset::Item& item : items) {
      const images::Picture picture =
          preprocess().enable ? PL_TRY(dataset::load(item.image)) : images::Picture();
      prepared.push_back(PL_TRY(prepare(picture)));
    }
    return prepared;
  }

  Result<Prepared> prepare(const images::Picture& picture) const {
    Prepared prepared;
    prepared.size = picture.size();
    std::int64_t slots = 0;
    if (preprocess().enable) {
      const images::Views views = images::make_views(picture, preprocess());
      slots = static_cast<std::int64_t>(views.plan.slots);
      prepared.views = tensors_of(views, machine_.device);
    }
    prepared.prompt = PL_TRY(
        assemble(tokenizer_, subject_.infer.decoder_prompt, slots, model_->config().bos_token_id));
    if (room_after(prepared) < 1) {
      return Error(ErrorKind::Config, "the prompt has " +
                                          std::to_string(prepared.prompt.ids.size()) +
                                          " tokens, the model's window " +
                                          std::to_string(model_->config().max_position_embeddings));
    }
    return prepared;
  }

  /// A single image with the engine; several together with the model's own operators, which the
  /// eager engine is.
  Result<std::vector<Generated>> answer_all(std::span<const Prepared> prepared,
                                            std::span<const GenerationOptions> options,
                                            Scopes& scopes, const OnToken& on_token = {}) {
    if (prepared.size() == 1) {
      std::vector<Generated> one;
      one.push_back(PL_TRY(generate(*engine_, prepared.front().picture(), prepared.front().prompt,
                                    options.front(), scopes, on_token)));
      return one;
    }
    std::vector<BatchedSequence> sequences;
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      sequences.push_back({prepared[i].picture(), &prepared[i].prompt, options[i]});
    }
    return generate_batch(*model_, sequences, scopes, on_token);
  }

  /// The sizes of the images, and those of the views that the model sees.
  static void set_inputs(Request& request, std::span<const Prepared> prepared) {
    std::vector<std::string> sizes;
    std::vector<std::string> shapes;
    for (const Prepared& one : prepared) {
      if (!one.views) return;
      sizes.push_back(std::to_string(one.size.width) + "x" + std::to_string(one.size.height));
      shapes.push_back(shape_of(*one.views));
    }
    request.attributes[kImageSizeAttribute] = Node::string(tally(sizes));
    request.attributes[kShapeAttribute] = Node::string(tally(shapes));
  }

  /// The images of a batch, and what each had and made.
  static void set_each(Request& request, Items items, std::span<const Prepared> prepared,
                       std::span<const Generated> generated) {
    std::vector<std::string> names;
    std::vector<std::uint64_t> prompt_tokens;
    std::vector<std::uint64_t> new_tokens;
    std::vector<std::string> finish;
    for (std::size_t i = 0; i < items.size(); ++i) {
      names.push_back(items[i].image.name);
      prompt_tokens.push_back(prepared[i].prompt.ids.size());
      new_tokens.push_back(generated[i].ids.size());
      finish.emplace_back(text_of(generated[i].finish));
    }
    request.attributes.erase(kImageAttribute);
    request.attributes[kImagesAttribute] = list_of(names);
    request.attributes[kPromptTokensEachAttribute] = list_of(prompt_tokens);
    request.attributes[kNewTokensEachAttribute] = list_of(new_tokens);
    request.attributes[kFinishEachAttribute] = list_of(finish);
  }

  static std::int64_t monotonic_ns() {
    return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  /// Whole requests that end with their first token.
  Result<RepeatedPhase> repeat_prefill(std::span<const Prepared> prepared,
                                       std::chrono::nanoseconds least,
                                       const std::function<bool()>& stopping) {
    Scopes none;
    std::vector<GenerationOptions> options = options_for(prepared);
    for (GenerationOptions& one : options) one.max_new_tokens = 1;
    RepeatedPhase repeated;
    repeated.phase = scope::kPrefill;
    machine_.clock->synchronise();
    repeated.begin_ns = monotonic_ns();
    do {
      PL_TRY(answer_all(prepared, options, none));
      ++repeated.requests;
      repeated.end_ns = monotonic_ns();
    } while (repeated.end_ns - repeated.begin_ns < least.count() && !(stopping && stopping()));
    repeated.tokens = repeated.requests * prepared.size();
    return repeated;
  }

  /// One long answer to each image, whose end the model does not decide: from its first token to
  /// its last. A measured answer may be too short for a figure of energy, so this one may be
  /// longer.
  Result<RepeatedPhase> repeat_decode(std::span<const Prepared> prepared,
                                      std::chrono::nanoseconds least,
                                      const std::function<bool()>& stopping) {
    Scopes none;
    std::vector<GenerationOptions> options = options_for(prepared);
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      options[i].max_new_tokens =
          std::max(options[i].max_new_tokens, std::min(kLongAnswer, room_after(prepared[i])));
      options[i].eos_id.reset();
    }
    RepeatedPhase repeated;
    const auto run_for = [&](std::chrono::nanoseconds time) -> Result<void> {
      repeated = {std::string(scope::kDecode), 0, 0, 1, 0};
      for (GenerationOptions& one : options) {
        one.should_stop = [&, time] {
          if (repeated.begin_ns == 0) repeated.begin_ns = monotonic_ns();
          return monotonic_ns() - repeated.begin_ns >= time.count() || (stopping && stopping());
        };
      }
      const std::vector<Generated> generated = PL_TRY(answer_all(prepared, options, none));
      machine_.clock->synchronise();
      repeated.end_ns = monotonic_ns();
      for (const Generated& one : generated) repeated.tokens += one.ids.size() - 1;
      return {};
    };
    constexpr std::chrono::milliseconds kFirstUse{50};  // prepares what this length needs
    PL_TRY(run_for(kFirstUse));
    PL_TRY(run_for(least));
    return repeated;
  }

  /// Limits the tokens to the model's window.
  GenerationOptions options_for(const Prepared& prepared) const {
    GenerationOptions options = generation_options(subject_.infer, model_->config().eos_token_id);
    options.max_new_tokens = std::min(options.max_new_tokens, room_after(prepared));
    return options;
  }

  std::vector<GenerationOptions> options_for(std::span<const Prepared> prepared) const {
    std::vector<GenerationOptions> options;
    for (const Prepared& one : prepared) options.push_back(options_for(one));
    return options;
  }

  /// Tokens that the model's window has room for after the prompt.
  std::int64_t room_after(const Prepared& prepared) const {
    return model_->config().max_position_embeddings -
           static_cast<std::int64_t>(prepared.prompt.ids.size());
  }

  const settings::deepseek_ocr::Subject& subject_;
  const Machine& machine_;
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<DeepseekOcr> model_;
  std::unique_ptr<Engine> engine_;
  Inputs inputs_;
};

/// The number of keys of a decode step that represents a whole run.
std::int64_t decode_context(const Infer& infer, std::int64_t prompt_tokens, std::int64_t window) {
  using settings::deepseek_ocr::ContextLength;
  switch (infer.context_len_mode) {
    case ContextLength::Fixed:
      return infer.context_len_fixed.value_or(1);
    case ContextLength::Max:
      return infer.model_window ? *infer.model_window : window;
    case ContextLength::Auto:
      break;
  }
  return std::min<std::int64_t>(window, prompt_tokens + infer.max_new_tokens / 2);
}

/// A square page, or the first picture of the dataset.
Result<images::Size> traced_size(const RunRequest& request, const Preprocess& preprocess) {
  if (request.settings.pipeline.static_analysis.use_synthetic_inputs) {
    return images::Size{preprocess.base_size, preprocess.base_size};
  }
  const Inputs inputs = PL_TRY(choose_inputs(request));
  return PL_TRY(dataset::facts(inputs.items.front().image)).size;
}

}  // namespace

Result<std::unique_ptr<Subject>> open_deepseek_subject(const RunRequest& request,
                                                       const Machine& machine, Progress& progress) {
  Inputs inputs = PL_TRY(choose_inputs(request));
  DeepseekFiles files = PL_TRY(open_deepseek_files(request, machine.device));
  progress.detail("loading the model");
  const auto& subject = std::get<settings::deepseek_ocr::Subject>(request.settings.subject);
  const ModelOptions options{.device = machine.device,
                             .dtype = scalar_type(subject.model.dtype),
                             .fused_attention = request.settings.use_flash_attn,
                             .allow_tf32 = subject.model.allow_tf32};
  auto model = std::make_unique<DeepseekOcr>(
      PL_TRY(DeepseekOcr::load(files.config, *files.weights, options)));
  OpenedEngine engine = PL_TRY(
      open_engine(*model, request.settings.pipeline.workload.engine, subject.infer.batch_size));
  return std::unique_ptr<Subject>(std::make_unique<DeepseekSubject>(
      request, machine, std::move(files), std::move(model), std::move(engine), std::move(inputs)));
}

Result<Node> trace_deepseek(const RunRequest& request) {
  const auto& subject = std::get<settings::deepseek_ocr::Subject>(request.settings.subject);
  const DeepseekOcrConfig config = PL_TRY(deepseek_config(request));
  const tokenizer::Tokenizer tokenizer = PL_TRY(deepseek_tokenizer(request));
  TraceShape shape;
  std::int64_t slots = 0;
  if (subject.model.preprocess.enable) {
    const images::Size size = PL_TRY(traced_size(request, subject.model.preprocess));
    const images::ViewPlan plan = images::plan_views(size, subject.model.preprocess);
    shape.page_side = plan.global_side;
    shape.tile_side = plan.tile_side;
    shape.grid = {plan.grid.columns, plan.grid.rows};
    slots = static_cast<std::int64_t>(plan.slots);
  }
  const tokenizer::Prompt prompt =
      PL_TRY(assemble(tokenizer, subject.infer.decoder_prompt, slots, config.bos_token_id));
  shape.prompt_tokens = static_cast<std::int64_t>(prompt.ids.size());
  shape.context = std::max<std::int64_t>(
      2, decode_context(subject.infer, shape.prompt_tokens, config.max_position_embeddings));
  return static_trace_document(PL_TRY(trace_model(config, scalar_type(subject.model.dtype), shape)),
                               shape);
}

}  // namespace profline::workload
