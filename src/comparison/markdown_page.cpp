#include <algorithm>

#include <fmt/format.h>

#include "comparison/pages.h"
#include "comparison/row_text.h"
#include "formats/markdown.h"

namespace profline::comparison {
namespace {

using markdown::code;
using markdown::plain;
using Table = markdown::Table;
using Align = Table::Align;

constexpr std::size_t kDifferences = 30;

std::string verdict_mark(const Row& row) {
  const std::string text = verdict_text(row);
  const bool stands_out = row.verdict && *row.verdict != Verdict::Undecided;
  return stands_out ? "**" + text + "**" : text;
}

std::string section_table(const Section& section, std::size_t top) {
  std::vector<Table::Column> columns = {{"", Align::Left}, {"A"},        {"B"},
                                        {"change"},        {"interval"}, {"verdict", Align::Left},
                                        {"could see"}};
  if (section.has_clocks) columns.push_back({"at equal clocks"});
  if (section.has_calls) columns.push_back({"calls"});
  Table table(columns);
  for (std::size_t i = 0; i < std::min(top, section.rows.size()); ++i) {
    const Row& row = *section.rows[i];
    const std::string shape = row.shape.empty() ? "" : " " + plain(row.shape);
    std::vector<std::string> cells = {code(row.short_name) + shape,
                                      value_text(row.a, row.unit),
                                      value_text(row.b, row.unit),
                                      change_cell(row),
                                      interval_text(row),
                                      verdict_mark(row),
                                      smallest_text(row)};
    if (section.has_clocks) cells.push_back(change_text(row.change_at_equal_clocks));
    if (section.has_calls) cells.push_back(calls_text(row));
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (section.rows.size() > top) {
    text += fmt::format("\nand {} more\n", section.rows.size() - top);
  }
  if (section.has_stars) text += fmt::format("\n\\* {}\n", kPairedNote);
  return text;
}

std::string folded(const std::string& title, const std::string& body) {
  return "<details><summary>" + title + "</summary>\n\n" + body + "\n</details>\n\n";
}

std::string differences(const DifferenceList& list) {
  Table table({{"", Align::Left}, {"A", Align::Left}, {"B", Align::Left}});
  for (std::size_t i = 0; i < std::min(kDifferences, list.differences->size()); ++i) {
    const Difference& difference = (*list.differences)[i];
    table.add(
        {code(difference.key), code(difference.a.value_or("")), code(difference.b.value_or(""))});
  }
  std::string text = table.text();
  if (list.differences->size() > kDifferences) {
    text += fmt::format("\nand {} more\n", list.differences->size() - kDifferences);
  }
  return text;
}

}  // namespace

std::string markdown_page(const Comparison& comparison, const PageOptions& options) {
  std::string text = "### profline compare: " + plain(tally_text(comparison)) + "\n\n";
  for (const std::string& reason : withheld_texts(comparison)) text += plain(reason) + "\n\n";
  text += "A: " + code(side_text(comparison.a)) + ", B: " + code(side_text(comparison.b)) + "\n\n";
  if (comparison.differences.same_inputs == std::optional(false)) {
    text += "**The sides read different inputs.**\n\n";
  }
  for (const std::string& note : comparison.notes) text += "- " + plain(note) + "\n";
  if (!comparison.notes.empty()) text += '\n';
  for (const DifferenceList& list : difference_lists(comparison)) {
    const std::string none = no_difference_text(comparison, list);
    const std::string title = std::string(list.title) + ": ";
    text += none.empty() ? folded(fmt::format("{}{} differences", title, list.differences->size()),
                                  differences(list))
                         : title + none + "\n\n";
  }
  for (const Section& section : sections_of(comparison)) {
    const bool is_captured = section.family == Family::Operator || section.family == Family::Kernel;
    const std::string title = fmt::format("{} ({})", section.title, section.explanation);
    const std::string table = section_table(section, is_captured ? options.top : SIZE_MAX);
    text += is_captured ? folded(title, table) : "**" + title + "**\n\n" + table + '\n';
  }
  text += fmt::format(
      "<sub>Changes up to {:.3g} % do not matter; {:.0f} % intervals; 'could see' is the smallest "
      "change that would have been found 4 times in 5. Run-to-run spread: {}.</sub>\n",
      100 * comparison.threshold, 100 * comparison.confidence, plain(comparison.run_spread));
  return text;
}

}  // namespace profline::comparison
