#pragma once

#include <optional>
#include <string>
#include <string_view>

/// GPT-2's alphabet: one printable character for each byte, so that any bytes are a word of text.
/// Bytes that Latin-1 prints stand for themselves, the others for U+0100 and on.
namespace profline::tokenizer::internal {

/// UTF-8 of the byte's character: `a` for 0x61, `Ġ` for a space.
std::string symbol_of(unsigned char byte);

/// The bytes that a token of such characters means; nothing when one is not of the alphabet.
std::optional<std::string> bytes_of_symbols(std::string_view token);

}  // namespace profline::tokenizer::internal
