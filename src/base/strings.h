#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// The parts of `text` between separators; as many as there are separators, plus one.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of `text` without their ends (LF or CRLF); a last line that is empty does not count.
std::vector<std::string_view> lines(std::string_view text);

/// Without spaces, tabs, carriage returns and line feeds at either end.
std::string_view trim(std::string_view text);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// Offset of the first byte that is not part of valid UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF); nothing when all of it is valid.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// The candidates closest to `name` by edit distance (insert, delete, replace, swap of neighbours),
/// best first, at most `at_most`; only those close enough that a typing error explains them.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> candidates,
                                 std::size_t at_most = 1);

/// ` (did you mean 'timeout'?)`, or nothing when no candidate is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace profline
