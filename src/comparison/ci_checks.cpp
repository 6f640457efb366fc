#include "comparison/ci_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "comparison/row_text.h"
#include "formats/markup.h"
#include "schema/docs.h"
#include "schema/read.h"

namespace profline::comparison {
namespace {

using Outcome = Check::Outcome;

std::size_t count_of(std::span<const Check> checks, Outcome outcome) {
  return static_cast<std::size_t>(std::count_if(
      checks.begin(), checks.end(), [&](const Check& check) { return check.outcome == outcome; }));
}

/// The value of a workflow command's property; in its message, `:` and `,` are ordinary.
std::string command_text(std::string_view text, bool is_property) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string command(std::string_view kind, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", kind, command_text(title, true),
                     command_text(message, false));
}

std::string row_words(const Row& row) {
  std::string text = fmt::format("{} to {}, {}", value_text(row.a, row.unit),
                                 value_text(row.b, row.unit), change_text(row.change));
  const std::string interval = interval_text(row);
  if (row.low && row.high) text += " (" + interval + ")";
  if (!row.withheld.empty()) text += ": " + row.withheld;
  return text;
}

}  // namespace

std::vector<Check> checks_of(const Comparison& comparison) {
  std::vector<Check> checks;
  for (const Row& row : comparison.rows) {
    if (!row.verdict) continue;
    Check check;
    check.group = std::string(schema::name_of(row.family));
    check.name = row.shape.empty() ? row.short_name : row.short_name + " " + row.shape;
    check.text = verdict_text(row) + ": " + row_words(row);
    const bool counts = std::find(comparison.regressions.begin(), comparison.regressions.end(),
                                  row.name) != comparison.regressions.end();
    if (*row.verdict == Verdict::Slower && counts) check.outcome = Outcome::Failed;
    if (*row.verdict == Verdict::Undecided) check.outcome = Outcome::Undecided;
    checks.push_back(std::move(check));
  }
  return checks;
}

std::string junit_report(std::string_view suite, std::span<const Check> checks) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\"", checks.size(),
                  count_of(checks, Outcome::Failed), count_of(checks, Outcome::Undecided));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts + ">\n";
  text += fmt::format("  <testsuite name=\"{}\" {}>\n", html_text(suite), counts);
  for (const Check& check : checks) {
    text += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\"", html_text(suite),
                        html_text(check.group), html_text(check.name));
    const std::string found = html_text(check.text);
    if (check.outcome == Outcome::Failed) {
      text += fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n", found);
    } else if (check.outcome == Outcome::Undecided) {
      text += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", found);
    } else {
      text += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", found);
    }
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string github_annotations(std::string_view title, std::span<const Check> checks) {
  std::string text;
  for (const Check& check : checks) {
    if (check.outcome != Outcome::Failed) continue;
    text += command("error", fmt::format("{}: {}", title, check.name), check.text);
  }
  const std::size_t failed = count_of(checks, Outcome::Failed);
  const std::size_t undecided = count_of(checks, Outcome::Undecided);
  if (failed > 0) return text;
  if (!checks.empty() && undecided == checks.size()) {
    return command("warning", title, "nothing could be decided: " + checks.front().text);
  }
  return command("notice", title,
                 fmt::format("no regression in {}; {} undecided", counted(checks.size(), "metric"),
                             undecided));
}

}  // namespace profline::comparison
