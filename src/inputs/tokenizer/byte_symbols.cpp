#include "inputs/tokenizer/internal/byte_symbols.h"

#include <array>

namespace profline::tokenizer::internal {
namespace {

constexpr unsigned kFirstExtra = 0x100;
constexpr unsigned kExtras = 68;  // controls, space, DEL to U+00A0, soft hyphen

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<unsigned, 256> symbol{};
  std::array<int, kFirstExtra + kExtras> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int& byte : alphabet.byte) byte = -1;
  unsigned extra = kFirstExtra;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned symbol = stands_for_itself(byte) ? byte : extra++;
    alphabet.symbol[byte] = symbol;
    alphabet.byte[symbol] = static_cast<int>(byte);
  }
  return alphabet;
}
constexpr Alphabet kAlphabet = make_alphabet();
static_assert(kAlphabet.byte.back() == 0xAD);

}  // namespace

std::string symbol_of(unsigned char byte) {
  const unsigned symbol = kAlphabet.symbol[byte];
  if (symbol < 0x80) return {static_cast<char>(symbol)};
  return {static_cast<char>(0xC0U | (symbol >> 6)), static_cast<char>(0x80U | (symbol & 0x3FU))};
}

std::optional<std::string> bytes_of_symbols(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned symbol = static_cast<unsigned char>(token[i]);
    if (symbol >= 0x80) {
      // Symbols take two bytes at most; a longer character is none.
      if (symbol >= 0xE0 || i + 1 == token.size()) return std::nullopt;
      symbol = ((symbol & 0x1FU) << 6) | (static_cast<unsigned char>(token[++i]) & 0x3FU);
    }
    if (symbol >= kAlphabet.byte.size() || kAlphabet.byte[symbol] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[symbol]);
  }
  return bytes;
}

}  // namespace profline::tokenizer::internal
