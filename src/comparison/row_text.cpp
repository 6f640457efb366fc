#include "comparison/row_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "schema/scalar_codecs.h"

namespace profline::comparison {
namespace {

constexpr std::string_view kNone = "–";

/// Percentages while they are readable; then factors, in plain digits.
std::string percent_or_factor(double change) {
  constexpr double kMostPercent = 9.995;
  return change < kMostPercent ? signed_percent(change) : factor(1 + change);
}

/// Whether the values of a row suggest a different change than the one shown. They are shown with
/// three digits, which alone accounts for half a percent.
bool is_of_pairs(const Row& row) {
  constexpr double kShown = 0.005;
  if (!row.paired || !row.a || !row.b || !row.change) return false;
  return std::abs(row.b->value / row.a->value - 1 - *row.change) > kShown;
}

bool is_unprofiled(const Row& row) {
  return !is_captured(row.family);
}

/// `request_ms +9.5 %, vision +20.1 % and 2 more`.
std::string changes_text(const std::vector<const Row*>& rows) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, rows.size()); ++i) {
    text += (text.empty() ? "" : ", ") + rows[i]->short_name + " " + change_text(rows[i]->change);
  }
  return rows.size() > kMost ? fmt::format("{} and {} more", text, rows.size() - kMost) : text;
}

}  // namespace

std::string value_text(const std::optional<Amount>& amount, std::string_view unit) {
  if (!amount) return std::string(kNone);
  if (unit == "ms") return human_duration(FractionalNanoseconds(amount->value * 1e6));
  if (unit == "%") return percent(amount->value / 100);
  if (unit == "us") return human_duration(FractionalNanoseconds(amount->value * 1e3));
  if (unit.ends_with("/s")) return human_rate(amount->value, unit.substr(0, unit.size() - 2));
  return human_count(amount->value);
}

std::string change_text(const std::optional<double>& change) {
  return change ? percent_or_factor(*change) : std::string(kNone);
}

std::string change_cell(const Row& row) {
  return change_text(row.change) + (is_of_pairs(row) ? " *" : "");
}

std::string interval_text(const Row& row) {
  if (!row.low || !row.high) return std::string(kNone);
  return percent_or_factor(*row.low) + " to " + percent_or_factor(*row.high);
}

std::string verdict_text(const Row& row) {
  if (row.verdict) return std::string(schema::name_of(*row.verdict));
  return row.a ? "only in A" : "only in B";
}

std::string smallest_text(const Row& row) {
  if (!row.smallest_effect) return std::string(kNone);
  const std::string text = percent_or_factor(*row.smallest_effect);
  return text.starts_with('+') ? text.substr(1) : text;
}

std::string calls_text(const Row& row) {
  const auto calls = [](const std::optional<Amount>& amount) {
    return amount && amount->calls ? std::to_string(*amount->calls) : std::string("0");
  };
  const bool has_calls = (row.a && row.a->calls) || (row.b && row.b->calls);
  if (!has_calls) return "";
  const std::string before = calls(row.a);
  const std::string after = calls(row.b);
  return before == after ? before : before + " -> " + after;
}

std::string side_text(const std::vector<ComparedRun>& side) {
  const std::filesystem::path first = side.front().folder;
  if (side.size() == 1) return first.string();
  const std::filesystem::path last = side.back().folder;
  return fmt::format("{} ({} runs, {} to {})", first.parent_path().string(), side.size(),
                     first.filename().string(), last.filename().string());
}

std::string tally_text(const Comparison& comparison) {
  constexpr std::array kOrder = {Verdict::Slower, Verdict::Faster, Verdict::Same,
                                 Verdict::Undecided};
  std::map<Verdict, std::vector<const Row*>> rows;
  for (const Row& row : comparison.rows) {
    if (row.verdict && is_unprofiled(row)) rows[*row.verdict].push_back(&row);
  }
  std::string text;
  for (const Verdict verdict : kOrder) {
    const auto& these = rows[verdict];
    if (these.empty()) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", these.size(), schema::name_of(verdict));
    const bool is_change = verdict == Verdict::Slower || verdict == Verdict::Faster;
    if (is_change) text += " (" + changes_text(these) + ")";
  }
  return text.empty() ? "no unprofiled measurement is on both sides" : text;
}

std::vector<std::string> withheld_texts(const Comparison& comparison) {
  std::vector<std::string> reasons;
  for (const Row& row : comparison.rows) {
    const bool is_known = std::find(reasons.begin(), reasons.end(), row.withheld) != reasons.end();
    if (!row.withheld.empty() && !is_known) reasons.push_back(row.withheld);
  }
  for (std::string& reason : reasons) {
    reason = "no verdict: " + reason + "; compare folders with several runs each";
  }
  return reasons;
}

std::vector<Section> sections_of(const Comparison& comparison) {
  std::vector<Section> sections = {
      {Family::Metric, "metrics", "per request, without a profiler", {}},
      {Family::Phase, "phases", "per request, without a profiler", {}},
      {Family::Step,
       "steps",
       "the server in the window, under a profiler: its median steps, the GPU, and what the "
       "profiler cost",
       {}},
      {Family::Rank, "ranks", "per rank, as captured", {}},
      {Family::Operator,
       "operators",
       "a call's own time on the host, under the torch profiler",
       {}},
      {Family::Kernel, "kernels", "per launch, under a profiler", {}}};
  for (const Row& row : comparison.rows) {
    for (Section& section : sections) {
      if (section.family != row.family) continue;
      section.rows.push_back(&row);
      section.has_clocks = section.has_clocks || row.change_at_equal_clocks.has_value();
      section.has_calls = section.has_calls || !calls_text(row).empty();
      section.has_stars = section.has_stars || is_of_pairs(row);
    }
  }
  for (Section& section : sections) {
    std::stable_partition(section.rows.begin(), section.rows.end(), [](const Row* row) {
      return row->verdict == std::optional(Verdict::Slower);
    });
  }
  std::erase_if(sections, [](const Section& section) { return section.rows.empty(); });
  return sections;
}

std::vector<DifferenceList> difference_lists(const Comparison& comparison) {
  const Differences& found = comparison.differences;
  return {
      {"config", &found.config}, {"environment", &found.environment}, {"inputs", &found.inputs}};
}

std::string no_difference_text(const Comparison& comparison, const DifferenceList& list) {
  if (!list.differences->empty()) return "";
  const bool is_unknown =
      list.differences == &comparison.differences.inputs && !comparison.differences.same_inputs;
  return is_unknown ? "not recorded" : "the same";
}

}  // namespace profline::comparison
