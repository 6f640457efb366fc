#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/strings.h"
#include "inputs/images/views.h"

namespace profline::images {

using settings::deepseek_ocr::Preprocess;
using settings::deepseek_ocr::Resize;

namespace {

constexpr Preprocess whole(std::uint32_t side, Resize resize = Resize::Auto) {
  return {.base_size = side,
          .image_size = side,
          .crop_mode = false,
          .crop_threshold = side,
          .resize = resize};
}

constexpr Preprocess tiled(std::uint32_t base, std::uint32_t tile) {
  return {.base_size = base, .image_size = tile, .crop_mode = true, .crop_threshold = tile};
}

constexpr Mode kModes[] = {
    {"tiny", whole(512)},
    {"small", whole(640)},
    {"base", whole(1024)},
    {"large", whole(1280)},
    {"gundam", tiled(1024, 640)},
    {"gundam-m", tiled(1280, 1024)},
    // Of the tiny model.
    {"tiny-base", whole(256, Resize::Letterbox)},
    {"tiny-gundam", tiled(256, 128)},
    {"tiny-large", whole(320, Resize::Letterbox)},
    {"tiny-odd", tiled(256, 160)},
    {"tiny-small", whole(128, Resize::Squash)},
};

}  // namespace

std::span<const Mode> all_modes() {
  return kModes;
}

Result<Preprocess> mode(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::vector<std::string> names;
  for (const Mode& each : kModes) {
    if (each.name == lower) return each.settings;
    names.emplace_back(each.name);
  }
  const std::string close = did_you_mean(lower, names);
  return Error(ErrorKind::Config,
               "unknown mode '" + std::string(name) + "'" +
                   (close.empty() ? "; the modes are " + join(names, ", ") : close));
}

}  // namespace profline::images
