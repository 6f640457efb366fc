#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profline {

/// Untrusted text made safe for one line of a terminal or a log: control characters, line
/// separators, marks that reorder text and bytes that are not UTF-8 become escapes (`\n`, `\x1b`,
/// `\u202e`). Everything else stays as it is, including the backslash: the output is for reading,
/// not reversible.
std::string printable(std::string_view text);

/// The same for text of several lines, which keeps its line ends.
std::string printable_lines(std::string_view text);

/// Columns a terminal needs for printable UTF-8: 2 for East Asian wide characters and emoji, 0 for
/// combining marks and our own colour codes, 1 for the rest. Uses ranges, so only approximately
/// right for new Unicode characters.
std::size_t display_width(std::string_view text);

/// `text` if it fits into `width` columns, else its beginning with `ellipsis` at the end.
std::string fit_width(std::string_view text, std::size_t width, std::string_view ellipsis = "…");

/// `text` broken between words into lines of at most `width` columns. Lines after the first begin
/// with `indent` blanks, which count; a word that is too long gets a line of its own, uncut.
/// Existing line ends stay.
std::string wrap_words(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `text` followed by spaces up to `width` columns.
std::string pad_width(std::string_view text, std::size_t width);

}  // namespace profline
