#include "phases.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "workload/generation/generate.h"
#include "workload/measure/measured_scopes.h"

namespace profline::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Phases {
 public:
  /// Phases appear in the order of first use.
  void add(const std::string& name, Duration time) {
    const auto known = std::find_if(phases_.begin(), phases_.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    Phase& phase = known == phases_.end() ? phases_.emplace_back(Phase{name, {}}) : *known;
    phase.times.push_back(time);
  }
  std::vector<Phase> take() { return std::move(phases_); }

 private:
  std::vector<Phase> phases_;
};

at::Tensor random_views(std::int64_t count, std::int64_t side, const workload::Engine& engine) {
  const at::Tensor pixels = at::rand({count, 3, side, side}, at::kFloat).mul_(2).sub_(1);
  return pixels.to(engine.model().options().device);
}

struct Input {
  std::optional<workload::ImageViews> views;
  tokenizer::Prompt prompt;

  const workload::ImageViews* picture() const { return views ? &*views : nullptr; }
};

/// The number of rows of a view with this side, without the newlines, as in Sam and image_tokens.
std::int64_t side_of(std::int64_t pixels, const DeepseekOcrConfig& config) {
  const std::int64_t grid = pixels / config.sam().patch_size;
  return ((grid + 1) / 2 + 1) / 2;
}

Input random_input(const workload::Engine& engine, const Shape& shape) {
  const DeepseekOcrConfig& config = engine.model().config();
  Input input;
  std::int64_t slots = 0;
  if (shape.page > 0) {
    input.views.emplace();
    input.views->grid = shape.grid;
    input.views->page = random_views(1, shape.page, engine);
    const std::int64_t page = side_of(shape.page, config);
    slots = page * (page + 1) + 1;
    if (shape.is_tiled()) {
      input.views->tiles = random_views(shape.grid.columns * shape.grid.rows, shape.tile, engine);
      const std::int64_t tile = side_of(shape.tile, config);
      slots += tile * shape.grid.rows * (tile * shape.grid.columns + 1);
    }
  }
  const at::Tensor text = at::randint(2, config.vocab_size, {shape.text}, at::kLong);
  auto& ids = input.prompt.ids;
  ids.assign(static_cast<std::size_t>(1 + slots), config.bos_token_id);
  ids.insert(ids.end(), text.data_ptr<std::int64_t>(),
             text.data_ptr<std::int64_t>() + text.numel());
  input.prompt.is_image.assign(ids.size(), 0);
  std::fill_n(input.prompt.is_image.begin() + 1, slots, std::uint8_t{1});
  return input;
}

/// Combines the parts of one generation: times of a part add up, those of steps stay separate.
void add_parts(const std::vector<workload::PartTime>& parts, const std::string& step,
               Phases& phases) {
  namespace scope = workload::scope;
  Duration vision{0};
  for (const char* name : {scope::kSam, scope::kClip, scope::kProjector}) {
    const auto time = workload::time_of(parts, name);
    if (!time) continue;
    phases.add(name, *time);
    vision += *time;
  }
  if (vision.count() > 0) phases.add("vision", vision);
  phases.add("prefill, language", *workload::time_of(parts, scope::kLm));
  for (const workload::PartTime& part : parts) {
    if (std::string_view(part.name) == scope::kDecodeStep) phases.add(step, part.duration);
  }
}

/// → the prompt's length. `suffix` is appended to the names of tokens' times.
Result<std::int64_t> run_round(workload::Engine& engine, workload::DeviceClock& clock,
                               const Shape& shape, const std::string& suffix, Phases& phases) {
  const Input input = random_input(engine, shape);
  workload::GenerationOptions options;
  options.max_new_tokens = shape.tokens;
  options.no_repeat_ngram_size = shape.ngram;
  options.eos_id = engine.model().config().eos_token_id;
  workload::MeasuredScopes scopes(clock, {});
  clock.synchronise();
  const auto begin = Clock::now();
  Clock::time_point first;
  const auto generated = PL_TRY(workload::generate(engine, input.picture(), input.prompt, options,
                                                   scopes, [&](std::size_t index, std::int64_t) {
                                                     if (index == 0) first = Clock::now();
                                                   }));
  const auto end = Clock::now();
  add_parts(scopes.take(), "step" + suffix, phases);
  const auto further = static_cast<double>(generated.ids.size()) - 1;
  if (further > 0) phases.add("token" + suffix, Duration(end - first) / further);
  phases.add("generation", end - begin);
  return static_cast<std::int64_t>(input.prompt.ids.size());
}

}  // namespace

Duration Phase::median() const {
  std::vector<Duration> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Result<Measured> measure(workload::Engine& engine, workload::DeviceClock& clock, const Shape& shape,
                         int warmup, int rounds) {
  // At other lengths: what a library prepares for each new length is part of decoding, where every
  // step has a new one.
  Shape elsewhere = shape;
  elsewhere.text += 4 * shape.tokens;
  for (int round = 0; round < warmup; ++round) {
    Phases unused;
    PL_TRY(run_round(engine, clock, elsewhere, "", unused));
  }
  Phases phases;
  Measured measured;
  for (int round = 0; round < rounds; ++round) {
    const std::string suffix = round == 0 ? ", new length" : "";
    measured.prompt_tokens = PL_TRY(run_round(engine, clock, shape, suffix, phases));
  }
  measured.phases = phases.take();
  return measured;
}

}  // namespace profline::bench
