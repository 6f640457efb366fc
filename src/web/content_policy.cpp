#include "web/content_policy.h"

#include <cstdint>
#include <string_view>

#include "base/sha256.h"

namespace profline::web {
namespace {

unsigned digit(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

/// RFC 4648 of bytes that are given as hexadecimal digits.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 6) {
    const std::string_view three = hex.substr(at, 6);
    std::uint32_t bits = 0;
    for (const char c : three) bits = bits << 4U | digit(c);
    bits <<= 4U * (6 - three.size());
    // Two hexadecimal digits are a byte; n bytes are n + 1 characters.
    const std::size_t characters = three.size() / 2 + 1;
    for (std::size_t i = 0; i < 4; ++i) {
      text += i < characters ? kAlphabet[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string content_policy(std::span<const std::string> scripts) {
  std::string hashes;
  for (const std::string& script : scripts) {
    hashes += " 'sha256-" + base64_of_hex(sha256_hex(script)) + "'";
  }
  // Bars in tables and the charts' tooltips are styled where they stand.
  return "default-src 'none'; style-src 'unsafe-inline'; script-src" + hashes +
         "; base-uri 'none'; form-action 'none'";
}

}  // namespace profline::web
