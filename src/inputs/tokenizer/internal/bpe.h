#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer::internal {

/// Which two tokens merge into which third, and their rank. Open addressing: this is the inner
/// loop.
class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank;
    std::uint32_t result;
  };
  static constexpr std::uint32_t kNoRank = UINT32_MAX;

  explicit MergeTable(std::size_t count);
  /// If a pair is added twice, the last one counts, as in the official reader.
  void add(std::uint32_t left, std::uint32_t right, Merge merge);
  /// Rank kNoRank if the pair does not merge.
  Merge find(std::uint32_t left, std::uint32_t right) const;

 private:
  struct Slot {
    std::uint64_t pair = kFree;
    Merge merge{kNoRank, 0};
  };
  static constexpr std::uint64_t kFree = UINT64_MAX;
  std::size_t slot_of(std::uint64_t pair) const;

  std::vector<Slot> slots_;
  int shift_;
};

/// Byte-pair encoding of single words.
struct Bpe {
  std::array<std::uint32_t, 256> byte_ids{};
  MergeTable merges{0};
  /// With ignore_merges, words that are tokens themselves; otherwise empty.
  std::unordered_map<std::string, std::uint32_t> whole_words;
};

/// Encodes words with a Bpe and caches them. Use one per thread.
class WordEncoder {
 public:
  explicit WordEncoder(const Bpe& bpe) : bpe_(&bpe) {}
  void encode(std::string_view word, std::vector<TokenId>& ids);

 private:
  /// Leaves the tokens of the word in symbols_.
  void compute(const std::string& word);
  void merge_short();
  void merge_long();

  const Bpe* bpe_;
  std::vector<std::uint32_t> symbols_;  // of the current word; after merging, its tokens
  std::vector<std::uint32_t> ranks_;
  std::string key_;  // kept to reuse its memory
  std::unordered_map<std::string, std::vector<std::uint32_t>> seen_;
};

/// GPT-2's alphabet: one printable character for each byte, so that any bytes are a word of text.
/// Printable Latin-1 bytes represent themselves, the others are U+0100 and up.

/// UTF-8 of the byte's character: `a` for 0x61, `Ġ` for a space.
std::string symbol_of(unsigned char byte);

/// The bytes of a token of such characters; nothing if one is not in the alphabet.
std::optional<std::string> bytes_of_symbols(std::string_view token);

}  // namespace profline::tokenizer::internal
