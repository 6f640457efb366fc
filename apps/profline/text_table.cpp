#include "text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 16;  // of the column that stretches

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  if (align == TextTable::Align::Left) return pad_width(cell, width);
  const std::size_t own = display_width(cell);
  return std::string(width > own ? width - own : 0, ' ') + cell;
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

std::string TextTable::render(std::size_t width, const Palette& palette) const {
  std::vector<std::size_t> widths;
  std::size_t fixed = kGap * columns_.size();  // the indent counts as a gap
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = display_width(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
    widths.push_back(widest);
    if (!columns_[i].stretches) fixed += widest;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].stretches) continue;
    const std::size_t left = width > fixed + kNarrowest ? width - fixed : kNarrowest;
    widths[i] = std::min(widths[i], left);
  }
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text.append(kGap, ' ');
      text += padded(fit_width(cell_of(i), widths[i]), widths[i], columns_[i].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string out = palette.faint(line([&](std::size_t i) { return columns_[i].title; })) + '\n';
  for (const auto& row : rows_) out += line([&](std::size_t i) { return row[i]; }) + '\n';
  return out;
}

std::size_t output_width() {
  constexpr std::size_t kElsewhere = 120;
  constexpr std::size_t kSmallest = 60;
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return kElsewhere;
  }
  return std::max<std::size_t>(size.ws_col, kSmallest);
}

}  // namespace profline
