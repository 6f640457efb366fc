#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "schema/field.h"
#include "settings/limits.h"

namespace profline::settings {

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
  std::filesystem::path prediction_dir() const;
  std::filesystem::path visualization_dir() const;
};
constexpr auto fields(std::type_identity<Output>) {
  return field_list(field("prediction", &Output::prediction, "the model's texts"),
                    field("visualization", &Output::visualization, "pictures of what it found"),
                    field("extra", &Output::extra, "what only one model has"));
}

}  // namespace profline::settings
