#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace profline::tokenizer::testing {

inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&text](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12));
    byte(0x80U | ((code >> 6) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18));
    byte(0x80U | ((code >> 12) & 0x3FU));
    byte(0x80U | ((code >> 6) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

/// Characters of every plane, with ASCII and line ends often enough to form words.
inline std::string random_text(std::mt19937& random, std::size_t characters) {
  std::string text;
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  for (std::size_t i = 0; i < characters; ++i) {
    const std::uint32_t kind = below(8);
    std::uint32_t code = kind < 4 ? below(0x80) : below(kind < 6 ? 0x3100 : 0x110000);
    if (code >= 0xD800 && code < 0xE000) code = '\n';  // half a pair is not a character
    append_utf8(text, code);
  }
  return text;
}

}  // namespace profline::tokenizer::testing
