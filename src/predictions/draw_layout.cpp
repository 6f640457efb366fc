#include "predictions/draw_layout.h"

#include <algorithm>
#include <iterator>

#include "base/terminal_text.h"
#include "inputs/images/draw.h"

namespace profline::predictions {
namespace {

using images::Colour;
using images::Picture;
using images::Rectangle;

constexpr std::uint8_t kTint = 32;  // of 255
constexpr Colour kWhite{255, 255, 255};

/// Easy to tell apart, each dark enough for white letters on it.
constexpr Colour kPalette[] = {
    {200, 30, 30}, {190, 20, 100}, {160, 30, 160}, {110, 50, 190}, {70, 60, 200},
    {20, 90, 210}, {120, 20, 30},  {0, 115, 115},  {20, 120, 50},  {85, 110, 0},
    {120, 100, 0}, {140, 80, 20},  {180, 75, 0},   {0, 105, 160},  {20, 40, 110},
    {10, 70, 40},  {80, 90, 105},  {95, 20, 80},   {0, 65, 75},    {95, 75, 60},
};

/// FNV-1a from a start that gives the model's usual labels colours of their own.
std::uint64_t hash_of(std::string_view label) {
  constexpr std::uint64_t kStart = 0xcbf29ce484222325U ^ 1345U;
  std::uint64_t hash = kStart;
  for (const char c : label) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash >> 32U;  // the upper half is mixed better
}

Rectangle rectangle(const images::Area& area) {
  return {area.x, area.y, area.width, area.height};
}

/// 1 up to pictures of 1200 pixels, then growing with them.
std::uint32_t pen_scale(images::Size size) {
  return std::max(1U, (std::min(size.width, size.height) + 300) / 800);
}

/// A tag with the label, above the box where there is room, else inside its top.
void draw_tag(Picture& picture, const PlacedBox& box, Colour colour, std::uint32_t scale) {
  const std::string text = fit_width(printable(box.label), 40, "...");
  const std::int64_t pad = 2 * std::int64_t{scale};
  const std::int64_t width = images::text_width(text, scale) + 2 * pad;
  const std::int64_t height = std::int64_t{images::kGlyphHeight} * scale + pad;
  const std::int64_t room = std::max<std::int64_t>(picture.width - width, 0);
  const std::int64_t x = std::min<std::int64_t>(box.area.x, room);
  const std::int64_t y = std::max<std::int64_t>(box.area.y - height, 0);
  images::fill(picture, {x, y, width, height}, colour);
  images::draw_text(picture, x + pad, y + pad, text, {.colour = kWhite, .scale = scale});
}

}  // namespace

Colour label_colour(std::string_view label) {
  return kPalette[hash_of(label) % std::size(kPalette)];
}

Picture draw_layout(const Picture& picture, const Layout& layout) {
  Picture drawn = picture;
  const std::uint32_t scale = pen_scale(picture.size());
  for (const PlacedBox& box : layout.boxes) {
    images::fill(drawn, rectangle(box.area), label_colour(box.label), kTint);
  }
  for (const PlacedBox& box : layout.boxes) {
    const std::int64_t thickness = std::int64_t{box.label == "title" ? 4 : 2} * scale;
    images::outline(drawn, rectangle(box.area), label_colour(box.label), thickness);
  }
  // Last, so that no box hides a label.
  for (const PlacedBox& box : layout.boxes) {
    draw_tag(drawn, box, label_colour(box.label), scale);
  }
  return drawn;
}

}  // namespace profline::predictions
