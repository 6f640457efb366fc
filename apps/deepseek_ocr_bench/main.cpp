#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "base/figures.h"
#include "cli_program.h"
#include "inputs/weights/model_tensors.h"
#include "phases.h"
#include "records/deepseek_ocr_config.h"
#include "settings/workload.h"
#include "workload/fast/open_engine.h"
#include "workload/measure/device_clock.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/weight_source.h"
#include "workload/torch_runtime.h"

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
  app.add_option("--page", arguments.shape.page, "side of the page's view; 0: no picture")
      ->check(CLI::Range(0, 1 << 14))
      ->capture_default_str();
  app.add_option("--tile", arguments.shape.tile, "side of a tile")
      ->check(size)
      ->capture_default_str();
  app.add_option("--tiles", arguments.tiles, "COLUMNSxROWS; 1x1: none")->capture_default_str();
  app.add_option("--text", arguments.shape.text, "random ids of the prompt after the picture")
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
