#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Byte-level BPE as Hugging Face's `tokenizer.json` describes it.
namespace profline::tokenizer {

/// As libtorch takes them.
using TokenId = std::int64_t;

enum class SpecialTokens {
  Keep,  ///< as text; the grounding and table tokens of DeepSeek-OCR are "special" too
  Skip,
};

/// Text to ids and back; immutable, so that threads may share one.
///
/// What it takes of tokenizer.json: version 1.0, no normalizer (null or an empty Sequence),
/// pre-tokenizers Split (Regex or String, every behaviour, invert) followed by one ByteLevel, a BPE
/// model (merges as pairs or as `a b`, ignore_merges; no dropout, byte_fallback or affixes) whose
/// vocabulary has all 256 byte symbols, decoder ByteLevel, added tokens with all their flags.
/// Anything else is an Error with its place, never ignored; except post_processor, truncation and
/// padding, which do not concern encoding without special tokens.
class Tokenizer {
 public:
  static Result<Tokenizer> load(const std::filesystem::path& path);
  /// `source` is the text's name in messages.
  static Result<Tokenizer> parse(std::string_view text, std::string source);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of `text`, none added. Text that is not UTF-8 is an Error with the offset; so is text
  /// on which a pattern of the file takes more than a fixed amount of work.
  Result<std::vector<TokenId>> encode(std::string_view text) const;

  /// The text of the ids, always UTF-8: bytes that form no character become U+FFFD, one for each
  /// maximal part of one (as Rust and Python replace them). Ids without a token are left out, as in
  /// the official decoder: embeddings may have more rows than there are tokens.
  std::string decode(std::span<const TokenId> ids, SpecialTokens special) const;

  /// The bytes of one id, which need not be whole characters; empty when there is no such token.
  std::string_view bytes_of(TokenId id) const;
  /// As the file spells it (`Ġthe`, `<image>`); nothing when there is no such token.
  std::optional<TokenId> id_of(std::string_view token) const;
  bool is_special(TokenId id) const;
  /// Ids are below this; not every one of them need have a token.
  TokenId id_limit() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);

  std::unique_ptr<const Parts> parts_;
};

}  // namespace profline::tokenizer
