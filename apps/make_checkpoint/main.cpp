#include <unistd.h>

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "cli_program.h"
#include "inputs/tokenizer/tokenizer.h"
#include "inputs/weights/checkpoint.h"
#include "records/deepseek_ocr_config.h"

namespace profline {
namespace {

struct Arguments {
  std::string variant = "tiny";
  std::string dtype = "bf16";
  std::filesystem::path folder;
};

Result<void> make_checkpoint(const Arguments& arguments, Progress& progress) {
  const bool tiny = arguments.variant == "tiny";
  Step step(progress, arguments.variant);
  PL_TRY(weights::write_checkpoint(
      arguments.folder, tiny ? tiny_config() : official_config(),
      arguments.dtype == "f32" ? weights::Dtype::F32 : weights::Dtype::BF16, progress));
  // Also for the full model: we cannot generate the release's own tokenizer, and its ids are
  // larger.
  PL_TRY(write_file_atomic(arguments.folder / "tokenizer.json", tokenizer::tiny_tokenizer_json()));
  PL_TRY(write_file_atomic(arguments.folder / "tokenizer_config.json",
                           tokenizer::tiny_tokenizer_config_json()));
  step.end(StepOutcome::Ok);
  return {};
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--variant", arguments.variant,
                 "tiny (half a million parameters) or full (the release's shapes)")
      ->check(CLI::IsMember({"tiny", "full"}))
      ->capture_default_str();
  app.add_option("--dtype", arguments.dtype, "of the tensors; both hold the same numbers")
      ->check(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  app.add_option("OUT", arguments.folder, "folder to write, made where it is missing")->required();
}

Result<ExitCode> body(const CLI::App& /*app*/, const Arguments& arguments) {
  const SystemClock clock;
  const auto progress = make_progress({}, STDERR_FILENO, clock);
  PL_TRY(make_checkpoint(arguments, *progress));
  fmt::print("{}\n", arguments.folder.string());
  return ExitCode::Done;
}

}  // namespace
}  // namespace profline

int main(int argc, char** argv) {
  using namespace profline;
  return run_program<Arguments>(
      {"profline-make-checkpoint",
       "Writes a DeepSeek-OCR checkpoint of values computed from the tensors' names: config.json, "
       "safetensors with index, and the tiny tokenizer. Nothing in it is trained."},
      argc, argv, add_options, body);
}
