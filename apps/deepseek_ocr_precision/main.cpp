#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "cli_program.h"
#include "generation_runs.h"
#include "records/deepseek_ocr_config.h"
#include "workload/fast/open_engine.h"
#include "workload/torch_runtime.h"

namespace {

using namespace profline;

constexpr const char* kDescription =
    "Compares logits of bf16 engines with those of fp32 on the same random weights, prompt and "
    "ids (teacher-forced).\n"
    "Fails when the fast engine's distance from fp32 is more than 1.2 times eager's, when a logit "
    "is not finite, when the fast engine gives other logits the second time, and when what it "
    "generates by itself differs the second time or is not what the host chooses from the same "
    "logits.";

/// How much farther from fp32 than eager the fast engine may be.
constexpr double kRatioLimit = 1.2;

struct Arguments {
  std::string variant = "full";
  std::string device = "cpu";
  std::int64_t prompts = 8;
  std::int64_t prompt = 300;
  std::int64_t tokens = 16;
  std::int64_t generate = 500;
  std::uint64_t seed = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

Result<workload::DeepseekOcr> load(const Arguments& arguments, at::Device device,
                                   at::ScalarType dtype) {
  const DeepseekOcrConfig config = arguments.variant == "tiny" ? tiny_config() : official_config();
  precision::SameRandomWeights source(config, arguments.seed, device);
  workload::ModelOptions options;
  options.device = device;
  options.dtype = dtype;
  return workload::DeepseekOcr::load(config, source, options);
}

void print(const char* what, const precision::Distance& distance, std::int64_t rows) {
  fmt::print(
      "{:<12} all {:.3e}  prompts {:.3e}  steps {:.3e}  worst row {:.3e}  same choice {} of {}{}\n",
      what, distance.all, distance.prompts, distance.steps, distance.worst_row,
      distance.same_choice, rows, distance.is_finite ? "" : "   NOT FINITE");
}

/// Prints the distance of `fast` from fp32 relative to that of `eager`; returns whether it is
/// acceptable.
bool print_ratios(const precision::Distance& fast, const precision::Distance& eager) {
  std::vector<double> each;
  for (std::size_t i = 0; i < fast.each.size(); ++i) each.push_back(fast.each[i] / eager.each[i]);
  const auto [least, most] = std::minmax_element(each.begin(), each.end());
  const double ratios[] = {fast.all / eager.all, fast.prompts / eager.prompts,
                           fast.steps / eager.steps};
  fmt::print("fast / eager: all {:.3f}, prompts {:.3f}, steps {:.3f} (limit {}); ", ratios[0],
             ratios[1], ratios[2], kRatioLimit);
  fmt::print("a prompt with its steps {:.3f} to {:.3f}\n", *least, *most);
  return *std::max_element(std::begin(ratios), std::end(ratios)) <= kRatioLimit;
}

Result<bool> generates(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                       std::int64_t tokens) {
  const precision::FreeRun run = PL_TRY(precision::free_run(engine, prompt, tokens));
  fmt::print("{} generates {} tokens: {}, {}, the host chooses {} of them\n", engine.name(),
             run.tokens, run.repeats ? "the same again" : "NOT the same again",
             run.is_finite ? "all logits finite" : "NOT FINITE", run.hosts_too);
  return run.passes();
}

using Prompts = std::vector<precision::Forced>;

Result<at::Tensor> run(workload::Engine& engine, const Prompts& ids) {
  return workload::catch_torch([&] { return precision::forced_logits(engine, ids); });
}

Result<bool> compare_fast(workload::Engine& engine, const Arguments& arguments, const Prompts& ids,
                          const at::Tensor& reference, const precision::Distance& eager) {
  const at::Tensor logits = PL_TRY(run(engine, ids));
  const auto distance = precision::distance(logits, reference);
  print("fast bf16", distance, reference.size(0) * reference.size(1));
  const bool is_near = print_ratios(distance, eager);
  const bool repeats = at::equal(PL_TRY(run(engine, ids)), logits);
  fmt::print("its logits: {}\n", repeats ? "the same again" : "NOT the same again");
  const bool generated = PL_TRY(generates(engine, ids.front().prompt, arguments.generate));
  return distance.is_finite && is_near && repeats && generated;
}

Result<bool> compare(const Arguments& arguments) {
  const at::Device device = PL_TRY(workload::open_device(arguments.device));
  at::Tensor reference;
  Prompts ids;
  {
    const auto model = PL_TRY(load(arguments, device, at::kFloat));
    ids = precision::random_ids(model.config(), arguments.prompts, arguments.prompt,
                                arguments.tokens, arguments.seed);
    workload::EagerEngine engine(model);
    reference = PL_TRY(run(engine, ids));
  }
  const auto model = PL_TRY(load(arguments, device, at::kBFloat16));
  workload::EagerEngine eager(model);
  const auto distance = precision::distance(PL_TRY(run(eager, ids)), reference);
  print("eager bf16", distance, reference.size(0) * reference.size(1));
  const auto fast = workload::make_fast_engine(model);
  if (!fast) fmt::print("{}\n", fast.error().to_string());
  const bool fast_passes =
      fast ? PL_TRY(compare_fast(**fast, arguments, ids, reference, distance))
           : !device.is_cuda() && PL_TRY(generates(eager, ids.front().prompt, arguments.generate));
  const bool passes = distance.is_finite && fast_passes;
  fmt::print("{}\n", passes ? "within the limits" : "FAILED");
  return passes;
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--variant", arguments.variant, "shapes of the weights")
      ->check(CLI::IsMember({"full", "tiny"}))
      ->capture_default_str();
  app.add_option("--device", arguments.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--prompts", arguments.prompts, "how many prompts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--prompt", arguments.prompt, "ids of each")
      ->check(CLI::Range(1, 1 << 13))
      ->capture_default_str();
  app.add_option("--tokens", arguments.tokens, "steps after each")
      ->check(CLI::Range(1, 1 << 13))
      ->capture_default_str();
  app.add_option("--generate", arguments.generate, "tokens generated without being given any")
      ->check(CLI::Range(1, 1 << 13))
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "of weights and ids")->capture_default_str();
  app.add_option("--threads", arguments.threads, "CPU threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

Result<ExitCode> body(const CLI::App& /*app*/, const Arguments& arguments) {
  workload::use_threads(static_cast<int>(arguments.threads));
  return PL_TRY(compare(arguments)) ? ExitCode::Done : ExitCode::Failed;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program<Arguments>({"deepseek_ocr_precision", kDescription}, argc, argv, add_options,
                                body);
}
