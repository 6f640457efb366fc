#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/images/picture.h"
#include "predictions/spans.h"

namespace profline::predictions {

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

}  // namespace profline::predictions
