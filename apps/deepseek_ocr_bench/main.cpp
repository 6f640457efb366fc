#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "base/figures.h"
#include "base/result.h"
#include "cli_program.h"
#include "inputs/weights/model_tensors.h"
#include "records/deepseek_ocr_config.h"
#include "settings/pipeline.h"
#include "workload/fast/open_engine.h"
#include "workload/generation/generate.h"
#include "workload/measure/device_clock.h"
#include "workload/measure/measured_scopes.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/weight_source.h"
#include "workload/torch_runtime.h"

namespace profline::bench {

/// The input of one round.
struct Shape {
  std::int64_t page = 1024;  ///< 0: no picture
  std::int64_t tile = 640;
  workload::TileGrid grid;  ///< one by one: no tiles
  std::int64_t text = 8;    ///< ids of the prompt besides BOS and the image's slots
  std::int64_t tokens = 64;
  std::uint32_t ngram = 20;  ///< no_repeat_ngram_size

  bool is_tiled() const { return grid.columns * grid.rows > 1; }
};

using Duration = std::chrono::duration<double, std::milli>;

/// All times of one phase, in the order of the rounds (decode_step: also of the tokens).
struct Phase {
  std::string name;
  std::vector<Duration> times;

  Duration median() const;
};

struct Measured {
  std::int64_t prompt_tokens = 0;
  /// The phases of generation as a run reports them, from the device's clock; and from the host's:
  /// `token`, the time from the first known token to the last divided by their number, and
  /// `generation`, the total. Tokens of the first round, which sees each context for the first
  /// time, are separate.
  std::vector<Phase> phases;
};

/// Generates with fresh random pixels and ids in each round, after `warmup` unmeasured rounds at
/// other lengths.
Result<Measured> measure(workload::Engine& engine, workload::DeviceClock& clock, const Shape& shape,
                         int warmup, int rounds);

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

namespace {

using namespace profline;

struct Arguments {
  std::optional<std::filesystem::path> weights;
  std::string variant = "full";
  std::string device = "cpu";
  std::string dtype = "bf16";
  std::string attention = "fused";
  settings::Engine engine = settings::Engine::Auto;
  std::string tiles = "1x1";
  bench::Shape shape;
  int warmup = 2;
  int rounds = 5;
  std::uint64_t seed = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

/// `3x2`, each from 1 to 99.
Result<workload::TileGrid> parse_grid(const std::string& text) {
  const auto number = [](const std::string& digits) -> std::int64_t {
    if (digits.empty() || digits.size() > 2) return 0;
    if (digits.find_first_not_of("0123456789") != std::string::npos) return 0;
    return std::stol(digits);
  };
  const auto cross = std::min(text.find('x'), text.size());
  const workload::TileGrid grid{number(text.substr(0, cross)),
                                cross < text.size() ? number(text.substr(cross + 1)) : 0};
  if (grid.columns > 0 && grid.rows > 0) return grid;
  return Error(ErrorKind::Config, "--tiles is '" + text + "', not COLUMNSxROWS (3x2)");
}

at::ScalarType scalar_type(const std::string& name) {
  if (name == "fp32") return at::kFloat;
  return name == "fp16" ? at::kHalf : at::kBFloat16;
}

void print(const bench::Measured& measured) {
  for (const bench::Phase& phase : measured.phases) {
    fmt::print("{:<20} {:>10.4f} ms   median of {}\n", phase.name, phase.median().count(),
               phase.times.size());
  }
  fmt::print("prompt: {}\n", counted(static_cast<std::uint64_t>(measured.prompt_tokens), "token"));
}

struct Loaded {
  workload::DeepseekOcr model;
  std::uint64_t file_bytes = 0;
};

Result<Loaded> load(const Arguments& arguments, const workload::ModelOptions& options) {
  if (arguments.weights) {
    const weights::Model files = PL_TRY(weights::open_model(*arguments.weights));
    workload::CheckpointWeights source(files.checkpoint);
    return Loaded{PL_TRY(workload::DeepseekOcr::load(files.config, source, options)),
                  files.checkpoint.byte_count()};
  }
  const DeepseekOcrConfig config = arguments.variant == "tiny" ? tiny_config() : official_config();
  workload::RandomWeights source(config, arguments.seed, options.device);
  return Loaded{PL_TRY(workload::DeepseekOcr::load(config, source, options))};
}

/// `710 ms`; for files with their rate.
std::string describe_loading(std::uint64_t file_bytes, bench::Duration time) {
  std::string text = human_duration(time);
  if (file_bytes == 0) return text;
  const auto bytes = static_cast<double>(file_bytes);
  return fmt::format("{} ({} at {})", text, amount(bytes, "B"),
                     amount(bytes / (time.count() / 1000.0), "B/s"));
}

Result<void> measure(Arguments arguments) {
  arguments.shape.grid = PL_TRY(parse_grid(arguments.tiles));
  workload::ModelOptions options;
  options.device = PL_TRY(workload::open_device(arguments.device));
  options.dtype = scalar_type(arguments.dtype);
  options.fused_attention = arguments.attention == "fused";
  const auto clock = PL_TRY(workload::make_device_clock(options.device));
  clock->synchronise();
  const auto start = std::chrono::steady_clock::now();
  const Loaded loaded = PL_TRY(load(arguments, options));
  clock->synchronise();
  const bench::Duration loading = std::chrono::steady_clock::now() - start;
  const auto opened = PL_TRY(workload::open_engine(loaded.model, arguments.engine));
  for (const std::string& note : opened.notes) fmt::print(stderr, "{}\n", note);
  const auto measured = PL_TRY(workload::catch_torch([&] {
    return bench::measure(*opened.engine, *clock, arguments.shape, arguments.warmup,
                          arguments.rounds);
  }));
  fmt::print(
      "{} engine, {} {} {}, page {}, tiles {} of {}, {} tokens, {} attention, loaded in {}\n",
      opened.engine->name(), arguments.device, arguments.dtype,
      arguments.weights ? arguments.weights->string() : arguments.variant, arguments.shape.page,
      arguments.tiles, arguments.shape.tile, arguments.shape.tokens, arguments.attention,
      describe_loading(loaded.file_bytes, loading));
  print(measured);
  if (const auto peak = workload::peak_memory_bytes(options.device)) {
    fmt::print("device memory, peak: {}\n", amount(static_cast<double>(*peak), "B"));
  }
  return {};
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--weights", arguments.weights, "a checkpoint's folder instead of random weights");
  app.add_option("--variant", arguments.variant, "shapes of random weights")
      ->check(CLI::IsMember({"full", "tiny"}))
      ->capture_default_str();
  app.add_option("--device", arguments.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--dtype", arguments.dtype, "of weights and activations")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
      ->capture_default_str();
  app.add_option("--attention", arguments.attention, "how attention is computed")
      ->check(CLI::IsMember({"fused", "explicit"}))
      ->capture_default_str();
  const std::map<std::string, settings::Engine> engines{{"auto", settings::Engine::Auto},
                                                        {"eager", settings::Engine::Eager},
                                                        {"fast", settings::Engine::Fast}};
  app.add_option("--engine", arguments.engine, "how the model is run (default: auto)")
      ->transform(CLI::CheckedTransformer(engines));
  const auto size = CLI::Range(16, 1 << 14);
  app.add_option("--page", arguments.shape.page, "side of the page's view; 0: no image")
      ->check(CLI::Range(0, 1 << 14))
      ->capture_default_str();
  app.add_option("--tile", arguments.shape.tile, "side of a tile")
      ->check(size)
      ->capture_default_str();
  app.add_option("--tiles", arguments.tiles, "COLUMNSxROWS; 1x1: none")->capture_default_str();
  app.add_option("--text", arguments.shape.text, "random ids of the prompt after the image")
      ->check(CLI::Range(1, 1 << 14))
      ->capture_default_str();
  app.add_option("--ngram", arguments.shape.ngram, "no_repeat_ngram_size")
      ->check(CLI::Range(0, 1 << 10))
      ->capture_default_str();
  app.add_option("--tokens", arguments.shape.tokens, "tokens to generate")
      ->check(CLI::Range(2, 1 << 14))
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "measured rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--warmup", arguments.warmup, "rounds before those")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "of random weights")->capture_default_str();
  app.add_option("--threads", arguments.threads, "CPU threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

Result<ExitCode> body(const CLI::App& /*app*/, const Arguments& arguments) {
  workload::use_threads(static_cast<int>(arguments.threads));
  PL_TRY(measure(arguments));
  return ExitCode::Done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program<Arguments>(
      {"deepseek_ocr_bench",
       "Times each part of generation with DeepSeek-OCR, on random pixels and ids."},
      argc, argv, add_options, body);
}
