#include "inputs/images/views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "inputs/images/picture.h"

namespace profline::images {

using settings::deepseek_ocr::Preprocess;
using settings::deepseek_ocr::Resize;

namespace {

/// Up to this side the release squashes a page into its view.
constexpr std::uint32_t kLargestSquashed = 640;
constexpr std::uint32_t kFewestTiles = 2;

bool squashes(const Preprocess& settings) {
  switch (settings.resize) {
    case Resize::Squash:
      return true;
    case Resize::Letterbox:
      return false;
    case Resize::Auto:
      break;
  }
  return !settings.crop_mode && settings.image_size <= kLargestSquashed;
}

/// Python's round(): halves to the even neighbour. At least one pixel of a very long image remains,
/// where Pillow would fail.
std::uint32_t rounded_length(double length) {
  return std::max(1U, static_cast<std::uint32_t>(std::nearbyint(length)));
}

std::uint32_t centred(std::uint32_t room, std::uint32_t length) {
  return static_cast<std::uint32_t>(std::nearbyint((room - length) * 0.5));
}

/// Where Pillow's ImageOps.pad() places the image in a square.
Area letterboxed(Size picture, std::uint32_t side) {
  const double width = picture.width;
  const double height = picture.height;
  Area area{.x = 0, .y = 0, .width = side, .height = side};
  if (picture.width > picture.height) {
    area.height = rounded_length(height / width * side);
    area.y = centred(side, area.height);
  } else if (picture.width < picture.height) {
    area.width = rounded_length(width / height * side);
    area.x = centred(side, area.width);
  }
  return area;
}

std::uint32_t global_side(const Preprocess& settings) {
  return settings.crop_mode ? settings.base_size : settings.image_size;
}

Picture global_view(const Picture& picture, const ViewPlan& plan) {
  const Area& area = plan.placement;
  Picture resized = resize_bicubic(picture, {area.width, area.height});
  if (area.width == plan.global_side && area.height == plan.global_side) return resized;
  Picture view(Size{plan.global_side, plan.global_side},
               {kLetterboxGrey, kLetterboxGrey, kLetterboxGrey});
  paste(view, resized, area.x, area.y);
  return view;
}

std::vector<Picture> cut_tiles(const Picture& picture, const ViewPlan& plan) {
  std::vector<Picture> tiles;
  if (!plan.grid.is_tiled()) return tiles;
  const std::uint32_t side = plan.tile_side;
  const Picture resized =
      resize_bicubic(picture, {side * plan.grid.columns, side * plan.grid.rows});
  tiles.reserve(plan.grid.tiles());
  for (std::uint32_t row = 0; row < plan.grid.rows; ++row) {
    for (std::uint32_t column = 0; column < plan.grid.columns; ++column) {
      tiles.push_back(
          crop(resized, {.x = column * side, .y = row * side, .width = side, .height = side}));
    }
  }
  return tiles;
}

}  // namespace

Grid choose_grid(Size picture, const Preprocess& settings) {
  const bool is_small =
      picture.width <= settings.crop_threshold && picture.height <= settings.crop_threshold;
  if (!settings.crop_mode || is_small) return {};
  const double ratio = static_cast<double>(picture.width) / picture.height;
  const double pixels = static_cast<double>(picture.width) * picture.height;
  const double tile_pixels = static_cast<double>(settings.image_size) * settings.image_size;
  // Of grids equally near, the largest whose tiles the image fills by more than half; the smallest
  // if it fills no grid that far.
  const auto is_better = [&](const Grid& grid, const Grid& than) {
    const auto is_filled = [&](const Grid& each) {
      return pixels > 0.5 * tile_pixels * each.tiles();
    };
    if (is_filled(grid) != is_filled(than)) return is_filled(grid);
    const auto place = std::pair(grid.tiles(), grid.columns);
    const auto other = std::pair(than.tiles(), than.columns);
    return is_filled(grid) ? place > other : place < other;
  };
  Grid best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t columns = 1; columns <= settings.max_tiles; ++columns) {
    for (std::uint32_t rows = 1; rows <= settings.max_tiles / columns; ++rows) {
      const Grid grid{.columns = columns, .rows = rows};
      if (grid.tiles() < kFewestTiles) continue;
      const double distance = std::abs(ratio - static_cast<double>(columns) / rows);
      if (distance < least || (distance == least && is_better(grid, best))) {
        least = distance;
        best = grid;
      }
    }
  }
  return best;
}

std::uint32_t tokens_on_side(std::uint32_t view_side, const Preprocess& settings) {
  const std::uint32_t patches = view_side / settings.patch_size;
  return (patches + settings.downsample_ratio - 1) / settings.downsample_ratio;
}

std::size_t slot_count(const Grid& grid, const Preprocess& settings) {
  const std::size_t global = tokens_on_side(global_side(settings), settings);
  const std::size_t slots = global * (global + 1) + 1;
  if (!grid.is_tiled()) return slots;
  const std::size_t tile = tokens_on_side(settings.image_size, settings);
  return slots + grid.rows * tile * (grid.columns * tile + 1);
}

ViewPlan plan_views(Size picture, const Preprocess& settings) {
  PL_ASSERT(picture.width > 0 && picture.height > 0, "a picture has pixels");
  const std::uint32_t side = global_side(settings);
  const Grid grid = choose_grid(picture, settings);
  return {.global_side = side,
          .placement = squashes(settings) ? Area{.x = 0, .y = 0, .width = side, .height = side}
                                          : letterboxed(picture, side),
          .grid = grid,
          .tile_side = settings.image_size,
          .slots = slot_count(grid, settings)};
}

Views make_views(const Picture& picture, const Preprocess& settings) {
  const ViewPlan plan = plan_views(picture.size(), settings);
  return {.plan = plan, .global = global_view(picture, plan), .tiles = cut_tiles(picture, plan)};
}

void normalise(const Picture& view, std::span<float> planes) {
  PL_ASSERT(planes.size() == view.rgb.size(), "three planes of the view's size");
  // Three operations in float32, each rounded, like torchvision's ToTensor and Normalize.
  static constexpr auto kValues = [] {
    std::array<float, 256> values{};
    for (std::size_t v = 0; v < values.size(); ++v) {
      values[v] = (static_cast<float>(v) / 255.0F - 0.5F) / 0.5F;
    }
    return values;
  }();
  const std::size_t pixels = view.rgb.size() / Picture::kChannels;
  const std::uint8_t* from = view.rgb.data();
  float* const red = planes.data();
  float* const green = red + pixels;
  float* const blue = green + pixels;
  for (std::size_t i = 0; i < pixels; ++i, from += Picture::kChannels) {
    red[i] = kValues[from[0]];
    green[i] = kValues[from[1]];
    blue[i] = kValues[from[2]];
  }
}

}  // namespace profline::images
