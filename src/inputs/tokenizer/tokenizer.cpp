#include "inputs/tokenizer/tokenizer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "inputs/tokenizer/internal/byte_symbols.h"
#include "inputs/tokenizer/internal/tokenizer_json.h"
#include "inputs/tokenizer/stream_decoder.h"

namespace profline::tokenizer {

using internal::AddedTokens;
using internal::Bpe;
using internal::Description;
using internal::PreTokenizer;
using internal::RegexScanner;
using internal::Segment;
using internal::Split;
using internal::WordEncoder;

struct Tokenizer::Parts {
  struct Token {
    std::string bytes;
    bool is_special = false;
  };

  PreTokenizer pre_tokenizer;
  Bpe bpe;
  AddedTokens added;
  std::unordered_map<std::string, TokenId> ids;  // of vocabulary and added tokens
  std::vector<Token> tokens;                     // by id; without bytes where there is none
};

namespace {

std::string bytes_of_token(const std::string& token) {
  return internal::bytes_of_symbols(token).value_or(token);
}

/// One text on its way to ids.
class Encoding {
 public:
  Encoding(const PreTokenizer& pre_tokenizer, const AddedTokens& added, const Bpe& bpe)
      : pre_tokenizer_(pre_tokenizer), added_(added), words_(bpe) {}

  Result<std::vector<TokenId>> run(std::string_view text) {
    for (const Segment& segment : PL_TRY(added_.cut(text, false, scanner_))) {
      if (segment.token != nullptr) {
        ids_.push_back(segment.token->id);
        continue;
      }
      for (const Segment& part : PL_TRY(added_.cut(segment.text, true, scanner_))) {
        if (part.token != nullptr) {
          ids_.push_back(part.token->id);
        } else {
          PL_TRY(encode_plain(part.text));
        }
      }
    }
    return std::move(ids_);
  }

 private:
  Result<void> encode_plain(std::string_view text) {
    pieces_.assign(1, text);
    for (const Split& split : pre_tokenizer_.splits) {
      next_.clear();
      for (const std::string_view piece : pieces_) {
        PL_TRY(split_text(split, piece, scanner_, next_));
      }
      std::swap(pieces_, next_);
    }
    for (const std::string_view piece : pieces_) PL_TRY(encode_piece(piece));
    return {};
  }

  /// ByteLevel: a space in front of each piece where asked, then a split of its own where asked.
  Result<void> encode_piece(std::string_view piece) {
    std::string with_space;
    if (pre_tokenizer_.add_prefix_space && !piece.starts_with(' ')) {
      with_space = ' ' + std::string(piece);
      piece = with_space;
    }
    if (!pre_tokenizer_.byte_level) {
      words_.encode(piece, ids_);
      return {};
    }
    std::vector<std::string_view> words;
    PL_TRY(split_text(*pre_tokenizer_.byte_level, piece, scanner_, words));
    for (const std::string_view word : words) words_.encode(word, ids_);
    return {};
  }

  const PreTokenizer& pre_tokenizer_;
  const AddedTokens& added_;
  WordEncoder words_;
  RegexScanner scanner_;
  std::vector<TokenId> ids_;
  std::vector<std::string_view> pieces_;
  std::vector<std::string_view> next_;
};

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(const std::filesystem::path& path) {
  return parse(PL_TRY(read_file(path)), path.string());
}

Result<Tokenizer> Tokenizer::parse(std::string_view text, std::string source) {
  Description description =
      PL_TRY(internal::read_tokenizer(PL_TRY(parse_json(text, std::move(source)))));
  auto parts = std::make_unique<Parts>(
      Parts{.pre_tokenizer = std::move(description.pre_tokenizer),
            .bpe = std::move(description.bpe),
            .added = PL_TRY(AddedTokens::build(std::move(description.added))),
            .ids = std::move(description.vocabulary),
            .tokens = {}});
  for (const internal::AddedToken& token : parts->added.all()) {
    parts->ids.emplace(token.content, token.id);
  }
  TokenId last = -1;
  for (const auto& [token, id] : parts->ids) last = std::max(last, id);
  parts->tokens.resize(static_cast<std::size_t>(last + 1));
  for (const auto& [token, id] : parts->ids) {
    parts->tokens[static_cast<std::size_t>(id)].bytes = bytes_of_token(token);
  }
  for (const internal::AddedToken& token : parts->added.all()) {
    parts->tokens[static_cast<std::size_t>(token.id)].is_special |= token.special;
  }
  return Tokenizer(std::move(parts));
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text) const {
  if (const auto bad = first_invalid_utf8(text)) {
    return Error(ErrorKind::Config,
                 "cannot encode text that is not UTF-8 (at byte " + std::to_string(*bad) + ")");
  }
  return Encoding(parts_->pre_tokenizer, parts_->added, parts_->bpe).run(text);
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (special == SpecialTokens::Keep || !is_special(id)) bytes += bytes_of(id);
  }
  if (!first_invalid_utf8(bytes)) return bytes;
  Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

std::string_view Tokenizer::bytes_of(TokenId id) const {
  if (id < 0 || id >= id_limit()) return {};
  return parts_->tokens[static_cast<std::size_t>(id)].bytes;
}

std::optional<TokenId> Tokenizer::id_of(std::string_view token) const {
  const auto found = parts_->ids.find(std::string(token));
  return found == parts_->ids.end() ? std::nullopt : std::optional(found->second);
}

bool Tokenizer::is_special(TokenId id) const {
  return id >= 0 && id < id_limit() && parts_->tokens[static_cast<std::size_t>(id)].is_special;
}

TokenId Tokenizer::id_limit() const {
  return static_cast<TokenId>(parts_->tokens.size());
}

}  // namespace profline::tokenizer
