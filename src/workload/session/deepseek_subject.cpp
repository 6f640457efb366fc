#include "workload/session/deepseek_subject.h"

#include <random>

#include <ATen/ATen.h>

#include "inputs/images/views.h"
#include "inputs/tokenizer/prompt.h"
#include "inputs/tokenizer/tokenizer.h"
#include "workload/fast/open_engine.h"
#include "workload/generation/generate.h"
#include "workload/profiler/model_trace.h"
#include "workload/session/deepseek_files.h"
#include "workload/session/inputs.h"

namespace profline::workload {
namespace {

using settings::deepseek_ocr::Infer;
using settings::deepseek_ocr::Preprocess;
using std::chrono::nanoseconds;

constexpr std::int64_t kWarmupTokens = 8;

/// Views as the model takes them, in one tensor of their common side.
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

FinishReason finish_of(Finish finish) {
  return finish == Finish::Eos ? FinishReason::Eos : FinishReason::Length;
}

std::int64_t count(const std::optional<nanoseconds>& time) {
  return time.value_or(nanoseconds(0)).count();
}

std::optional<std::int64_t> count_if_any(const std::optional<nanoseconds>& time) {
  if (!time) return std::nullopt;
  return time->count();
}

void set_times(Sample& sample, const std::vector<PartTime>& parts) {
  sample.prefill_ns = count(time_of(parts, scope::kPrefill));
  sample.sam_ns = count_if_any(time_of(parts, scope::kSam));
  sample.clip_ns = count_if_any(time_of(parts, scope::kClip));
  sample.projector_ns = count_if_any(time_of(parts, scope::kProjector));
  sample.lm_ns = count_if_any(time_of(parts, scope::kLm));
  sample.decode_ns = count_if_any(time_of(parts, scope::kDecode));
  for (const PartTime& part : parts) {
    if (part.name == std::string_view(scope::kDecodeStep)) {
      sample.token_ns.push_back(part.duration.count());
    }
  }
  // An engine that is ahead of the host has begun a step more when the end comes.
  const std::size_t steps = std::max<std::size_t>(1, sample.new_tokens) - 1;
  if (sample.token_ns.size() > steps) sample.token_ns.resize(steps);
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

  Result<void> warm_up(bool synthetic) override {
    images::Picture picture = PL_TRY(dataset::load(inputs_.items.front().image));
    if (synthetic) {
      // Of the first image's size: what libraries prepare for a shape is then ready for it.
      const images::Colour grey{images::kLetterboxGrey, images::kLetterboxGrey,
                                images::kLetterboxGrey};
      picture = images::Picture(picture.size(), grey);
    }
    Scopes none;
    const Prepared prepared = PL_TRY(prepare(picture));
    GenerationOptions options = options_for(prepared);
    options.max_new_tokens = std::min(options.max_new_tokens, kWarmupTokens);
    PL_TRY(generate(*engine_, prepared.picture(), prepared.prompt, options, none));
    return {};
  }

  Result<Answer> run(const dataset::Item& item, MeasuredScopes& scopes,
                     const Extent& extent) override {
    const auto begin = std::chrono::steady_clock::now();
    const images::Picture picture =
        preprocess().enable ? PL_TRY(dataset::load(item.image)) : images::Picture();
    const Prepared prepared = PL_TRY(prepare(picture));
    machine_.clock->synchronise();
    const auto ready = std::chrono::steady_clock::now();

    GenerationOptions options = options_for(prepared);
    if (extent.max_new_tokens) {
      options.max_new_tokens = std::min(options.max_new_tokens, *extent.max_new_tokens);
    }
    options.should_stop = extent.stopping;
    const auto on_token = [&](std::size_t, std::int64_t) {
      if (extent.on_token) extent.on_token();
    };
    const Generated generated =
        PL_TRY(generate(*engine_, prepared.picture(), prepared.prompt, options, scopes, on_token));

    Answer answer;
    answer.stopped = generated.finish == Finish::Stopped;
    Sample& sample = answer.sample;
    sample.image = item.image.name;
    sample.epoch = item.epoch;
    sample.index = item.index;
    sample.prompt_tokens = static_cast<std::uint32_t>(prepared.prompt.ids.size());
    sample.new_tokens = static_cast<std::uint32_t>(generated.ids.size());
    sample.finish = finish_of(generated.finish);
    sample.preprocess_ns = nanoseconds(ready - begin).count();
    sample.dtype = dtype_text(subject_.model.dtype);
    sample.threads = machine_.threads;
    sample.engine = engine();
    set_times(sample, scopes.take());
    answer.text = tokenizer_.decode(generated.ids, tokenizer::SpecialTokens::Keep);
    return answer;
  }

 private:
  struct Prepared {
    std::optional<ImageViews> views;
    tokenizer::Prompt prompt;

    const ImageViews* picture() const { return views ? &*views : nullptr; }
  };

  const Preprocess& preprocess() const { return subject_.model.preprocess; }

  Result<Prepared> prepare(const images::Picture& picture) const {
    Prepared prepared;
    std::int64_t slots = 0;
    if (preprocess().enable) {
      const images::Views views = images::make_views(picture, preprocess());
      slots = static_cast<std::int64_t>(views.plan.slots);
      prepared.views = tensors_of(views, machine_.device);
    }
    prepared.prompt = PL_TRY(
        assemble(tokenizer_, subject_.infer.decoder_prompt, slots, model_->config().bos_token_id));
    const std::int64_t room = model_->config().max_position_embeddings -
                              static_cast<std::int64_t>(prepared.prompt.ids.size());
    if (room < 1) {
      return Error(ErrorKind::Config, "the prompt has " +
                                          std::to_string(prepared.prompt.ids.size()) +
                                          " tokens, the model's window " +
                                          std::to_string(model_->config().max_position_embeddings));
    }
    return prepared;
  }

  /// Never more tokens than the model's window has room for.
  GenerationOptions options_for(const Prepared& prepared) const {
    GenerationOptions options = generation_options(subject_.infer, model_->config().eos_token_id);
    const std::int64_t room = model_->config().max_position_embeddings -
                              static_cast<std::int64_t>(prepared.prompt.ids.size());
    options.max_new_tokens = std::min(options.max_new_tokens, room);
    return options;
  }

  const settings::deepseek_ocr::Subject& subject_;
  const Machine& machine_;
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<DeepseekOcr> model_;
  std::unique_ptr<Engine> engine_;
  Inputs inputs_;
};

/// The keys of a decode step that stand for all of a run.
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
  OpenedEngine engine = PL_TRY(open_engine(*model, request.settings.pipeline.workload.engine));
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
