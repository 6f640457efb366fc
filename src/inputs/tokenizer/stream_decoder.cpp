#include "inputs/tokenizer/stream_decoder.h"

#include <utility>

namespace profline::tokenizer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// How long a character is that begins so; 0 for a byte that begins none.
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

}  // namespace profline::tokenizer
