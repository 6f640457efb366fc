#pragma once

#include <cstdint>

#include "inputs/images/picture.h"

namespace profline::dataset {

/// A page drawn from numbers alone.
struct SyntheticPage {
  std::uint32_t number = 1;
  images::Size size;
  std::uint64_t seed = 0;

  bool operator==(const SyntheticPage&) const = default;
};

/// A document: a heading, paragraphs in one or two columns, a table, a figure with its caption, as
/// far as the size has room for them. The same bytes for the same numbers on every machine.
images::Picture draw_page(const SyntheticPage& page);

}  // namespace profline::dataset
