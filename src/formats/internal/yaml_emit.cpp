#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/internal/yaml_parts.h"

namespace profline {
namespace {

constexpr std::size_t kBestWidth = 80;

bool is_break(char32_t c) {
  return c == U'\n' || c == U'\x85' || c == U'\u2028' || c == U'\u2029';
}

bool is_space_or_break(char32_t c) {
  return c == U'\0' || c == U' ' || c == U'\t' || c == U'\r' || is_break(c);
}

bool is_one_of(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

/// Characters written as they are, outside double quotes. The line breaks other than LF are not,
/// because they would not read back.
bool is_printable(char32_t c) {
  if (c == U'\n' || (c >= 0x20 && c <= 0x7E)) return true;
  if (c == U'\u2028' || c == U'\u2029' || c == 0xFEFF) return false;
  return (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c < 0x10FFFF);
}

/// Whether a plain scalar in block context cannot contain the character at `i`.
bool is_block_indicator(std::u32string_view text, std::size_t i) {
  const char32_t c = text[i];
  const bool before_space = i + 1 >= text.size() || is_space_or_break(text[i + 1]);
  if (i == 0) {
    return is_one_of(c, U"#,[]{}&*!|>'\"%@`") || (is_one_of(c, U"?:-") && before_space);
  }
  return (c == U':' && before_space) || (c == U'#' && is_space_or_break(text[i - 1]));
}

void append_utf8(std::string& out, char32_t c) {
  const auto add = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto add_rest = [&](unsigned shift) { add(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0U | c >> 6U);
    add_rest(0);
  } else if (c < 0x10000) {
    add(0xE0U | c >> 12U);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0U | c >> 18U);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

/// The code points of valid UTF-8.
void append_code_points(std::u32string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      c = c << 6U | (static_cast<unsigned char>(bytes[i + k]) & 0x3FU);
    }
    out.push_back(c);
    i += length;
  }
}

/// The end of the run of spaces, line feeds, single quotes, or other characters that begins at
/// `start`.
std::size_t end_of_run(std::u32string_view text, std::size_t start) {
  constexpr std::u32string_view kApart = U" \n'";
  if (!is_one_of(text[start], kApart))
    return std::min(text.find_first_of(kApart, start), text.size());
  return std::min(text.find_first_not_of(text[start], start), text.size());
}

/// Without the backslash; empty when `c` stands for itself in double quotes.
std::string escape(char32_t c) {
  using std::string_view_literals::operator""sv;
  constexpr std::u32string_view kNamed = U"\0\a\b\t\n\v\f\r\x1B\"\\\x85\xA0\u2028\u2029"sv;
  constexpr std::string_view kNames = "0abtnvfre\"\\N_LP";
  const std::size_t named = kNamed.find(c);
  const bool is_plain =
      (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD);
  const bool must = is_one_of(c, U"\"\\\x85\u2028\u2029\uFEFF");
  if (is_plain && !must) return {};
  if (named != std::u32string_view::npos) return std::string(1, kNames[named]);
  const auto code = static_cast<std::uint32_t>(c);
  if (code <= 0xFF) return fmt::format("x{:02X}", code);
  return code <= 0xFFFF ? fmt::format("u{:04X}", code) : fmt::format("U{:08X}", code);
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes) {
  std::u32string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t valid = first_invalid_utf8(bytes).value_or(bytes.size());
    append_code_points(out, bytes.substr(0, valid));
    bytes.remove_prefix(valid);
    if (!bytes.empty()) {
      out.push_back(U'\uFFFD');
      bytes.remove_prefix(1);
    }
  }
  return out;
}

ScalarAnalysis analyse_scalar(std::u32string_view text) {
  ScalarAnalysis found;
  if (text.empty()) return found;
  found.is_empty = false;
  bool has_indicators = text.starts_with(U"---") || text.starts_with(U"...");
  bool has_space_after_break = false;
  bool needs_escapes = false;
  char32_t before = U'x';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    has_indicators |= is_block_indicator(text, i);
    found.has_breaks |= is_break(c);
    has_space_after_break |= c == U' ' && is_break(before);
    needs_escapes |= !is_printable(c) || (is_break(c) && before == U' ');
    before = c;
  }
  found.single = !has_space_after_break && !needs_escapes;
  found.block = text.back() != U' ' && !needs_escapes;
  found.plain = found.single && !has_indicators && !found.has_breaks && text.front() != U' ' &&
                text.back() != U' ';
  return found;
}

