#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/tokenizer/prompt.h"
#include "inputs/tokenizer/tokenizer.h"
#include "inputs/weights/checkpoint.h"
#include "records/deepseek_ocr_config.h"
#include "workload/model/weight_source.h"
#include "workload/session/run_request.h"

/// What DeepSeek-OCR is made from: files of a checkpoint, or nothing but a seed.
namespace profline::workload {

struct DeepseekFiles {
  DeepseekOcrConfig config;
  tokenizer::Tokenizer tokenizer;
  std::unique_ptr<weights::Checkpoint> checkpoint;  ///< what `weights` reads; null without files
  std::unique_ptr<WeightSource> weights;
  std::vector<std::string> notes{};
};

/// An Error of kind NotFound, when there is no folder of weights, names the presets that need none.
Result<DeepseekFiles> open_deepseek_files(const RunRequest& request, at::Device device);
Result<DeepseekOcrConfig> deepseek_config(const RunRequest& request);
/// The checkpoint's; without files that of the tiny model, whose ids every variant has.
Result<tokenizer::Tokenizer> deepseek_tokenizer(const RunRequest& request);

/// The prompt with its slots; without any the marker of the picture is left out.
Result<tokenizer::Prompt> assemble(const tokenizer::Tokenizer& tokenizer, std::string prompt,
                                   std::int64_t slots, tokenizer::TokenId bos);

}  // namespace profline::workload
