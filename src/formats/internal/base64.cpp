#include "formats/internal/base64.h"

#include <cstdint>

namespace profline {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kBytesInLine = 57;  // 76 characters

void encode_group(std::string_view group, std::string& out) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const bool padding = i > group.size();
    out.push_back(padding ? '=' : kAlphabet[bits >> (18U - 6U * i) & 63U]);
  }
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  std::size_t in_group = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return std::nullopt;
  }
  for (const char c : text) {
    if (c == '=') {
      ++padding;
      if (in_group >= 2 && in_group + padding >= 4) return bytes;
      continue;
    }
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) continue;
    padding = 0;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    in_group = (in_group + 1) % 4;
    // The second, third and fourth character of a group each complete a byte.
    if (in_group != 1)
      bytes.push_back(static_cast<char>(bits >> (2U * ((4 - in_group) % 4)) & 255U));
  }
  if (in_group != 0) return std::nullopt;
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) encode_group(bytes.substr(i, 3), out);
  return out;
}

std::string encode_base64_lines(std::string_view bytes) {
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += kBytesInLine) {
    out += encode_base64(bytes.substr(line, kBytesInLine)) + '\n';
  }
  return out;
}

}  // namespace profline
