#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "cases.h"
#include "cli_program.h"
#include "inputs/weights/model_tensors.h"
#include "inputs/weights/safetensors.h"
#include "settings/pipeline.h"
#include "workload/fast/open_engine.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/weight_source.h"
#include "workload/torch_runtime.h"

namespace {

using namespace profline;

constexpr const char* kDescription =
    "Runs a DeepSeek-OCR checkpoint on the inputs of its cases.json, in fp32 and without TF32, and "
    "compares every phase with expected.safetensors, the output of the published modules.\n"
    "Fails when image tokens are off by more than 2e-4 or logits by more than 1e-3 (given the "
    "reference's ids), when an id differs that the reference chose by a margin above 1e-3, or when "
    "greedy decoding gives other ids.";

struct Arguments {
  std::filesystem::path folder;
  std::string device = "cpu";
  std::string attention = "fused";
  settings::Engine engine = settings::Engine::Eager;
  std::vector<std::string> cases;
  std::optional<std::filesystem::path> out;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
};

void print(const parity::IdDifferences& ids, const char* how) {
  fmt::print("  {:<16} {:>18}  {} of {} equal", "ids", how,
             ids.compared - ids.excused - ids.wrong.size(), ids.compared);
  if (ids.excused > 0) fmt::print(", {} within the margin", ids.excused);
  fmt::print("{}\n", ids.wrong.empty() ? "" : "   FAILED");
  for (const std::string& wrong : ids.wrong) fmt::print("    {}\n", wrong);
}

void print(const parity::Case& one, const parity::Outcome& outcome) {
  fmt::print("{}\n", one.name);
  for (const parity::Difference& tensor : outcome.tensors) {
    fmt::print("  {:<16} {:>18}  abs {:.2e}  rel {:.2e}", tensor.name.substr(one.name.size() + 1),
               fmt::format("{}", tensor.shape), tensor.absolute, tensor.relative);
    if (tensor.limit) fmt::print("  limit {:.0e}", *tensor.limit);
    fmt::print("{}\n", tensor.passes() ? "" : "   FAILED");
  }
  print(outcome.forced, "teacher-forced");
  print(outcome.running, "free-running");
}

Result<void> write(const std::filesystem::path& path,
                   const std::map<std::string, at::Tensor>& computed) {
  std::vector<at::Tensor> kept;
  std::vector<weights::Tensor> tensors;
  for (const auto& [name, tensor] : computed) {
    const at::Tensor& plain = kept.emplace_back(tensor.contiguous());
    const bool is_ids = plain.scalar_type() == at::kLong;
    tensors.push_back({name,
                       is_ids ? weights::Dtype::I64 : weights::Dtype::F32,
                       plain.sizes().vec(),
                       {static_cast<const std::byte*>(plain.data_ptr()), plain.nbytes()}});
  }
  return weights::write_safetensors(path, tensors, {{"format", "pt"}});
}

/// The named cases, or all.
Result<std::vector<parity::Case>> chosen_cases(const Arguments& arguments) {
  auto loaded = PL_TRY(parity::load_cases(arguments.folder / "cases.json"));
  if (loaded.pattern != parity::kPattern) {
    fmt::print(stderr,
               "deepseek_ocr_parity: cases.json describes its pixels in other words than "
               "this program knows; they are made as '{}'\n",
               parity::kPattern);
  }
  if (arguments.cases.empty()) return std::move(loaded.cases);
  std::vector<parity::Case> chosen;
  for (const std::string& name : arguments.cases) {
    const auto found = std::find_if(loaded.cases.begin(), loaded.cases.end(),
                                    [&](const parity::Case& one) { return one.name == name; });
    if (found == loaded.cases.end()) {
      return Error(ErrorKind::NotFound, "cases.json has no case '" + name + "'");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Result<bool> compare(const Arguments& arguments) {
  const std::vector<parity::Case> cases = PL_TRY(chosen_cases(arguments));
  const weights::Model files = PL_TRY(weights::open_model(arguments.folder));
  const parity::Reference reference(
      PL_TRY(weights::Checkpoint::open_file(arguments.folder / "expected.safetensors")));
  workload::ModelOptions options;
  options.device = PL_TRY(workload::open_device(arguments.device));
  options.fused_attention = arguments.attention == "fused";
  workload::CheckpointWeights source(files.checkpoint);
  const auto model = PL_TRY(workload::DeepseekOcr::load(files.config, source, options));

  const auto opened = PL_TRY(workload::open_engine(model, arguments.engine));

  std::map<std::string, at::Tensor> computed;
  bool all_pass = true;
  for (const parity::Case& one : cases) {
    parity::Outcome outcome = PL_TRY(parity::run_case(one, *opened.engine, reference));
    print(one, outcome);
    all_pass = all_pass && outcome.passes();
    computed.merge(outcome.computed);
  }
  if (arguments.out) PL_TRY(write(*arguments.out, computed));
  fmt::print("{}\n", all_pass ? "all within the limits" : "beyond the limits: see FAILED above");
  return all_pass;
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("DIR", arguments.folder,
                 "folder with config.json, model.safetensors, cases.json, expected.safetensors")
      ->required();
  app.add_option("--device", arguments.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--attention", arguments.attention, "how attention is computed")
      ->check(CLI::IsMember({"fused", "explicit"}))
      ->capture_default_str();
  const std::map<std::string, settings::Engine> engines{{"eager", settings::Engine::Eager},
                                                        {"fast", settings::Engine::Fast}};
  app.add_option("--engine", arguments.engine, "how the model is run (default: eager)")
      ->transform(CLI::CheckedTransformer(engines));
  app.add_option("--case", arguments.cases, "only this case (may be repeated)");
  app.add_option("--out", arguments.out, "write every tensor and id computed, as safetensors");
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
  return run_program<Arguments>({"deepseek_ocr_parity", kDescription}, argc, argv, add_options,
                                body);
}
