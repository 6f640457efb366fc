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

/// Byte-level BPE as described by Hugging Face's `tokenizer.json`.
namespace profline::tokenizer {

/// The type that libtorch uses.
using TokenId = std::int64_t;

enum class SpecialTokens {
  Keep,  ///< as text; the grounding and table tokens of DeepSeek-OCR are "special" too
  Skip,
};

/// Converts text to ids and back; immutable, so that threads may share one.
///
/// Supported in tokenizer.json: version 1.0, no normalizer (null or an empty Sequence),
/// pre-tokenizers Split (Regex or String, every behaviour, invert) followed by one ByteLevel, a BPE
/// model (merges as pairs or as `a b`, ignore_merges; no dropout, byte_fallback or affixes) whose
/// vocabulary has all 256 byte symbols, decoder ByteLevel, added tokens with all their flags.
/// Anything else is an Error with its place, never ignored; except post_processor, truncation and
/// padding, which do not affect encoding without special tokens.
class Tokenizer {
 public:
  static Result<Tokenizer> load(const std::filesystem::path& path);
  /// `source` is the text's name in messages.
  static Result<Tokenizer> parse(std::string_view text, std::string source);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of `text`, without added ones. Text that is not UTF-8 is an Error with the offset; so
  /// is text on which a pattern of the file takes more than a fixed amount of work.
  Result<std::vector<TokenId>> encode(std::string_view text) const;

  /// The text of the ids, always UTF-8: bytes that form no character become U+FFFD, one for each
  /// maximal part of one (as in Rust and Python). Ids without a token are left out, as in the
  /// official decoder: embeddings may have more rows than there are tokens.
  std::string decode(std::span<const TokenId> ids, SpecialTokens special) const;

  /// The bytes of one id, which need not be whole characters; empty if there is no such token.
  std::string_view bytes_of(TokenId id) const;
  /// In the spelling of the file (`Ġthe`, `<image>`); nothing if there is no such token.
  std::optional<TokenId> id_of(std::string_view token) const;
  bool is_special(TokenId id) const;
  /// Ids are below this; not every id need have a token.
  TokenId id_limit() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);

  std::unique_ptr<const Parts> parts_;
};

/// Bytes to UTF-8, piece by piece: returns text as soon as it can no longer change. Bytes that form
/// no character become U+FFFD, one for each maximal part of one.
class Utf8Stream {
 public:
  /// The characters that `bytes` completes; an incomplete one is kept.
  std::string push(std::string_view bytes);
  /// The rest at the end: nothing, or one U+FFFD.
  std::string finish();

 private:
  std::string pending_;  // a proper prefix of a character; at most 3 bytes
};

/// Text of tokens as they are generated: whole characters only, and together exactly the result of
/// Tokenizer::decode() for all ids. The tokenizer must outlive it.
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

/// Marks the image in a prompt, and is the token whose embedding its features replace.
constexpr std::string_view kImageMarker = "<image>";

/// The input of the decoder.
struct Prompt {
  std::vector<TokenId> ids;
  /// For each id, 1 if a row of the image's features replaces it, else 0.
  std::vector<std::uint8_t> is_image;
};

/// The published "plain" template: the prompt without white space at either end, `bos` first, the
/// text before and after `<image>` encoded separately, and `slots` image tokens in its place. No
/// end token.
///
/// One image per prompt, as in the release: a prompt with several `<image>` is an Error, and one
/// without any is text only, for which `slots` must be 0. With `<image>`, slots is at least 1.
Result<Prompt> assemble_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                               std::int64_t slots, TokenId bos);

/// tokenizer.json of the tiny model: the pipeline of the release with 61 merges and 12 added
/// tokens, ids 0 to 331.
std::string tiny_tokenizer_json();

/// The tokenizer_config.json that belongs to it.
std::string tiny_tokenizer_config_json();

}  // namespace profline::tokenizer
