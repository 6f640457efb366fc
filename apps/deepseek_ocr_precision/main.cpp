#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <CLI/CLI.hpp>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>

#include "base/error.h"
#include "base/result.h"
#include "cli_program.h"
#include "inputs/tokenizer/tokenizer.h"
#include "records/deepseek_ocr_config.h"
#include "workload/fast/open_engine.h"
#include "workload/generation/generate.h"
#include "workload/generation/token_chooser.h"
#include "workload/model/weight_source.h"
#include "workload/torch_runtime.h"

namespace profline::precision {

/// The weights of a bf16 model with this seed, in whatever dtype the model has: fp32 then holds the
/// same numbers.
class SameRandomWeights final : public workload::WeightSource {
 public:
  SameRandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device)
      : random_(config, seed, device) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  workload::RandomWeights random_;
};

/// The input of the engines: prompts of ids, and the ids that follow regardless of what they would
/// choose.
struct Forced {
  std::vector<std::int64_t> prompt;
  std::vector<std::int64_t> further;
};
std::vector<Forced> random_ids(const DeepseekOcrConfig& config, std::int64_t prompts,
                               std::int64_t length, std::int64_t tokens, std::uint64_t seed);

/// Logits after each prompt and after each further id, [prompts, 1 + tokens, vocabulary] fp32 on
/// the CPU.
at::Tensor forced_logits(workload::Engine& engine, const std::vector<Forced>& ids);

/// ‖logits − reference‖ / ‖reference‖, with one norm over a set of rows: all rows, those after a
/// prompt, those of decode steps, and those of each prompt. A single row says little: one token
/// that goes to another expert decides it.
struct Distance {
  double all = 0;
  double prompts = 0;
  double steps = 0;
  std::vector<double> each;  ///< per prompt, with its steps
  double worst_row = 0;
  std::int64_t same_choice = 0;  ///< rows with the same likeliest id
  bool is_finite = true;
};
Distance distance(const at::Tensor& logits, const at::Tensor& reference);

/// What an engine generated freely, twice, compared with its own logits.
struct FreeRun {
  std::int64_t tokens = 0;
  bool repeats = true;    ///< the same ids the second time
  bool is_finite = true;  ///< all logits along the way
  /// The number of ids, from the first, that the host with its n-gram rule also chooses from the
  /// same logits.
  std::int64_t hosts_too = 0;

  bool passes() const { return repeats && is_finite && hosts_too == tokens; }
};

/// Greedy, with the default n-gram rule and no end before `tokens`.
Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens);

Result<void> SameRandomWeights::fill(std::string_view name, at::Tensor destination) {
  if (destination.scalar_type() == at::kBFloat16) return random_.fill(name, destination);
  const at::Tensor rounded =
      at::empty(destination.sizes(), destination.options().dtype(at::kBFloat16));
  PL_TRY(random_.fill(name, rounded));
  destination.copy_(rounded);
  return {};
}

std::vector<Forced> random_ids(const DeepseekOcrConfig& config, std::int64_t prompts,
                               std::int64_t length, std::int64_t tokens, std::uint64_t seed) {
  at::manual_seed(seed);
  std::vector<Forced> all;
  for (std::int64_t i = 0; i < prompts; ++i) {
    const at::Tensor ids = at::randint(2, config.vocab_size, {length + tokens}, at::kLong);
    const std::int64_t* first = ids.data_ptr<std::int64_t>();
    all.push_back({{first, first + length}, {first + length, first + length + tokens}});
  }
  return all;
}

namespace {

at::Tensor logits_of(workload::Engine& engine, const Forced& ids) {
  const at::Device device = engine.model().options().device;
  const tokenizer::Prompt prompt{ids.prompt, std::vector<std::uint8_t>(ids.prompt.size(), 0)};
  const auto capacity = static_cast<std::int64_t>(ids.prompt.size() + ids.further.size());
  std::vector<at::Tensor> rows{engine.prefill(prompt, {}, capacity).cpu()};
  for (const std::int64_t id : ids.further) {
    rows.push_back(engine.decode(at::tensor({id}, at::kLong).to(device)).cpu());
  }
  return at::cat(rows);
}

}  // namespace

at::Tensor forced_logits(workload::Engine& engine, const std::vector<Forced>& ids) {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> each;
  each.reserve(ids.size());
  for (const Forced& one : ids) each.push_back(logits_of(engine, one));
  return at::stack(each);
}

Distance distance(const at::Tensor& logits, const at::Tensor& reference) {
  const at::Tensor far = (logits - reference).square().sum(-1, false, at::kDouble);
  const at::Tensor size = reference.square().sum(-1, false, at::kDouble);
  const auto ratio = [&](std::int64_t first, std::int64_t rows) {
    const at::Tensor both = far.narrow(1, first, rows).sum() / size.narrow(1, first, rows).sum();
    return both.sqrt().item<double>();
  };
  const at::Tensor each = (far.sum(1) / size.sum(1)).sqrt().contiguous();
  Distance result;
  result.all = ratio(0, far.size(1));
  result.prompts = ratio(0, 1);
  result.steps = ratio(1, far.size(1) - 1);
  result.each.assign(each.data_ptr<double>(), each.data_ptr<double>() + each.numel());
  result.worst_row = (far / size).sqrt().max().item<double>();
  result.same_choice = logits.argmax(-1).eq(reference.argmax(-1)).sum().item<std::int64_t>();
  result.is_finite = at::isfinite(logits).all().item<bool>();
  return result;
}

namespace {

constexpr std::uint32_t kNgramSize = 20;

/// Replays the ids one by one, so that the host sees each step's logits.
void follow(workload::Engine& engine, const tokenizer::Prompt& prompt,
            const std::vector<std::int64_t>& ids, const workload::GenerationOptions& options,
            FreeRun& result) {
  const c10::InferenceMode inference;
  const auto capacity = static_cast<std::int64_t>(prompt.ids.size() + ids.size());
  workload::TokenChooser chooser(options, prompt.ids);
  at::Tensor logits = engine.prefill(prompt, {}, capacity);
  for (const std::int64_t id : ids) {
    result.is_finite = result.is_finite && at::isfinite(logits).all().item<bool>();
    const workload::Choice choice = chooser.choose(logits.clone());
    if (choice.id != id) return;  // from here on the host's history differs
    ++result.hosts_too;
    logits = engine.decode(choice.token);
  }
}

}  // namespace

Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens) {
  const tokenizer::Prompt whole{prompt, std::vector<std::uint8_t>(prompt.size(), 0)};
  workload::GenerationOptions options;
  options.max_new_tokens = tokens;
  options.no_repeat_ngram_size = kNgramSize;
  workload::Scopes scopes;
  const auto first = PL_TRY(workload::generate_from_rows(engine, {}, whole, options, scopes));
  const auto second = PL_TRY(workload::generate_from_rows(engine, {}, whole, options, scopes));
  FreeRun result;
  result.tokens = static_cast<std::int64_t>(first.ids.size());
  result.repeats = first.ids == second.ids;
  PL_TRY(workload::catch_torch([&]() -> Result<void> {
    follow(engine, whole, first.ids, options, result);
    return {};
  }));
  return result;
}

}  // namespace profline::precision

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
