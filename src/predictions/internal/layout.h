#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inputs/images/picture.h"

/// What the model found and where, parsed from its text.
namespace profline::predictions {

/// Corners in thousandths of the image (0 to 999), as the model writes them.
struct Box {
  double x1 = 0;
  double y1 = 0;
  double x2 = 0;
  double y2 = 0;

  bool operator==(const Box&) const = default;
};

/// `<|ref|>label<|/ref|><|det|>[[x1, y1, x2, y2], …]<|/det|>`, text[begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string label;
  std::vector<Box> boxes;  ///< empty if there is a `problem`
  std::string problem;     ///< why the boxes cannot be read; usually empty

  bool operator==(const Span&) const = default;
};

/// All spans, left to right, each as short as possible; they may span several lines. Incomplete
/// spans are text. Takes time linear in the text.
std::vector<Span> parse_spans(std::string_view text);

/// A list of lists of four decimal numbers, each from 0 to 999; spaces may be in between. Nothing
/// else is accepted, because the text comes from a model. Errors give the byte (from 1) in `text`.
Result<std::vector<Box>> parse_boxes(std::string_view text);

/// A box of a span on an image.
struct PlacedBox {
  std::string label;
  images::Area area;  ///< in pixels, at least one by one
  /// For a box labelled `image`: the number of its crop, `images/<n>.jpg`.
  std::optional<std::uint32_t> image;

  bool operator==(const PlacedBox&) const = default;
};

/// What was found, in pixels, and what cannot be shown.
struct Layout {
  std::vector<PlacedBox> boxes;
  std::vector<std::string> skipped;  ///< `span 3 'title': box 1 is empty`
  std::string markdown;              ///< the content of result.mmd
};

/// The layout of a text on an image of this size.
///
/// Coordinates are truncated, not rounded, to pixels: trunc(x / 999 * width). Boxes without area
/// are skipped. Images are numbered from 0 by box, so that the n-th box labelled `image` is
/// images/n.jpg everywhere; a skipped box keeps its number.
///
/// The Markdown is the text with each `image` span replaced by one link per box that has a crop,
/// each on its own line, and all other spans removed; if there were others, `\coloneqq` becomes
/// `:=` and `\eqqcolon` becomes `=:`.
Layout lay_out(std::string_view text, images::Size picture);

/// The colour of a label: the same in every image and run, dark enough for white letters on it
/// (contrast of at least 4.5) and for thin lines on paper.
images::Colour label_colour(std::string_view label);

/// A copy of the image with each box outlined (titles twice as thick), tinted and labelled. Lines
/// and letters scale with the image.
images::Picture draw_layout(const images::Picture& picture, const Layout& layout);

}  // namespace profline::predictions
