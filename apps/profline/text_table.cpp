#include "text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 16;  // minimum width of the stretching column

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  if (align == TextTable::Align::Left) return pad_width(cell, width);
  const std::size_t own = display_width(cell);
  return std::string(width > own ? width - own : 0, ' ') + cell;
}

/// Nothing if stdout is not a terminal, or is one without a known width.
std::optional<std::size_t> terminal_width() {
  constexpr std::size_t kSmallest = 40;
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return std::nullopt;
  }
  return std::max<std::size_t>(size.ws_col, kSmallest);
}

/// The start of a line's last column: after the last run of blanks in its first half.
std::size_t last_column(std::string_view line, std::size_t width) {
  std::size_t column = line.find_first_not_of(' ');
  for (std::size_t at = line.find("  "); at < width / 2; at = line.find("  ", at)) {
    at = line.find_first_not_of(' ', at);
    if (at >= width / 2) break;
    column = at;
  }
  return column;
}

std::string wrap_line(std::string_view line, std::size_t width) {
  if (trim(line).starts_with("$ ") || display_width(line) <= width) return std::string(line);
  const std::size_t column = last_column(line, width);
  const std::string_view before = line.substr(0, column);
  return std::string(before) + wrap_words(line.substr(column), width, display_width(before));
}

}  // namespace

std::string Palette::paint(std::string_view code, std::string_view text) const {
  if (!in_color_) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

void TextTable::add(std::vector<std::string> cells) {
  PL_ASSERT(cells.size() == columns_.size(), "a row has a cell for each column");
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = display_width(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
    widths.push_back(widest);
  }
  return widths;
}

std::vector<std::size_t> TextTable::shown_columns(std::size_t width,
                                                  const std::vector<std::size_t>& widths) const {
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  const auto needed = [&] {
    std::size_t sum = 0;
    for (const std::size_t i : shown) {
      sum += kGap + (columns_[i].stretches ? std::min(widths[i], kNarrowest) : widths[i]);
    }
    return sum;
  };
  const auto spare_of = [&](std::size_t a, std::size_t b) {
    return columns_[a].spare < columns_[b].spare;
  };
  while (needed() > width) {
    const auto next = std::max_element(shown.begin(), shown.end(), spare_of);
    if (next == shown.end() || columns_[*next].spare == 0) break;
    shown.erase(next);
  }
  return shown;
}

std::string TextTable::left_out(const std::vector<std::size_t>& shown) const {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (std::find(shown.begin(), shown.end(), i) == shown.end())
      titles.push_back(columns_[i].title);
  }
  return titles.empty() ? "" : "  not shown at this width: " + join(titles, ", ") + '\n';
}

std::string TextTable::render(std::size_t width, const Palette& palette) const {
  std::vector<std::size_t> widths = natural_widths();
  const std::vector<std::size_t> shown = shown_columns(width, widths);
  std::size_t fixed = kGap * shown.size();  // the indent counts as a gap
  for (const std::size_t i : shown) fixed += columns_[i].stretches ? 0 : widths[i];
  for (const std::size_t i : shown) {
    if (!columns_[i].stretches) continue;
    const std::size_t left = width > fixed + kNarrowest ? width - fixed : kNarrowest;
    widths[i] = std::min(widths[i], left);
  }
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t i : shown) {
      text.append(kGap, ' ');
      text += padded(fit_width(cell_of(i), widths[i]), widths[i], columns_[i].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string out = palette.faint(line([&](std::size_t i) { return columns_[i].title; })) + '\n';
  for (const auto& row : rows_) out += line([&](std::size_t i) { return row[i]; }) + '\n';
  const std::string missing = left_out(shown);
  return missing.empty() ? out : out + palette.faint(missing);
}

std::size_t output_width() {
  constexpr std::size_t kElsewhere = 120;
  return terminal_width().value_or(kElsewhere);
}

std::string for_terminal(std::string text) {
  const std::optional<std::size_t> width = terminal_width();
  return width ? wrap_lines(text, *width) : text;
}

std::string wrap_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += wrap_line(text.substr(0, end), width);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace profline
