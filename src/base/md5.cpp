#include "base/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace profline {
namespace {

constexpr std::size_t kBlockBytes = 64;
using State = std::array<std::uint32_t, 4>;

/// T of RFC 1321, 3.4: the whole part of 2^32 times |sin(i + 1)|, i in radians.
std::array<std::uint32_t, 64> sines() {
  std::array<std::uint32_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint32_t>(
        std::floor(std::ldexp(std::fabs(std::sin(static_cast<double>(i + 1))), 32)));
  }
  return table;
}

constexpr std::array<std::array<int, 4>, 4> kShifts = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

std::uint32_t word(std::string_view block, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(block[4 * index + byte]);
  }
  return value;
}

void fold(std::string_view block, State& state) {
  static const std::array<std::uint32_t, 64> table = sines();
  auto [a, b, c, d] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t round = i / 16;
    std::uint32_t mixed = 0;
    std::size_t at = 0;
    switch (round) {
      case 0:
        mixed = (b & c) | (~b & d), at = i;
        break;
      case 1:
        mixed = (b & d) | (c & ~d), at = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d, at = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d), at = 7 * i % 16;
        break;
    }
    mixed += a + table[i] + word(block, at);
    a = d, d = c, c = b;
    b += std::rotl(mixed, kShifts[round][i % 4]);
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

/// What follows the last whole block: the rest, a one bit, zeros, the length in bits.
std::string padding(std::string_view rest, std::uint64_t total_bytes) {
  std::string tail(rest);
  tail += '\x80';
  while (tail.size() % kBlockBytes != kBlockBytes - 8) tail += '\0';
  for (unsigned byte = 0; byte < 8; ++byte) {
    tail += static_cast<char>((total_bytes * 8) >> (8 * byte) & 0xFFU);
  }
  return tail;
}

}  // namespace

std::string md5_hex(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  const std::string tail = padding(bytes.substr(whole), bytes.size());
  for (const std::string_view part : {bytes.substr(0, whole), std::string_view(tail)}) {
    for (std::size_t at = 0; at < part.size(); at += kBlockBytes) {
      fold(part.substr(at, kBlockBytes), state);
    }
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint32_t part : state) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::uint32_t value = part >> (8 * byte) & 0xFFU;
      hex += kDigits[value >> 4U];
      hex += kDigits[value & 0xFU];
    }
  }
  return hex;
}

}  // namespace profline
