#include "inputs/dataset/internal/page_blocks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace profline::dataset::internal {
namespace {

constexpr std::string_view kAdjectives[] = {"shared", "local",  "early",  "second",   "narrow",
                                            "steady", "large",  "quiet",  "written",  "common",
                                            "annual", "public", "simple", "measured", "northern",
                                            "recent", "final",  "open",   "small",    "old"};
constexpr std::string_view kNouns[] = {
    "cache",   "record", "harbour", "letter",  "budget",  "survey", "river",  "kernel", "archive",
    "market",  "bridge", "model",   "library", "queue",   "garden", "report", "sample", "engine",
    "council", "window", "meter",   "ledger",  "station", "index",  "signal", "forest"};
constexpr std::string_view kVerbs[] = {"follows",  "describes", "explains", "limits",
                                       "supports", "replaces",  "exceeds",  "confirms",
                                       "contains", "reaches",   "reduces",  "precedes"};
constexpr std::string_view kOpenings[] = {
    "In most years",   "After the first week", "As the table shows",
    "By contrast",     "Before the winter",    "On the other hand",
    "For this reason", "At the same time",     "According to the survey"};
constexpr std::string_view kEndings[] = {"within a few days",    "without further cost",
                                         "in nearly every case", "at about the same rate",
                                         "for the whole period", "under load",
                                         "as expected",          "more often than not"};
constexpr std::string_view kParticiples[] = {"Measuring", "Reading", "Planning", "Comparing",
                                             "Restoring", "Mapping", "Notes on", "A History of"};
constexpr std::string_view kFirstNames[] = {"Ada", "Emil", "Ines", "Jonas", "Mara", "Otto", "Ruth"};
constexpr std::string_view kLastNames[] = {"Berg",      "Castell", "Holm",
                                           "Lindqvist", "Moreno",  "Reuter"};

/// `the narrow harbour`, `the ledger`.
std::string noun_phrase(Random& random) {
  std::string phrase = "the ";
  if (random.below(3) > 0) phrase.append(random.pick(kAdjectives)).append(" ");
  return phrase.append(random.pick(kNouns));
}

using images::Colour;
using images::Rectangle;

constexpr Colour kInk{28, 28, 34};
constexpr Colour kGreyInk{110, 110, 118};
constexpr Colour kShade{228, 232, 240};
constexpr Colour kBarColours[] = {{46, 92, 150}, {184, 92, 50}, {70, 130, 80}};

constexpr std::int64_t kLineHeight = 12;  // in units, as all lengths here
constexpr std::int64_t kGap = 8;          // between blocks

/// Words in lines of at most `width` characters, the first of them shorter by `indent`.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> result;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t room = width - (result.empty() ? std::min(indent, width) : 0);
    if (!line.empty() && line.size() + 1 + word.size() > room) {
      result.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) result.push_back(std::move(line));
  return result;
}

}  // namespace

std::string title(Random& random) {
  std::string text(random.pick(kParticiples));
  text.append(" the ").append(capitalised(std::string(random.pick(kAdjectives))));
  return text.append(" ").append(capitalised(std::string(random.pick(kNouns))));
}

std::string term(Random& random) {
  std::string text = capitalised(std::string(random.pick(kAdjectives)));
  return text.append(" ").append(random.pick(kNouns));
}

std::string sentence(Random& random) {
  std::string text;
  if (random.below(3) == 0) {
    text.append(random.pick(kOpenings)).append(", ").append(noun_phrase(random));
  } else {
    text = capitalised(noun_phrase(random));
  }
  text.append(" ").append(random.pick(kVerbs)).append(" ").append(noun_phrase(random));
  switch (random.below(4)) {
    case 0:
      text.append(" ").append(random.pick(kEndings));
      break;
    case 1:
      text.append(", and ").append(noun_phrase(random)).append(" ");
      text.append(random.pick(kVerbs)).append(" ").append(noun_phrase(random));
      break;
    case 2:
      text.append(" by ").append(std::to_string(random.between(2, 98))).append(" percent");
      break;
    default:
      break;
  }
  return text.append(".");
}

std::string paragraph(Random& random, std::size_t sentences) {
  std::string text;
  for (std::size_t i = 0; i < sentences; ++i) {
    if (i > 0) text += ' ';
    text += sentence(random);
  }
  return text;
}

std::string figure_number(Random& random) {
  const auto digits = [&](std::int64_t least, std::int64_t most) {
    return std::to_string(random.between(least, most));
  };
  switch (random.below(3)) {
    case 0: {
      std::string text = digits(1, 98);
      return text.append(".").append(digits(0, 9));
    }
    case 1: {
      std::string text = "0.";
      return text.append(digits(10, 99));
    }
    default: {
      std::string text = digits(1, 9);
      return text.append(",").append(digits(100, 999));
    }
  }
}

