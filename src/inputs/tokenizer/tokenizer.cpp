#include "inputs/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "inputs/tokenizer/internal/bpe.h"
#include "inputs/tokenizer/internal/tokenizer_json.h"

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
  std::vector<Token> tokens;                     // by id; without bytes for unused ids
};

namespace {

std::string bytes_of_token(const std::string& token) {
  return internal::bytes_of_symbols(token).value_or(token);
}

/// One text that is being encoded.
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

  /// ByteLevel: if enabled, a space in front of each piece, then its own split.
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

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The length of a character with this first byte; 0 for a byte that begins no character.
std::size_t character_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

/// Whether `byte` may follow. Only the second byte depends on the first (Unicode, table 3-7).
bool continues(std::string_view pending, unsigned char byte) {
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (pending.size() == 1) {
    switch (static_cast<unsigned char>(pending[0])) {
      case 0xE0:
        low = 0xA0;
        break;
      case 0xED:
        high = 0x9F;
        break;
      case 0xF0:
        low = 0x90;
        break;
      case 0xF4:
        high = 0x8F;
        break;
      default:
        break;
    }
  }
  return byte >= low && byte <= high;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!pending_.empty() && !continues(pending_, byte)) {
      text += kReplacement;
      pending_.clear();
    }
    if (pending_.empty() && character_size(byte) == 0) {
      text += kReplacement;
      continue;
    }
    pending_ += c;
    if (pending_.size() == character_size(static_cast<unsigned char>(pending_[0]))) {
      text += pending_;
      pending_.clear();
    }
  }
  return text;
}

std::string Utf8Stream::finish() {
  return std::exchange(pending_, {}).empty() ? std::string() : std::string(kReplacement);
}

std::string StreamDecoder::push(TokenId id) {
  if (special_ == SpecialTokens::Skip && tokenizer_->is_special(id)) return {};
  return stream_.push(tokenizer_->bytes_of(id));
}

namespace {

// What Python's str.strip() removes, as in the published code.
constexpr std::array<std::string_view, 29> kSpaces = {
    "\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",   "\x1E",
    "\x1F",   " ",      "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002",
    "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200A",
    "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};

std::string_view stripped(std::string_view text) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view space : kSpaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        changed = true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        changed = true;
      }
    }
  }
  return text;
}

Error bad_prompt(const std::string& message) {
  return Error(ErrorKind::Config, message);
}

Result<void> append_text(const Tokenizer& tokenizer, std::string_view text, Prompt& prompt) {
  const std::vector<TokenId> ids = PL_TRY(tokenizer.encode(text).during("the prompt"));
  prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
  prompt.is_image.resize(prompt.ids.size(), 0);
  return {};
}

}  // namespace

Result<Prompt> assemble_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                               std::int64_t slots, TokenId bos) {
  const std::string_view text = stripped(prompt);
  Prompt out;
  out.ids.push_back(bos);
  out.is_image.push_back(0);
  const std::size_t marker = text.find(kImageMarker);
  if (marker == std::string_view::npos) {
    if (slots != 0) {
      return bad_prompt("the prompt has no '<image>' where the image's " +
                        counted(static_cast<std::uint64_t>(slots), "token") + " could go");
    }
    PL_TRY(append_text(tokenizer, text, out));
    return out;
  }
  const std::string_view after = text.substr(marker + kImageMarker.size());
  if (after.find(kImageMarker) != std::string_view::npos) {
    return bad_prompt("the prompt has '<image>' more than once; it takes one image");
  }
  if (slots < 1) return bad_prompt("the prompt has '<image>', but there is no image");
  const auto image = tokenizer.id_of(kImageMarker);
  if (!image) return bad_prompt("the tokenizer has no token '<image>'");
  PL_TRY(append_text(tokenizer, text.substr(0, marker), out));
  out.ids.insert(out.ids.end(), static_cast<std::size_t>(slots), *image);
  out.is_image.resize(out.ids.size(), 1);
  PL_TRY(append_text(tokenizer, after, out));
  return out;
}

}  // namespace profline::tokenizer
