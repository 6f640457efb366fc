#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

}  // namespace profline::predictions
