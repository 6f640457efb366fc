#include "inputs/tokenizer/prompt.h"

#include <array>
#include <string>

namespace profline::tokenizer {
namespace {

// What Python's str.strip() takes off, as the published code does.
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
      return bad_prompt("the prompt has no '<image>' where the picture's " + std::to_string(slots) +
                        " tokens could go");
    }
    PL_TRY(append_text(tokenizer, text, out));
    return out;
  }
  const std::string_view after = text.substr(marker + kImageMarker.size());
  if (after.find(kImageMarker) != std::string_view::npos) {
    return bad_prompt("the prompt has '<image>' more than once; it takes one picture");
  }
  if (slots < 1) return bad_prompt("the prompt has '<image>', but there is no picture");
  const auto image = tokenizer.id_of(kImageMarker);
  if (!image) return bad_prompt("the tokenizer has no token '<image>'");
  PL_TRY(append_text(tokenizer, text.substr(0, marker), out));
  out.ids.insert(out.ids.end(), static_cast<std::size_t>(slots), *image);
  out.is_image.resize(out.ids.size(), 1);
  PL_TRY(append_text(tokenizer, after, out));
  return out;
}

}  // namespace profline::tokenizer
