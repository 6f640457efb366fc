#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "inputs/images/picture.h"

namespace profline::dataset::internal {

/// SplitMix64: the same numbers for the same seed with every machine and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  /// One of 0 to `bound` - 1, all equally likely: draws again where some would be favoured.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound
    while (true) {
      const std::uint64_t drawn = next();
      if (drawn >= uneven) return drawn % bound;
    }
  }

  /// One of `least` to `most`.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }

  template <typename T, std::size_t size>
  const T& pick(const T (&items)[size]) {
    return items[below(size)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace profline::dataset::internal

/// Readable English for generated pages: grammatical, about nothing in particular, ASCII.
namespace profline::dataset::internal {

/// `Measuring the Shared Cache`, without a full stop.
std::string title(Random& random);
/// Two or three words: the name of a row of a table or of a bar.
std::string term(Random& random);
std::string sentence(Random& random);
std::string paragraph(Random& random, std::size_t sentences);
/// `12.4`, `0.87`, `1,204`.
std::string figure_number(Random& random);
std::string author(Random& random);

/// The parts of a generated page. Each block is drawn at the column's `y` and moves it below
/// itself; a block without enough room draws nothing, returns false and leaves `y` unchanged.

struct Column {
  std::int64_t x = 0;
  std::int64_t width = 0;
  std::int64_t y = 0;
  std::int64_t bottom = 0;

  std::int64_t room() const { return bottom - y; }
};

class Canvas {
 public:
  Canvas(images::Picture& picture, std::uint32_t scale) : picture_(picture), scale_(scale) {}

  /// Pixels on this page per pixel of a page with the smallest letters.
  std::int64_t units(std::int64_t count) const { return count * scale_; }

  bool heading(Column& column, std::string_view text, std::uint32_t size);
  /// One short line, in grey.
  bool note(Column& column, std::string_view text);
  bool rule(Column& column);
  /// Justified, with its first line indented; cut after the last line that fits. False if no line
  /// does.
  bool paragraph(Column& column, std::string_view text);
  bool bullet(Column& column, std::string_view text);
  bool table(Column& column, Random& random, std::uint32_t number);
  bool bar_chart(Column& column, Random& random, std::uint32_t number);
  bool curve(Column& column, Random& random, std::uint32_t number);
  void page_number(std::uint32_t number, std::int64_t y);

 private:
  bool lines(Column& column, std::string_view text, std::int64_t indent, bool is_justified);
  void line(std::int64_t x, std::int64_t y, std::string_view words, std::int64_t spare);
  bool caption(Column& column, std::string_view kind, std::uint32_t number, Random& random);
  void text(std::int64_t x, std::int64_t y, std::string_view text, images::Colour colour);
  images::Rectangle axes(Column& column, std::int64_t height);

  images::Picture& picture_;
  std::uint32_t scale_;
};

}  // namespace profline::dataset::internal
