#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer {

/// What stands for the picture in a prompt, and the token whose embedding its features replace.
constexpr std::string_view kImageMarker = "<image>";

/// What the decoder is given.
struct Prompt {
  std::vector<TokenId> ids;
  /// For each id 1 where a row of the picture's features takes its place, else 0.
  std::vector<std::uint8_t> is_image;
};

/// The published "plain" template: the prompt without white space at either end, `bos` first, the
/// text before and after `<image>` encoded apart, and `slots` image tokens in its place. No end
/// token.
///
/// One picture a prompt, as in the release: a prompt with several `<image>` is an Error, and one
/// without any is text only, for which `slots` must be 0. With `<image>`, slots is at least 1.
Result<Prompt> assemble_prompt(const Tokenizer& tokenizer, std::string_view prompt,
                               std::int64_t slots, TokenId bos);

}  // namespace profline::tokenizer
