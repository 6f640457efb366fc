#include "inputs/tokenizer/internal/bpe.h"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::tokenizer::internal {
namespace {

using ::testing::ElementsAre;

/// Bytes are their own ids; merges get ids from 256 on, in order.
Bpe bpe_with(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& merges) {
  Bpe bpe;
  for (std::uint32_t byte = 0; byte < 256; ++byte) bpe.byte_ids[byte] = byte;
  bpe.merges = MergeTable(merges.size());
  std::uint32_t rank = 0;
  for (const auto& [left, right] : merges) {
    bpe.merges.add(left, right, {rank, 256 + rank});
    ++rank;
  }
  return bpe;
}

std::vector<TokenId> encoded(const Bpe& bpe, std::string_view word) {
  std::vector<TokenId> ids;
  WordEncoder(bpe).encode(word, ids);
  return ids;
}

/// By the definition: repeatedly merges the leftmost of the pairs with the lowest rank.
std::vector<TokenId> by_definition(const Bpe& bpe, std::string_view word) {
  std::vector<std::uint32_t> symbols;
  for (const char c : word) symbols.push_back(static_cast<unsigned char>(c));
  while (true) {
    MergeTable::Merge best{MergeTable::kNoRank, 0};
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto merge = bpe.merges.find(symbols[i], symbols[i + 1]);
      if (merge.rank < best.rank) {
        best = merge;
        at = i;
      }
    }
    if (best.rank == MergeTable::kNoRank) break;
    symbols[at] = best.result;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return {symbols.begin(), symbols.end()};
}

TEST(Bpe, MergesTheEarliestPairFirst) {
  const Bpe bpe = bpe_with({{'b', 'c'}, {'a', 'b'}, {'a', 256}});
  EXPECT_THAT(encoded(bpe, "abc"), ElementsAre(258));
  EXPECT_THAT(encoded(bpe, "abb"), ElementsAre(257, 'b'));
  EXPECT_THAT(encoded(bpe, "x"), ElementsAre('x'));
}

TEST(Bpe, TakesAWholeWordWhereMergesAreIgnored) {
  Bpe bpe = bpe_with({{'a', 'b'}});
  bpe.whole_words = {{"abc", 999}, {std::string(100, 'q'), 998}};
  EXPECT_THAT(encoded(bpe, "abc"), ElementsAre(999));
  EXPECT_THAT(encoded(bpe, std::string(100, 'q')), ElementsAre(998));
  EXPECT_THAT(encoded(bpe, "abd"), ElementsAre(256, 'd'));
}

TEST(Bpe, FollowsTheDefinitionForWordsOfAnyLength) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;
    for (std::uint32_t i = 0; i < 40; ++i) {
      const auto symbol = [&] {
        const auto number = static_cast<std::uint32_t>(random() % (3 + i));
        return number < 3 ? 'a' + number : 253 + number;
      };
      merges.emplace_back(symbol(), symbol());
    }
    const Bpe bpe = bpe_with(merges);
    for (const std::size_t size : {2U, 10U, 48U, 49U, 64U, 65U, 500U}) {
      std::string word(size, 'a');
      for (char& c : word) c = static_cast<char>('a' + random() % 3);
      EXPECT_EQ(encoded(bpe, word), by_definition(bpe, word)) << word;
    }
  }
}

TEST(Bpe, TakesWordsOfMegabytes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> merges = {{'a', 'a'}};
  for (std::uint32_t i = 0; i < 10; ++i) merges.emplace_back(256 + i, 256 + i);
  EXPECT_THAT(encoded(bpe_with(merges), std::string(1 << 20, 'a')), ::testing::SizeIs(512));
}

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
