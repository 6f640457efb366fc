#pragma once

#include <string_view>

#include "inputs/images/picture.h"
#include "predictions/layout.h"

namespace profline::predictions {

/// The colour of a label: the same in every picture and run, dark enough for white letters on it
/// (contrast 4.5 and more) and for thin lines on paper.
images::Colour label_colour(std::string_view label);

/// A copy of the picture with each box outlined (titles twice as thick), tinted and labelled.
/// Lines and letters grow with the picture.
images::Picture draw_layout(const images::Picture& picture, const Layout& layout);

}  // namespace profline::predictions
