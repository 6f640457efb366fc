#include "formats/markup.h"

#include <algorithm>

#include "base/error.h"
#include "base/terminal_text.h"

namespace profline {

std::string html_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '`':  // ended an attribute in old browsers
        safe += "&#96;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  return html_escaped(printable(text));
}

}  // namespace profline

namespace profline::markdown {

std::string plain(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]<>|~&$";
  const std::string safe = printable(text);
  std::string result;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    // A bare address would become a link.
    const bool is_address = safe[i] == ':' && safe.compare(i, 3, "://") == 0;
    if (is_address || kMarkup.find(safe[i]) != std::string_view::npos) result += '\\';
    result += safe[i];
  }
  return result;
}

std::string code(std::string_view text, std::size_t width) {
  if (text.empty()) return "–";
  const std::string safe = fit_width(printable(text), width);
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string content;
  for (const char c : safe) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') content += '\\';  // ends a cell of a table even inside code
    content += c;
  }
  const std::string fence(longest + 1, '`');
  const bool needs_blank = content.front() == '`' || content.back() == '`';
  const std::string blank = needs_blank ? " " : "";
  return fence + blank + content + blank + fence;
}

void Table::add(std::vector<std::string> cells) {
  PL_ASSERT(cells.size() == columns_.size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::string text = "|";
  for (const Column& column : columns_) text += ' ' + column.title + " |";
  text += "\n|";
  for (const Column& column : columns_) text += column.align == Align::Left ? ":--|" : "--:|";
  text += '\n';
  for (const auto& row : rows_) {
    text += '|';
    for (const std::string& cell : row) text += ' ' + cell + " |";
    text += '\n';
  }
  return text;
}

}  // namespace profline::markdown
