#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/static_model/decoder.h"
#include "analysis/static_model/deepseek_ocr.h"
#include "analysis/static_model/program_model.h"
#include "analysis/static_model/static_compute.h"
#include "base/result.h"
#include "run/run.h"
#include "settings/root.h"

namespace profline::stages {

/// The input of static analysis, from the command line or from the configuration.
struct AnalysisSubject {
  std::variant<DeepseekOcrConfig, static_model::Decoder> model;
  std::string config_from;  ///< the config.json, or what replaces it
  std::string dtype;        ///< of the checkpoint or the configuration; may be empty
  std::optional<static_model::NumberFormat> format{};  ///< as recorded; absent: that of `dtype`
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

/// The request for which a config.json alone is analysed.
struct RequestShape {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  /// Only for models that see pictures; an Error for others. Nothing: one view of the size in the
  /// config.
  std::optional<std::vector<static_model::ViewBatch>> views;
};
Result<AnalysisSubject> subject_of_file(const std::filesystem::path& config_json,
                                        const RequestShape& shape);

/// The number format of `dtype` or, if that is empty, the subject's own with its quantised weights.
/// Notes what is assumed. Nothing if there are no figures for the dtype.
std::optional<static_model::NumberFormat> format_of(AnalysisSubject& subject,
                                                    const std::string& dtype);

/// The subject's costs in a number format, with the floors that the ceilings of a device imply.
static_model::StaticCompute static_compute_of(AnalysisSubject subject,
                                              const static_model::NumberFormat& format,
                                              const settings::Ceilings& ceilings,
                                              const std::string& device);

static_model::ModelCost cost_of(const AnalysisSubject& subject,
                                const static_model::NumberFormat& format,
                                const static_model::Request& request);

/// The tokens of a prompt's text, including the beginning-of-sequence token and without `<image>`:
/// exact for the prompts of the model's documentation with its own or the tiny tokenizer, else
/// estimated, with a line in `notes`.
std::uint64_t prompt_text_tokens(std::string_view prompt, bool is_tiny,
                                 std::vector<std::string>& notes);

/// The costs that the workload traced in the module graph (static_trace.json), next to closed forms
/// for exactly the traced shapes.
Result<std::vector<static_model::TracedPhase>> compare_with_trace(
    const AnalysisSubject& subject, const run::Artifact<Node>& static_trace);

/// The model of a user's program, with the shapes that most of its requests had.
struct ProgramSubject {
  AnalysisSubject subject;
  static_model::ProgramModel model;
};

/// From what the baseline recorded; `config` is the user's config.json, which replaces the recorded
/// one. An Error says why static analysis does not apply.
Result<ProgramSubject> program_subject(const run::Run& files,
                                       const std::optional<std::filesystem::path>& config);

}  // namespace profline::stages