std::string author(Random& random) {
  std::string text(random.pick(kFirstNames));
  return text.append(" ").append(random.pick(kLastNames));
}

void Canvas::text(std::int64_t x, std::int64_t y, std::string_view text, Colour colour) {
  images::draw_text(picture_, x, y, text, {.colour = colour, .scale = scale_});
}

bool Canvas::heading(Column& column, std::string_view text, std::uint32_t size) {
  const std::uint32_t scale = scale_ * size;
  const std::int64_t cell = std::int64_t{images::kGlyphWidth} * scale;
  const std::int64_t line_height = std::int64_t{images::kGlyphHeight + 2} * scale;
  if (column.width < cell * 4) return false;
  const auto lines = wrapped(text, static_cast<std::size_t>(column.width / cell), 0);
  const std::int64_t height = line_height * static_cast<std::int64_t>(lines.size());
  if (height > column.room()) return false;
  for (const std::string& line : lines) {
    images::draw_text(
        picture_, column.x, column.y, line,
        {.colour = size > 1 ? kInk : kBarColours[0], .scale = scale, .bold = size > 1});
    column.y += line_height;
  }
  column.y += units(kGap / 2);
  return true;
}

bool Canvas::note(Column& column, std::string_view words) {
  if (column.room() < units(kLineHeight) || images::text_width(words, scale_) > column.width) {
    return false;
  }
  text(column.x, column.y, words, kGreyInk);
  column.y += units(kLineHeight);
  return true;
}

bool Canvas::rule(Column& column) {
  if (column.room() < units(kGap)) return false;
  images::fill(picture_, {column.x, column.y, column.width, units(1)}, kGreyInk);
  column.y += units(kGap);
  return true;
}

/// `spare` pixels are spread over the gaps between words.
void Canvas::line(std::int64_t x, std::int64_t y, std::string_view words, std::int64_t spare) {
  const auto parts = split(words, ' ');
  const auto gaps = static_cast<std::int64_t>(parts.size()) - 1;
  std::int64_t drawn = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t shift =
        gaps > 0 ? spare * static_cast<std::int64_t>(i) / gaps : std::int64_t{0};
    text(x + drawn + shift, y, parts[i], kInk);
    drawn += images::text_width(parts[i], scale_) + units(images::kGlyphWidth);
  }
}

bool Canvas::lines(Column& column, std::string_view words, std::int64_t indent, bool is_justified) {
  const std::int64_t cell = units(images::kGlyphWidth);
  const auto width = static_cast<std::size_t>(column.width / cell);
  if (width < 12 || column.room() < units(kLineHeight)) return false;
  // In narrower columns the gaps would be wider than words.
  const bool is_even = is_justified && width >= 24;
  const auto rows = wrapped(words, width, static_cast<std::size_t>(indent));
  for (std::size_t i = 0; i < rows.size() && column.room() >= units(kLineHeight); ++i) {
    const std::int64_t shift = i == 0 ? indent * cell : 0;
    const std::int64_t used = shift + images::text_width(rows[i], scale_);
    const bool is_last = i + 1 == rows.size();
    line(column.x + shift, column.y, rows[i],
         is_even && !is_last ? std::max<std::int64_t>(column.width - used, 0) : 0);
    column.y += units(kLineHeight);
  }
  column.y += units(kGap / 2);
  return true;
}

bool Canvas::paragraph(Column& column, std::string_view words) {
  return lines(column, words, 2, true);
}

bool Canvas::bullet(Column& column, std::string_view words) {
  Column inner = column;
  inner.x += units(14);
  inner.width -= units(14);
  if (!lines(inner, words, 0, false)) return false;
  images::fill(picture_, {column.x + units(3), column.y + units(2), units(4), units(4)},
               kBarColours[0]);
  column.y = inner.y;
  return true;
}

bool Canvas::caption(Column& column, std::string_view kind, std::uint32_t number, Random& random) {
  std::string words(kind);
  words.append(" ").append(std::to_string(number)).append(". ").append(term(random));
  column.y += units(kGap / 2);
  const bool has_room = note(column, words);
  column.y += units(kGap);
  return has_room;
}