void YamlEmitter::indicator(std::string_view text, bool spaced, bool keeps_indention) {
  if (spaced && !after_space_) {
    out_ += ' ';
    ++column_;
  }
  out_ += text;
  column_ += text.size();
  after_space_ = false;
  at_indention_ = at_indention_ && keeps_indention;
}

void YamlEmitter::scalar(std::u32string_view text, Style style, bool may_fold) {
  switch (style) {
    case Style::Plain:
      return plain(text, may_fold);
    case Style::Single:
      return single_quoted(text, may_fold);
    case Style::Double:
      return double_quoted(text, may_fold);
    case Style::Literal:
      return literal(text);
  }
}

void YamlEmitter::indent() {
  const auto wanted = static_cast<std::size_t>(std::max(indent_, 0));
  if (!at_indention_ || column_ > wanted || (column_ == wanted && !after_space_)) line_break();
  if (column_ < wanted) {
    out_.append(wanted - column_, ' ');
    column_ = wanted;
    after_space_ = true;
  }
}

void YamlEmitter::line_break() {
  out_ += '\n';
  column_ = 0;
  after_space_ = at_indention_ = true;
}

void YamlEmitter::append(std::u32string_view text) {
  for (const char32_t c : text) append_utf8(out_, c);
  column_ += text.size();
}

/// A new line inside of a scalar.
void YamlEmitter::fold() {
  indent();
  after_space_ = at_indention_ = false;
}

/// Folds only where a single space separates two words: the reader turns the line break into a
/// space.
void YamlEmitter::plain(std::u32string_view text, bool may_fold) {
  if (text.empty()) return;
  if (!after_space_) append(U" ");
  after_space_ = at_indention_ = false;
  for (std::size_t start = 0; start < text.size();) {
    const bool in_spaces = text[start] == U' ';
    std::size_t end = start;
    while (end < text.size() && (text[end] == U' ') == in_spaces) ++end;
    if (in_spaces && end == start + 1 && column_ > kBestWidth && may_fold) {
      fold();
    } else {
      append(text.substr(start, end - start));
    }
    start = end;
  }
}

void YamlEmitter::single_quoted(std::u32string_view text, bool may_fold) {
  indicator("'", true);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = end_of_run(text, start);
    const std::size_t length = end - start;
    const bool is_inner_space =
        text[start] == U' ' && length == 1 && start > 0 && end < text.size();
    if (text[start] == U'\'') {
      append(std::u32string(2 * length, U'\''));
    } else if (text[start] == U'\n') {
      // One break more than there are: the reader turns a single break into a space.
      for (std::size_t i = 0; i <= length; ++i) line_break();
      indent();
    } else if (is_inner_space && column_ > kBestWidth && may_fold) {
      indent();
    } else {
      append(text.substr(start, length));
    }
    start = end;
  }
  indicator("'", false);
}

void YamlEmitter::double_quoted(std::u32string_view text, bool may_fold) {
  indicator("\"", true);
  std::size_t start = 0;  // of the text not yet written
  for (std::size_t end = 0; end <= text.size(); ++end) {
    const bool at_end = end == text.size();
    const std::string escaped = at_end ? std::string() : escape(text[end]);
    if (at_end || !escaped.empty()) {
      append(text.substr(start, end - start));
      start = end;
      if (!at_end) {
        out_ += '\\' + escaped;
        column_ += 1 + escaped.size();
        start = end + 1;
      }
    }
    const bool may_break_here =
        may_fold && end > 0 && end + 1 < text.size() && (text[end] == U' ' || start >= end);
    if (!may_break_here || column_ + end <= kBestWidth + start) continue;
    if (start < end) {
      append(text.substr(start, end - start));
      start = end;
    }
    append(U"\\");
    fold();
    if (text[start] == U' ') append(U"\\");
  }
  indicator("\"", false);
}

void YamlEmitter::literal(std::u32string_view text) {
  indicator("|", true);
  line_break();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(U'\n', start), text.size());
    if (end > start) {
      indent();
      append(text.substr(start, end - start));
    }
    line_break();
    start = end + 1;
  }
}

}  // namespace profline
