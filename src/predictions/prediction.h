#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inputs/images/picture.h"
#include "settings/stage.h"

/// The model's answer for an image, as in predictions.jsonl (docs/formats/predictions.md).
namespace profline::predictions {

struct Prediction {
  std::string image;  ///< its name in the dataset
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
  std::string text_raw;    ///< everything generated, including special tokens
  std::string text_clean;  ///< see clean_text()
  std::uint64_t prompt_tokens = 0;
  std::uint64_t tokens = 0;  ///< generated, including the first one
  std::string finish;        ///< why generation ended: `eos`, `length`
  double prefill_ms = 0;
  double decode_ms = 0;
  double vision_ms = 0;
  std::optional<std::string>
      pictures;  ///< folder of its pictures, relative to that of all pictures
};

/// Without one trailing end-of-sentence marker and without blanks at either end, then without each
/// of `special_tokens` (those of the tokenizer, if strip_special_tokens is set).
std::string clean_text(std::string_view raw, std::span<const std::string> special_tokens = {});

/// One line of predictions.jsonl, including its line feed. Fails on times that are not finite.
Result<std::string> prediction_line(const Prediction& prediction);

/// Writes the whole file, atomically.
Result<void> write_predictions(const std::filesystem::path& path,
                               std::span<const Prediction> predictions);

/// The folder name for an image's pictures: the first 16 digits of the SHA-256 of its name, with
/// `-e<epoch>` from the second epoch on. Image names may contain anything; these are safe as
/// folders, and the same on every machine.
std::string picture_folder(std::string_view image, std::uint32_t epoch);

/// Writes the results for one image into `folder`, which is created: result_with_boxes.jpg,
/// thumbnail.jpg, result.mmd, images/<n>.jpg (from the clean image) and, last, info.json.
Result<void> write_visualisation(const std::filesystem::path& folder, const Prediction& prediction,
                                 const images::Picture& picture, std::uint32_t thumbnail_width);

/// The pictures of a run: those of its first `max_images` images.
class Visualisations {
 public:
  Visualisations(std::filesystem::path root, const settings::DeepseekVisualization& settings)
      : root_(std::move(root)), settings_(settings) {}

  /// Whether another image still gets pictures; if not, images need not be loaded for it.
  bool wants_more() const { return written_ < settings_.max_images; }

  /// Writes the pictures of one image unless there are max_images already; returns its folder below
  /// the root.
  Result<std::optional<std::string>> add(const Prediction& prediction,
                                         const images::Picture& picture);

 private:
  std::filesystem::path root_;
  settings::DeepseekVisualization settings_;
  std::uint32_t written_ = 0;
};

}  // namespace profline::predictions
