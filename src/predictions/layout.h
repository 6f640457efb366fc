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

/// What the model found where, read from its text.
namespace profline::predictions {

/// Corners in thousandths of the picture (0 to 999), as the model writes them.
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
  std::vector<Box> boxes;  ///< empty when `problem` is not
  std::string problem;     ///< why the boxes cannot be read; empty: they can

  bool operator==(const Span&) const = default;
};

/// All spans, left to right, each as short as possible; they may reach over lines. What is no
/// complete span is text. Takes time linear in the text.
std::vector<Span> parse_spans(std::string_view text);

/// A list of lists of four decimal numbers, each from 0 to 999; spaces may stand between. Nothing
/// else: the text comes from a model. Errors give the byte (from 1) in `text`.
Result<std::vector<Box>> parse_boxes(std::string_view text);

/// A box of a span on a picture.
struct PlacedBox {
  std::string label;
  images::Area area;  ///< in pixels, at least one by one
  /// Of a box labelled `image`: its number, which its crop `images/<n>.jpg` has.
  std::optional<std::uint32_t> image;

  bool operator==(const PlacedBox&) const = default;
};

/// What was found, in pixels, and what of it cannot be shown.
struct Layout {
  std::vector<PlacedBox> boxes;
  std::vector<std::string> skipped;  ///< `span 3 'title': box 1 is empty`
  std::string markdown;              ///< the content of result.mmd
};

/// The layout of a text on a picture of this size.
///
/// A coordinate is cut, not rounded, to pixels: trunc(x / 999 * width). Boxes without area are
/// skipped. Images are numbered from 0 by box, so that the n-th box labelled `image` is
/// images/n.jpg everywhere; a skipped box keeps its number.
///
/// The Markdown is the text with each `image` span replaced by one link a box that has a crop, each
/// on its own line, and all other spans taken out; where there were others, `\coloneqq` becomes
/// `:=` and `\eqqcolon` becomes `=:`.
Layout lay_out(std::string_view text, images::Size picture);

/// The colour of a label: the same in every picture and run, dark enough for white letters on it
/// (contrast 4.5 and more) and for thin lines on paper.
images::Colour label_colour(std::string_view label);

/// A copy of the picture with each box outlined (titles twice as thick), tinted and labelled.
/// Lines and letters grow with the picture.
images::Picture draw_layout(const images::Picture& picture, const Layout& layout);

}  // namespace profline::predictions
