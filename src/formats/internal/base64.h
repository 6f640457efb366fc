#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profline {

/// The bytes that base64 `text` stands for. Characters outside the alphabet are passed over and
/// text behind the padding is ignored (PyYAML reads !!binary so); nothing when the last group is
/// incomplete, or when a character is not ASCII.
std::optional<std::string> decode_base64(std::string_view text);

/// Base64 with its padding, in one line.
std::string encode_base64(std::string_view bytes);

/// Base64 in lines of 76 characters, each with its line feed; nothing for no bytes.
std::string encode_base64_lines(std::string_view bytes);

}  // namespace profline
