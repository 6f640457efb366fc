#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inputs/images/picture.h"
#include "settings/models.h"

/// From an image to the inputs of DeepSeek-OCR's vision towers: one view of the whole page and, in
/// crop mode, tiles of it (sections 3 and 9.2 of the model's description).
namespace profline::images {

/// The numbers of tiles in each direction; 1 by 1 means no tiles, only the view of the page.
struct Grid {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;

  std::uint32_t tiles() const { return columns * rows; }
  bool is_tiled() const { return tiles() > 1; }
  bool operator==(const Grid&) const = default;
};

/// The shapes for an image of some size; everything but the pixels.
struct ViewPlan {
  std::uint32_t global_side = 0;
  Area placement;  ///< where the image is in the page's view; the rest is grey
  Grid grid;
  std::uint32_t tile_side = 0;
  std::size_t slots = 0;  ///< positions in the prompt: rows the projector's output is fused into

  bool operator==(const ViewPlan&) const = default;
};

/// The grid for an image: the nearest aspect ratio among those of 2 to max_tiles tiles; among
/// equals the larger one if the image has more than half its pixels. Without crop_mode, or if
/// neither side exceeds crop_threshold: no tiles.
Grid choose_grid(Size picture, const settings::deepseek_ocr::Preprocess& settings);

/// The number of tokens along one side of a view of this side.
std::uint32_t tokens_on_side(std::uint32_t view_side,
                             const settings::deepseek_ocr::Preprocess& settings);

/// Slots of a page's view and a grid of tiles: each row of tokens ends with a newline token, and a
/// separator ends the whole.
std::size_t slot_count(const Grid& grid, const settings::deepseek_ocr::Preprocess& settings);

/// All of the above for an image that is not empty. Settings must have passed their validate().
ViewPlan plan_views(Size picture, const settings::deepseek_ocr::Preprocess& settings);

/// The views themselves, 8-bit.
struct Views {
  ViewPlan plan;
  Picture global;
  std::vector<Picture> tiles;  ///< row by row; empty when the grid is not tiled
};

/// The caller checks `settings.enable`: a run without preprocessing has no image.
Views make_views(const Picture& picture, const settings::deepseek_ocr::Preprocess& settings);

/// The grey around a letterboxed image, in each channel.
constexpr std::uint8_t kLetterboxGrey = 127;

/// A view as model input: red plane, green plane, blue plane, each value (v/255 - 0.5)/0.5 in
/// float32, from -1 to 1. `planes` has 3 * width * height elements.
void normalise(const Picture& view, std::span<float> planes);

}  // namespace profline::images