bool Canvas::table(Column& column, Random& random, std::uint32_t number) {
  constexpr std::int64_t kRowHeight = 15;
  constexpr std::int64_t kNameWidth = 120;
  constexpr std::int64_t kCellWidth = 56;
  const std::int64_t rows = random.between(4, 7);
  const std::int64_t cells =
      std::min<std::int64_t>((column.width - units(kNameWidth)) / units(kCellWidth), 5);
  const std::int64_t height = units(kRowHeight) * (rows + 1);
  if (cells < 2 || height + units(3 * kLineHeight) > column.room()) return false;

  const std::int64_t cell_width = (column.width - units(kNameWidth)) / cells;
  images::fill(picture_, {column.x, column.y, column.width, units(kRowHeight)}, kShade);
  for (std::int64_t row = 0; row <= rows; ++row) {
    const std::int64_t y = column.y + row * units(kRowHeight);
    text(column.x + units(5), y + units(4), row == 0 ? "Item" : term(random), kInk);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const std::string content = row == 0 ? std::to_string(2019 + cell) : figure_number(random);
      const std::int64_t right = column.x + units(kNameWidth) + (cell + 1) * cell_width - units(6);
      text(right - images::text_width(content, scale_), y + units(4), content, kInk);
    }
    images::fill(picture_, {column.x, y, column.width, units(row <= 1 ? 1 : 0)}, kInk);
    if (row > 1) images::fill(picture_, {column.x, y, column.width, 1}, kGreyInk);
  }
  images::fill(picture_, {column.x, column.y + height, column.width, units(1)}, kInk);
  images::fill(picture_, {column.x + units(kNameWidth) - units(4), column.y, 1, height}, kGreyInk);
  column.y += height;
  caption(column, "Table", number, random);
  return true;
}

/// Axes with tick marks; returns the area that they enclose.
Rectangle Canvas::axes(Column& column, std::int64_t height) {
  const std::int64_t left = column.x + units(28);
  const std::int64_t bottom = column.y + height;
  for (std::int64_t mark = 0; mark <= 4; ++mark) {
    const std::int64_t y = bottom - mark * (height - units(8)) / 4;
    if (mark > 0) images::fill(picture_, {left, y, column.width - units(28), 1}, kShade);
    images::fill(picture_, {left - units(3), y, units(3), units(1)}, kInk);
    const std::string label = std::to_string(mark * 25);
    text(left - units(5) - images::text_width(label, scale_), y - units(4), label, kGreyInk);
  }
  images::fill(picture_, {left, column.y, units(1), height}, kInk);
  images::fill(picture_, {left, bottom, column.width - units(28), units(1)}, kInk);
  return {left, column.y + units(8), column.width - units(28), height - units(8)};
}

bool Canvas::bar_chart(Column& column, Random& random, std::uint32_t number) {
  const std::int64_t height = std::min(units(150), column.width * 3 / 5);
  if (column.width < units(120) || height + units(4 * kLineHeight) > column.room()) return false;
  const Rectangle plot = axes(column, height);
  const std::int64_t groups = std::clamp<std::int64_t>(plot.width / units(44), 2, 7);
  const std::int64_t step = plot.width / groups;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t x = plot.x + group * step + step / 8;
    for (std::int64_t bar = 0; bar < 2; ++bar) {
      const std::int64_t length = plot.height * random.between(15, 100) / 100;
      images::fill(picture_,
                   {x + bar * step * 3 / 8, plot.y + plot.height - length, step * 5 / 16, length},
                   kBarColours[bar]);
    }
    const std::string label(1, static_cast<char>('A' + group));
    text(x + step * 5 / 16, plot.y + plot.height + units(4), label, kInk);
  }
  column.y += height + units(kLineHeight);
  caption(column, "Figure", number, random);
  return true;
}

bool Canvas::curve(Column& column, Random& random, std::uint32_t number) {
  const std::int64_t height = std::min(units(150), column.width * 3 / 5);
  if (column.width < units(120) || height + units(4 * kLineHeight) > column.room()) return false;
  const Rectangle plot = axes(column, height);
  for (const Colour& colour : kBarColours) {
    constexpr std::int64_t kPieces = 8;
    std::int64_t level = random.between(10, 60);
    for (std::int64_t piece = 0; piece < kPieces; ++piece) {
      const std::int64_t next = std::clamp<std::int64_t>(level + random.between(-12, 22), 3, 97);
      const std::int64_t from = plot.width * piece / kPieces;
      const std::int64_t to = plot.width * (piece + 1) / kPieces;
      for (std::int64_t x = from; x < to; ++x) {
        const std::int64_t percent_of_step = (level * (to - x) + next * (x - from)) * plot.height;
        const std::int64_t y = percent_of_step / (to - from) / 100;
        images::fill(picture_, {plot.x + x, plot.y + plot.height - y, 1, units(2)}, colour);
      }
      level = next;
    }
  }
  column.y += height + units(kLineHeight / 2);
  caption(column, "Figure", number, random);
  return true;
}

void Canvas::page_number(std::uint32_t number, std::int64_t y) {
  const std::string label = std::to_string(number);
  const std::int64_t width = images::text_width(label, scale_);
  text((static_cast<std::int64_t>(picture_.width) - width) / 2, y, label, kGreyInk);
}

}  // namespace profline::dataset::internal
