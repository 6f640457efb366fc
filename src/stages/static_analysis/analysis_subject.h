#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/static_model/decoder.h"
#include "analysis/static_model/deepseek_ocr.h"
#include "analysis/static_model/static_compute.h"
#include "base/result.h"
#include "settings/root.h"

namespace profline::stages {

/// What static analysis is about, from the command line or from the configuration.
struct AnalysisSubject {
  std::variant<DeepseekOcrConfig, static_model::Decoder> model;
  std::string config_from;  ///< the config.json, or what stands for one
  std::string dtype;        ///< of the checkpoint or the configuration; may be empty
  std::vector<static_model::ViewBatch> views;
  std::string shapes_from;
  static_model::Request request;
  std::vector<std::string> notes;
};

/// Reads a config.json: a DeepSeek-OCR, or a decoder that static_model::read_decoder knows.
Result<std::variant<DeepseekOcrConfig, static_model::Decoder>> load_model_config(
    const std::filesystem::path& path);

/// The model, pictures and request of a composed configuration: config.json below model.path, or
/// the shapes of init=random; views from model.preprocess (a square page of base_size) or, with
/// use_synthetic_inputs=false, from the first picture of the dataset. Relative paths start at
/// `cwd`.
Result<AnalysisSubject> subject_of(const settings::Root& settings,
                                   const std::filesystem::path& cwd);

static_model::ModelCost cost_of(const AnalysisSubject& subject,
                                const static_model::NumberFormat& format,
                                const static_model::Request& request);

/// Tokens of a prompt's text, the beginning included and `<image>` not: counted for the prompts of
/// the model's documentation with its own or the tiny tokenizer, else estimated and told in
/// `notes`.
std::uint64_t prompt_text_tokens(std::string_view prompt, bool is_tiny,
                                 std::vector<std::string>& notes);

/// What the workload traced of the module graph (static_trace.json), beside closed forms for the
/// very shapes it traced.
Result<std::vector<static_model::TracedPhase>> compare_with_trace(
    const AnalysisSubject& subject, const std::filesystem::path& static_trace);

}  // namespace profline::stages
