#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "schema/field.h"

/// The largest counts that the config takes: far above what anybody measures, and small enough that
/// no value makes planning or reading slow or large. docs/configuration.md has them key by key.
namespace profline::settings {

constexpr std::uint32_t kMostPixelsASide = 16'384;     ///< of what a model is given
constexpr std::uint32_t kMostPictureSide = 1'000'000;  ///< in pixels, of a file
constexpr std::uint32_t kMostTiles = 1'000;
constexpr std::uint32_t kMostTokens = 1'048'576;
constexpr std::uint32_t kMostImages = 1'000'000;  ///< requests of one run, too
constexpr std::uint32_t kMostPages = 100'000;     ///< drawn by the program
constexpr std::uint32_t kMostRounds = 10'000;     ///< epochs, warm-ups
constexpr std::uint32_t kMostLaunches = 1'000'000'000;
constexpr std::uint32_t kMostCaptures = 1'000'000;  ///< of one range
constexpr std::uint32_t kMostThreads = 4'096;
constexpr std::uint32_t kMostInABatch = 65'536;

/// Whether a stage runs. Auto: if its preflight passes, else it is skipped and that is told.
enum class Enable { Yes, No, Auto };
constexpr auto names(std::type_identity<Enable>) {
  return std::array{named(Enable::Yes, true), named(Enable::No, false),
                    named(Enable::Auto, "auto")};
}

/// What every stage has.
struct Stage {
  Enable enable = Enable::No;
  std::optional<std::chrono::milliseconds> timeout;

  bool operator==(const Stage&) const = default;
};

/// The lines of these two in a stage's field list.
constexpr auto enable_field() {
  return field("enable", &Stage::enable, "run this stage; auto: if its preflight passes");
}
constexpr auto timeout_field() {
  return field("timeout", &Stage::timeout,
               "end the stage after this long and keep what was captured; null: never")
      .above(0);
}

/// How many requests a stage that profiles the workload gives it.
template <typename T>
constexpr auto samples_field(std::optional<std::uint32_t> T::*member) {
  return field("samples", member,
               "the first N requests of the baseline; null: all of them where "
               "dataset.sampling.num_samples_per_epoch bounds their number, otherwise the first")
      .range(1, kMostImages);
}

struct PredictionOutput {
  bool enable = false;
  std::optional<std::filesystem::path> save_dir = "pred";

  bool operator==(const PredictionOutput&) const = default;
};
constexpr auto fields(std::type_identity<PredictionOutput>) {
  return field_list(field("enable", &PredictionOutput::enable, "write predictions.jsonl"),
                    field("save_dir", &PredictionOutput::save_dir,
                          "folder, relative to the stage's; null: pred"));
}

struct VisualizationOutput {
  bool enable = true;
  std::optional<std::filesystem::path> save_dir = "viz";

  bool operator==(const VisualizationOutput&) const = default;
};
constexpr auto fields(std::type_identity<VisualizationOutput>) {
  return field_list(
      field("enable", &VisualizationOutput::enable, "write pictures with the boxes drawn in"),
      field("save_dir", &VisualizationOutput::save_dir,
            "folder, relative to the stage's; null: viz"));
}

struct DeepseekPrediction {
  bool strip_special_tokens = false;

  bool operator==(const DeepseekPrediction&) const = default;
};
constexpr auto fields(std::type_identity<DeepseekPrediction>) {
  return field_list(field("strip_special_tokens", &DeepseekPrediction::strip_special_tokens,
                          "leave special tokens out of the texts; boxes need them"));
}

struct DeepseekVisualization {
  std::uint32_t max_images = 16;
  std::uint32_t thumbnail_width = 480;

  bool operator==(const DeepseekVisualization&) const = default;
};
constexpr auto fields(std::type_identity<DeepseekVisualization>) {
  return field_list(
      field("max_images", &DeepseekVisualization::max_images, "pictures are of the first so many")
          .range(0, kMostImages),
      field("thumbnail_width", &DeepseekVisualization::thumbnail_width, "of the small pictures")
          .unit("px")
          .range(1, kMostPixelsASide));
}

struct DeepseekOutput {
  DeepseekPrediction prediction;
  DeepseekVisualization visualization;

  bool operator==(const DeepseekOutput&) const = default;
};
constexpr auto fields(std::type_identity<DeepseekOutput>) {
  return field_list(
      field("prediction", &DeepseekOutput::prediction, "more about the texts"),
      field("visualization", &DeepseekOutput::visualization, "more about the pictures"));
}

struct ExtraOutput {
  DeepseekOutput deepseek_ocr;

  bool operator==(const ExtraOutput&) const = default;
};
constexpr auto fields(std::type_identity<ExtraOutput>) {
  return field_list(field("deepseek_ocr", &ExtraOutput::deepseek_ocr, "of DeepSeek-OCR"));
}

/// What a stage writes of the model's answers, for people to look at.
struct Output {
  PredictionOutput prediction;
  VisualizationOutput visualization;
  ExtraOutput extra;

  bool operator==(const Output&) const = default;

  /// Relative ones lie in the stage's folder.
  std::filesystem::path prediction_dir() const { return prediction.save_dir.value_or("pred"); }
  std::filesystem::path visualization_dir() const { return visualization.save_dir.value_or("viz"); }
};
constexpr auto fields(std::type_identity<Output>) {
  return field_list(field("prediction", &Output::prediction, "the model's texts"),
                    field("visualization", &Output::visualization, "pictures of what it found"),
                    field("extra", &Output::extra, "what only one model has"));
}

}  // namespace profline::settings
