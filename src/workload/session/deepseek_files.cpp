#include "workload/session/deepseek_files.h"

#include "inputs/tokenizer/tiny_tokenizer.h"
#include "inputs/weights/tensor_specs.h"

namespace profline::workload {
namespace {

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

}  // namespace

Result<DeepseekOcrConfig> deepseek_config(const RunRequest& request) {
  const Model& model = model_of(request);
  if (model.init == Init::Random) {
    return model.variant == Variant::Tiny ? tiny_config() : official_config();
  }
  return load_deepseek_ocr_config(PL_TRY(weights_folder(request)) / "config.json");
}

Result<tokenizer::Tokenizer> deepseek_tokenizer(const RunRequest& request) {
  if (model_of(request).init == Init::Random) {
    return tokenizer::Tokenizer::parse(tokenizer::tiny_tokenizer_json(), "<tiny tokenizer>");
  }
  return tokenizer::Tokenizer::load(PL_TRY(weights_folder(request)) / "tokenizer.json");
}

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
        "model: random weights; texts mean nothing and are spelled by the tiny tokenizer");
    return files;
  }
  weights::Model loaded = PL_TRY(weights::open_model(PL_TRY(weights_folder(request))));
  for (const std::string& name : loaded.unused) {
    files.notes.push_back("model.path: tensor '" + name + "' has no place in the model");
  }
  files.config = std::move(loaded.config);
  files.checkpoint = std::make_unique<weights::Checkpoint>(std::move(loaded.checkpoint));
  files.weights = std::make_unique<CheckpointWeights>(*files.checkpoint);
  return files;
}

Result<tokenizer::Prompt> assemble(const tokenizer::Tokenizer& tokenizer, std::string prompt,
                                   std::int64_t slots, tokenizer::TokenId bos) {
  if (slots == 0) {
    const std::size_t marker = prompt.find(tokenizer::kImageMarker);
    if (marker != std::string::npos) prompt.erase(marker, tokenizer::kImageMarker.size());
  }
  return tokenizer::assemble_prompt(tokenizer, prompt, slots, bos);
}

}  // namespace profline::workload
