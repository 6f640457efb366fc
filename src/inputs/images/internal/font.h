#pragma once

#include <array>
#include <cstddef>
#include <string_view>

/// Our own bitmap font: printable ASCII, drawn for this program.
namespace profline::images::internal {

constexpr std::size_t kGlyphColumns = 5;
constexpr std::size_t kGlyphRows = 9;
constexpr char32_t kFirstGlyph = U' ';
constexpr std::size_t kGlyphs = 96;  // the last one represents all other characters

using Glyph = std::array<std::array<bool, kGlyphColumns>, kGlyphRows>;

const Glyph& glyph(char32_t character);

}  // namespace profline::images::internal
