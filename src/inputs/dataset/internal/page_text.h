#pragma once

#include <cstddef>
#include <string>

#include "inputs/dataset/internal/random.h"

/// Readable English for drawn pages: grammatical, about nothing in particular, ASCII.
namespace profline::dataset::internal {

/// `Measuring the Shared Cache`, without a full stop.
std::string title(Random& random);
/// Two or three words: what a row of a table or a bar is called.
std::string term(Random& random);
std::string sentence(Random& random);
std::string paragraph(Random& random, std::size_t sentences);
/// `12.4`, `0.87`, `1,204`.
std::string figure_number(Random& random);
std::string author(Random& random);

}  // namespace profline::dataset::internal
