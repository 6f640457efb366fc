#include "inputs/tokenizer/internal/byte_symbols.h"

#include <set>

#include <gtest/gtest.h>

namespace profline::tokenizer::internal {
namespace {

TEST(ByteSymbols, AreGpt2s) {
  EXPECT_EQ(symbol_of('a'), "a");
  EXPECT_EQ(symbol_of(' '), "Ġ");
  EXPECT_EQ(symbol_of('\n'), "Ċ");
  EXPECT_EQ(symbol_of(0x00), "Ā");
  EXPECT_EQ(symbol_of(0xAD), "Ń");
  EXPECT_EQ(symbol_of(0xFF), "ÿ");
}

TEST(ByteSymbols, AreOneForEachByteAndBack) {
  std::set<std::string> symbols;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string symbol = symbol_of(static_cast<unsigned char>(byte));
    symbols.insert(symbol);
    EXPECT_EQ(bytes_of_symbols(symbol), std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(symbols.size(), 256U);
  EXPECT_EQ(bytes_of_symbols("Ġthe"), " the");
}

TEST(ByteSymbols, KnowWhatIsNoneOfThem) {
  for (const char* token : {" ", "<｜", "\u0144", "\u00AD", "a\n", "😀"}) {
    EXPECT_EQ(bytes_of_symbols(token), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace profline::tokenizer::internal
