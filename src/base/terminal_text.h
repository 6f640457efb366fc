#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profline {

/// Untrusted text made safe for one line of a terminal or a log: control characters, line
/// separators, marks that reorder text and bytes that are not UTF-8 become escapes (`\n`, `\x1b`,
/// `\u202e`). All else, the backslash included, stays as it is: made to be read, not to be undone.
std::string printable(std::string_view text);

/// The same for text of several lines, whose line ends stay.
std::string printable_lines(std::string_view text);

/// Columns a terminal needs for printable UTF-8: 2 for East Asian wide characters and emoji, 0 for
/// combining marks and our own colour codes, 1 for the rest. By ranges, so approximately right for
/// what is new in Unicode.
std::size_t display_width(std::string_view text);

/// `text` if it fits into `width` columns, else its beginning with `ellipsis` at the end.
std::string fit_width(std::string_view text, std::size_t width, std::string_view ellipsis = "…");

/// `text` broken between words into lines of at most `width` columns. Lines after the first begin
/// with `indent` blanks, which count; a word that is too long stands on a line of its own, uncut.
/// Line ends in the text stay.
std::string wrap_words(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `text` with spaces behind it up to `width` columns.
std::string pad_width(std::string_view text, std::size_t width);

}  // namespace profline
