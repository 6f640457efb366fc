#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/tokenizer/internal/added_tokens.h"
#include "inputs/tokenizer/internal/bpe.h"
#include "inputs/tokenizer/internal/split.h"

namespace profline::tokenizer::internal {

/// Ids are below this: tables over them stay small whatever a file says.
constexpr TokenId kIdLimit = 1 << 20;

/// The steps from text to words.
struct PreTokenizer {
  std::vector<Split> splits;  // one after the other; GPT-2's own pattern is the last, where asked
  bool add_prefix_space = false;
  std::optional<Split> byte_level;  // what ByteLevel splits by, after the space was added
};

/// A tokenizer.json as far as it concerns us.
struct Description {
  std::unordered_map<std::string, TokenId> vocabulary;  // tokens as the file spells them
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> added;
};

Result<Description> read_tokenizer(const Node& tree);

// The parts of read_tokenizer(), a file each.
Result<PreTokenizer> read_pre_tokenizer(const Node& tree);
/// Fills `vocabulary` and `bpe`.
Result<void> read_model(const Node& tree, Description& description);
Result<std::vector<AddedToken>> read_added_tokens(
    const Node& tree, const std::unordered_map<std::string, TokenId>& vocabulary);

}  // namespace profline::tokenizer::internal
