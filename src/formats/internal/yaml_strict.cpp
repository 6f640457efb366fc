#include "formats/internal/yaml_strict.h"

#include <algorithm>

namespace profline {
namespace {

std::size_t end_of_line(std::string_view text, std::size_t from) {
  while (from < text.size() && line_break_length(text.substr(from, 3)) == 0) ++from;
  return from;
}

bool is_space_or_break(std::string_view text, std::size_t at) {
  return text[at] == ' ' || line_break_length(text.substr(at, 3)) > 0;
}

/// `from` when neither begins there.
std::size_t end_of_comment_or_property(std::string_view text, std::size_t from) {
  const char first = text[from];
  if (first == '#') return end_of_line(text, from);
  if (first != '!' && first != '&' && first != '*') return from;
  while (from < text.size() && text[from] != '\t' && !is_space_or_break(text, from)) ++from;
  return from;
}

bool is_block_style(yaml_scalar_style_t style) {
  return style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
}

}  // namespace

YamlStrictness::YamlStrictness(const YamlText& text)
    : text_(text),
      has_tabs_(text.text().find('\t') != std::string_view::npos),
      is_ascii_(std::all_of(text.text().begin(), text.text().end(),
                            [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {}

Result<void> YamlStrictness::check(const yaml_event_t& event, bool in_flow) {
  if (event.type == YAML_STREAM_END_EVENT && has_tabs_) {
    return check_between_scalars(checked_, text_.text().size());
  }
  if (event.type != YAML_SCALAR_EVENT) return {};
  const auto& scalar = event.data.scalar;
  if (!has_tabs_ && !in_flow && !is_block_style(scalar.style)) return {};

  std::size_t start = std::max(checked_, offset_of(event.start_mark));
  const std::size_t end = std::max(start, offset_of(event.end_mark));
  if (has_tabs_) PL_TRY(check_between_scalars(checked_, start));
  if (scalar.anchor != nullptr || scalar.tag != nullptr)
    start = PL_TRY(start_of_content(start, end));
  checked_ = end;
  if (is_block_style(scalar.style)) return check_block_head(start);
  if (scalar.style == YAML_PLAIN_SCALAR_STYLE) return check_plain(start, end, in_flow);
  return {};
}

Result<void> YamlStrictness::check_plain(std::size_t from, std::size_t to, bool in_flow) const {
  const std::string_view plain = text_.text().substr(from, to - from);
  const std::size_t tab = plain.find('\t');
  if (tab != std::string_view::npos) return tab_error(from + tab);
  const std::size_t question = in_flow ? plain.find('?') : std::string_view::npos;
  if (question == std::string_view::npos) return {};
  return text_.error_at("'?' inside of [] or {} must be in quotes", from + question);
}

std::size_t YamlStrictness::offset_of(const yaml_mark_t& mark) {
  const std::string_view text = text_.text();
  if (is_ascii_) return std::min(mark.index, text.size());
  while (seen_characters_ > mark.index) {
    do --seen_bytes_;
    while (!begins_character(text[seen_bytes_]));
    --seen_characters_;
  }
  while (seen_bytes_ < text.size() && seen_characters_ < mark.index) {
    do ++seen_bytes_;
    while (seen_bytes_ < text.size() && !begins_character(text[seen_bytes_]));
    ++seen_characters_;
  }
  return seen_bytes_;
}

/// Nothing but indicators, tags, anchors, aliases and comments: none of them are parted by tabs.
Result<void> YamlStrictness::check_between_scalars(std::size_t from, std::size_t to) const {
  for (std::size_t at = from; at < to;) {
    if (text_.text()[at] == '\t') return tab_error(at);
    const std::size_t end = end_of_comment_or_property(text_.text(), at);
    at = end > at ? end : at + 1;
  }
  return {};
}

/// A scalar's event begins with its anchor and its tag; this finds where its own text begins.
Result<std::size_t> YamlStrictness::start_of_content(std::size_t from, std::size_t to) const {
  const std::string_view text = text_.text();
  for (std::size_t at = from; at < to;) {
    if (text[at] == '\t') return tab_error(at);
    const std::size_t end = end_of_comment_or_property(text, at);
    if (end == at && !is_space_or_break(text, at)) return at;
    at = end > at ? end : at + 1;
  }
  return to;
}

/// `|`, `>-`, `|2+` and so on must be followed by a space or the end of the line, and then by
/// nothing but spaces and a comment.
Result<void> YamlStrictness::check_block_head(std::size_t from) const {
  const std::string_view text = text_.text();
  std::size_t at = std::min(text.find_first_not_of("|>+-0123456789", from), text.size());
  if (at < text.size() && text[at] == '#') {
    return text_.error_at("a comment needs a space in front of it", at);
  }
  at = std::min(text.find_first_not_of(' ', at), text.size());
  if (at < text.size() && text[at] == '\t') return tab_error(at);
  return {};
}

Error YamlStrictness::tab_error(std::size_t offset) const {
  return text_.error_at("a tab may stand only in quotes, comments and block text: use spaces",
                        offset);
}

}  // namespace profline
