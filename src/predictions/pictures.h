#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inputs/images/picture.h"
#include "predictions/prediction.h"
#include "settings/output.h"

namespace profline::predictions {

/// What an image's pictures are kept under: the first 16 digits of the SHA-256 of its name, with
/// `-e<epoch>` from the second epoch on. Names hold anything; these are safe as folders, and the
/// same on every machine.
std::string picture_folder(std::string_view image, std::uint32_t epoch);

/// Writes what was found on one image into `folder`, which is made: result_with_boxes.jpg,
/// thumbnail.jpg, result.mmd, images/<n>.jpg (from the clean picture) and, last, info.json.
Result<void> write_visualisation(const std::filesystem::path& folder, const Prediction& prediction,
                                 const images::Picture& picture, std::uint32_t thumbnail_width);

/// The pictures of a run: those of its first `max_images` images.
class Visualisations {
 public:
  Visualisations(std::filesystem::path root, const settings::DeepseekVisualization& settings)
      : root_(std::move(root)), settings_(settings) {}

  /// Whether another image still gets pictures, so that others need not be loaded for it.
  bool wants_more() const { return written_ < settings_.max_images; }

  /// Writes the pictures of one image unless max_images have theirs; its folder below the root.
  Result<std::optional<std::string>> add(const Prediction& prediction,
                                         const images::Picture& picture);

 private:
  std::filesystem::path root_;
  settings::DeepseekVisualization settings_;
  std::uint32_t written_ = 0;
};

}  // namespace profline::predictions
