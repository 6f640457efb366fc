#pragma once

#include <string>
#include <string_view>

#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer {

/// Bytes to UTF-8, piece by piece: text comes out as soon as it can no longer change. Bytes that
/// form no character become U+FFFD, one for each maximal part of one.
class Utf8Stream {
 public:
  /// The characters that `bytes` completes; what may still become one is kept.
  std::string push(std::string_view bytes);
  /// What is left at the end: nothing, or one U+FFFD.
  std::string finish();

 private:
  std::string pending_;  // a proper prefix of a character; at most 3 bytes
};

/// Text of tokens as they are generated: whole characters only, and together exactly what
/// Tokenizer::decode() makes of all ids. The tokenizer must outlive it.
class StreamDecoder {
 public:
  StreamDecoder(const Tokenizer& tokenizer, SpecialTokens special)
      : tokenizer_(&tokenizer), special_(special) {}

  std::string push(TokenId id);
  std::string finish() { return stream_.finish(); }

 private:
  const Tokenizer* tokenizer_;
  SpecialTokens special_;
  Utf8Stream stream_;
};

}  // namespace profline::tokenizer
