#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "comparison/compare.h"
#include "comparison/row_text.h"
#include "formats/markup.h"

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
                                        {"detectable"}};
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

constexpr std::size_t kNameWidth = 90;

// Verdicts also differ in weight and sign, so that nobody depends on the colours.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>profline compare</title>
<style>
:root { color-scheme: light dark; --line: #8884; --faint: #777; --slower: #b3400a; --faster: #0b62b0; }
@media (prefers-color-scheme: dark) { :root { --faint: #aaa; --slower: #ff9d66; --faster: #7ab8ff; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.35rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h2 small { color: var(--faint); font-weight: normal; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
th.l, td.l { text-align: left; }
code { font-size: .92em; }
.SLOWER { color: var(--slower); font-weight: 700; } .FASTER { color: var(--faster); font-weight: 700; }
.UNDECIDED, .none { color: var(--faint); }
.warn { border-left: 4px solid var(--slower); padding: .3rem .8rem; }
footer { color: var(--faint); margin-top: 2rem; font-size: .9em; }
@media print { body { max-width: none; } .scroll { overflow: visible; } }
</style>
</head>
<body>
)";

/// A name that may be long: shortened, with the whole name as a tooltip.
std::string name_cell(const Row& row) {
  const std::string shown = fit_width(printable(row.short_name), kNameWidth);
  const std::string shape =
      row.shape.empty() ? "" : " <span class=\"none\">" + html_text(row.shape) + "</span>";
  return "<code title=\"" + html_text(row.name) + "\">" + html_text(shown) + "</code>" + shape;
}

std::string cell(const std::string& text, std::string_view css = {}) {
  return css.empty() ? "<td>" + text + "</td>" : fmt::format("<td class=\"{}\">{}</td>", css, text);
}

std::string verdict_cell(const Row& row) {
  const std::string text = verdict_text(row);
  return cell(text, "l " + (row.verdict ? text : std::string("none")));
}

std::string section_html(const Section& section, std::size_t top) {
  std::string text = fmt::format("<h2>{} <small>{}</small></h2>\n<div class=\"scroll\"><table>\n",
                                 section.title, section.explanation);
  text +=
      "<tr><th class=\"l\"></th><th>A</th><th>B</th><th>change</th><th>interval</th>"
      "<th class=\"l\">verdict</th><th>detectable</th>";
  if (section.has_clocks) text += "<th>at equal clocks</th>";
  if (section.has_calls) text += "<th>calls</th>";
  text += "</tr>\n";
  for (std::size_t i = 0; i < std::min(top, section.rows.size()); ++i) {
    const Row& row = *section.rows[i];
    text += "<tr>" + cell(name_cell(row), "l") + cell(html_text(value_text(row.a, row.unit))) +
            cell(html_text(value_text(row.b, row.unit))) + cell(change_cell(row)) +
            cell(interval_text(row)) + verdict_cell(row) + cell(smallest_text(row));
    if (section.has_clocks) text += cell(change_text(row.change_at_equal_clocks));
    if (section.has_calls) text += cell(html_text(calls_text(row)));
    text += "</tr>\n";
  }
  text += "</table></div>\n";
  if (section.rows.size() > top) {
    text += fmt::format("<p class=\"none\">and {} more</p>\n", section.rows.size() - top);
  }
  if (section.has_stars) text += fmt::format("<p class=\"none\">* {}</p>\n", kPairedNote);
  return text;
}

std::string runs_html(std::string_view side, const std::vector<ComparedRun>& runs) {
  std::string text = fmt::format("<p><b>{}</b> {}", side, html_text(side_text(runs)));
  const ComparedRun& first = runs.front();
  for (const std::string& fact : {first.experiment, first.device, first.host, first.commit}) {
    if (!fact.empty()) text += ", " + html_text(fact);
  }
  return text + "</p>\n";
}

std::string differences_html(const Comparison& comparison) {
  std::string text = "<h2>differences</h2>\n";
  for (const DifferenceList& list : difference_lists(comparison)) {
    const std::string none = no_difference_text(comparison, list);
    if (!none.empty()) {
      text += fmt::format("<p>{}: <span class=\"none\">{}</span></p>\n", list.title, none);
      continue;
    }
    text += fmt::format(
        "<details open><summary>{}: {}</summary><div class=\"scroll\"><table>\n"
        "<tr><th class=\"l\"></th><th class=\"l\">A</th><th class=\"l\">B</th></tr>\n",
        list.title, list.differences->size());
    for (const Difference& difference : *list.differences) {
      const auto side = [](const std::optional<std::string>& value) {
        return value ? "<code>" + html_text(*value) + "</code>" : std::string("–");
      };
      text += "<tr>" + cell("<code>" + html_text(difference.key) + "</code>", "l") +
              cell(side(difference.a), "l") + cell(side(difference.b), "l") + "</tr>\n";
    }
    text += "</table></div></details>\n";
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
    text += none.empty()
                ? folded(title + counted(list.differences->size(), "difference"), differences(list))
                : title + none + "\n\n";
  }
  for (const Section& section : sections_of(comparison)) {
    const std::string title = fmt::format("{} ({})", section.title, section.explanation);
    const std::string table =
        section_table(section, is_captured(section.family) ? options.top : SIZE_MAX);
    text +=
        is_captured(section.family) ? folded(title, table) : "**" + title + "**\n\n" + table + '\n';
  }
  text += fmt::format(
      "<sub>Changes up to {} do not matter; {} intervals; 'detectable' is the smallest "
      "change that would have been found 4 times in 5. Run-to-run spread: {}.</sub>\n",
      chosen_percent(comparison.threshold), chosen_percent(comparison.confidence),
      plain(comparison.run_spread));
  return text;
}

std::string html_page(const Comparison& comparison, const PageOptions& options) {
  std::string text(kHead);
  text += "<h1>" + html_text(tally_text(comparison)) + "</h1>\n";
  for (const std::string& reason : withheld_texts(comparison)) {
    text += "<p class=\"warn\">" + html_text(reason) + "</p>\n";
  }
  text += runs_html("A", comparison.a) + runs_html("B", comparison.b);
  for (const std::string& note : comparison.notes) {
    text += "<p class=\"warn\">" + html_text(note) + "</p>\n";
  }
  text += differences_html(comparison);
  for (const Section& section : sections_of(comparison)) {
    text += section_html(section, is_captured(section.family) ? options.top : SIZE_MAX);
  }
  text += fmt::format(
      "<footer>Changes up to {} do not matter; {} intervals. 'Could see' is the "
      "smallest "
      "change that would have been found 4 times in 5. Run-to-run spread: {}.</footer>\n"
      "</body>\n</html>\n",
      chosen_percent(comparison.threshold), chosen_percent(comparison.confidence),
      html_text(comparison.run_spread));
  return text;
}

}  // namespace profline::comparison
