#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/exit_code.h"
#include "cli_program.h"
#include "forced_run.h"
#include "records/deepseek_ocr_config.h"
#include "workload/fast/fast_engine.h"
#include "workload/model/device.h"
#include "workload/model/torch_errors.h"
#include "workload/threads.h"

namespace {

using namespace profline;

constexpr const char* kDescription =
    "Compares logits of bf16 engines with those of fp32 on the same random weights, prompt and "
    "ids (teacher-forced).\n"
    "Fails when the fast engine's distance from fp32 is more than 1.2 times eager's, when a logit "
    "is not finite, and when the fast engine gives other logits the second time.";

/// How much farther from fp32 than eager the fast engine may be.
constexpr double kRatioLimit = 1.2;

struct Arguments {
  std::string variant = "full";
  std::string device = "cpu";
  std::int64_t prompts = 8;
  std::int64_t prompt = 300;
  std::int64_t tokens = 16;
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
  fmt::print("{:<12} prompt {:.3e}  decode mean {:.3e}  worst {:.3e}  same choice {} of {}{}\n",
             what, distance.first, distance.mean, distance.worst, distance.same_choice, rows,
             distance.is_finite ? "" : "   NOT FINITE");
}

Result<bool> compare(const Arguments& arguments) {
  const at::Device device = PL_TRY(workload::open_device(arguments.device));
  const auto run = [](workload::Engine& engine, const std::vector<precision::Forced>& ids) {
    return workload::catch_torch([&] { return precision::forced_logits(engine, ids); });
  };
  at::Tensor reference;
  std::vector<precision::Forced> ids;
  {
    const auto model = PL_TRY(load(arguments, device, at::kFloat));
    ids = precision::random_ids(model.config(), arguments.prompts, arguments.prompt,
                                arguments.tokens, arguments.seed);
    workload::EagerEngine engine(model);
    reference = PL_TRY(run(engine, ids));
  }
  const auto model = PL_TRY(load(arguments, device, at::kBFloat16));
  workload::EagerEngine eager(model);
  const auto eager_distance = precision::distance(PL_TRY(run(eager, ids)), reference);
  const std::int64_t rows = reference.size(0) * reference.size(1);
  print("eager bf16", eager_distance, rows);
  bool passes = eager_distance.is_finite;

  const auto fast = workload::make_fast_engine(model);
  if (!fast) {
    fmt::print("{}\n", fast.error().to_string());
    return passes && !device.is_cuda();
  }
  const at::Tensor logits = PL_TRY(run(**fast, ids));
  const auto fast_distance = precision::distance(logits, reference);
  print("fast bf16", fast_distance, rows);
  const double prompt_ratio = fast_distance.first / eager_distance.first;
  const double ratio = fast_distance.mean / eager_distance.mean;
  const bool repeats = at::equal(PL_TRY(run(**fast, ids)), logits);
  fmt::print("fast / eager: prompt {:.3f}, decode {:.3f} (limit {}); {}\n", prompt_ratio, ratio,
             kRatioLimit, repeats ? "the same again" : "NOT the same again");
  passes = passes && fast_distance.is_finite && repeats && ratio <= kRatioLimit &&
           prompt_ratio <= kRatioLimit;
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
  app.add_option("--tokens", arguments.tokens, "steps behind each")
      ->check(CLI::Range(1, 1 << 13))
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "of weights and ids")->capture_default_str();
  app.add_option("--threads", arguments.threads, "CPU threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  const auto body = [](const CLI::App&, const Arguments& arguments) -> Result<ExitCode> {
    workload::use_threads(static_cast<int>(arguments.threads));
    return PL_TRY(compare(arguments)) ? ExitCode::Done : ExitCode::Failed;
  };
  return run_program<Arguments>({"deepseek_ocr_precision", kDescription}, argc, argv, add_options,
                                body);
}
