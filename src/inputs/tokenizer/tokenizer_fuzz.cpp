// A tokenizer.json is refused with a place, or encodes and decodes the same whole and token by
// token.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "inputs/tokenizer/tokenizer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using profline::tokenizer::SpecialTokens;
  using profline::tokenizer::StreamDecoder;
  using profline::tokenizer::Tokenizer;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = Tokenizer::parse(json, "fuzz");
  if (!tokenizer) {
    require(!tokenizer.error().message().empty() && tokenizer.error().position().has_value());
    return 0;
  }
  const std::string_view text = "Ab1 234\t<td>\u00e9\u65e5\n  <image>the's";
  const auto ids = tokenizer->encode(text);
  if (!ids) return 0;
  const std::string decoded = tokenizer->decode(*ids, SpecialTokens::Keep);
  require(!profline::first_invalid_utf8(decoded));
  StreamDecoder stream(*tokenizer, SpecialTokens::Keep);
  std::string streamed;
  for (const auto id : *ids) streamed += stream.push(id);
  require(streamed + stream.finish() == decoded);
  return 0;
}
