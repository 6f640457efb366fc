#include "comparison_text.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "comparison/row_text.h"

namespace profline {
namespace {

using namespace comparison;
using Align = TextTable::Align;

constexpr std::size_t kDifferences = 12;

std::string side_line(std::string_view name, const std::vector<ComparedRun>& side) {
  const ComparedRun& first = side.front();
  std::string line = fmt::format("{}  {}", name, printable(side_text(side)));
  if (!first.experiment.empty()) line += ", '" + printable(first.experiment) + "'";
  for (const std::string& fact : {first.device, first.host, first.commit}) {
    if (!fact.empty()) line += ", " + printable(fact);
  }
  return line + '\n';
}

std::string difference_text(const Difference& difference) {
  const std::string name = printable(difference.key) + ": ";
  if (!difference.a) return "+ " + name + printable(difference.b.value_or(""));
  if (!difference.b) return "- " + name + printable(*difference.a);
  return name + printable(*difference.a) + " -> " + printable(*difference.b);
}

std::string differences(const Comparison& comparison, std::size_t width, const Palette& palette) {
  std::string text;
  for (const DifferenceList& list : difference_lists(comparison)) {
    const std::string none = no_difference_text(comparison, list);
    const std::string title = palette.heading(pad_width(list.title, 13));
    if (!none.empty()) {
      text += title + palette.faint(none) + '\n';
      continue;
    }
    const std::size_t all = list.differences->size();
    for (std::size_t i = 0; i < std::min(all, kDifferences); ++i) {
      const std::string lead = i == 0 ? title : std::string(13, ' ');
      text += lead + fit_width(difference_text((*list.differences)[i]), width - 13) + '\n';
    }
    if (all > kDifferences) {
      text += palette.faint(fmt::format("{:13}and {} more\n", "", all - kDifferences));
    }
  }
  return text;
}

std::string table(const Section& section, std::size_t top, std::size_t width,
                  const Palette& palette) {
  std::vector<TextTable::Column> columns = {{"A"},
                                            {"B"},
                                            {"change"},
                                            {"interval", Align::Right, false, 1},
                                            {"verdict", Align::Left},
                                            {"could see", Align::Right, false, 3}};
  if (section.has_clocks) columns.push_back({"equal clocks", Align::Right, false, 2});
  if (section.has_calls) columns.push_back({"calls", Align::Right, false, 4});
  columns.push_back({"", Align::Left, true});
  TextTable rows(columns);
  for (std::size_t i = 0; i < std::min(top, section.rows.size()); ++i) {
    const Row& row = *section.rows[i];
    std::vector<std::string> cells = {
        value_text(row.a, row.unit), value_text(row.b, row.unit), change_cell(row),
        interval_text(row),          verdict_text(row),           smallest_text(row)};
    if (section.has_clocks) cells.push_back(change_text(row.change_at_equal_clocks));
    if (section.has_calls) cells.push_back(calls_text(row));
    cells.push_back(row.shape.empty() ? row.short_name : row.short_name + " " + row.shape);
    rows.add(std::move(cells));
  }
  std::string text = rows.render(width, palette);
  if (section.rows.size() > top) {
    text += palette.faint(fmt::format("  and {} more\n", section.rows.size() - top));
  }
  if (section.has_stars) text += palette.faint(fmt::format("  * {}\n", kPairedNote));
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, std::size_t top, std::size_t width,
                            const Palette& palette) {
  std::string text = side_line("A", comparison.a) + side_line("B", comparison.b) + '\n';
  text += differences(comparison, width, palette);
  for (const std::string& note : comparison.notes) {
    text += palette.warning("note") + "         " + printable(note) + '\n';
  }
  for (const Section& section : sections_of(comparison)) {
    const bool is_captured = section.family == Family::Operator || section.family == Family::Kernel;
    text +=
        '\n' + palette.heading(section.title) + "  " + palette.faint(section.explanation) + '\n';
    text += table(section, is_captured ? top : section.rows.size(), width, palette);
  }
  text += '\n' + palette.heading(printable(tally_text(comparison))) + '\n';
  for (const std::string& reason : withheld_texts(comparison)) text += printable(reason) + '\n';
  text += palette.faint(fmt::format(
      "changes up to {:.3g} % do not matter; {:.0f} % intervals; 'could see' is the smallest "
      "change "
      "that would\nhave been found 4 times in 5; run-to-run spread: {}\n",
      100 * comparison.threshold, 100 * comparison.confidence, printable(comparison.run_spread)));
  return text;
}

}  // namespace profline
