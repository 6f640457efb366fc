#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "inputs/tokenizer/internal/bpe.h"
#include "inputs/tokenizer/internal/text_pieces.h"

namespace profline::tokenizer::internal {

/// Ids are below this: tables of them stay small whatever a file says.
constexpr TokenId kIdLimit = 1 << 20;

/// The steps from text to words.
struct PreTokenizer {
  std::vector<Split> splits;  // in order; GPT-2's own pattern is the last, if enabled
  bool add_prefix_space = false;
  std::optional<Split> byte_level;  // ByteLevel's split, after the space was added
};

/// The parts of a tokenizer.json that we use.
struct Description {
  std::unordered_map<std::string, TokenId> vocabulary;  // tokens as the file spells them
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> added;
};

Result<Description> read_tokenizer(const Node& tree);

}  // namespace profline::tokenizer::internal
