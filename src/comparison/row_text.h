#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison/comparison.h"

/// Cells of a comparison's tables, the same in every format. They are not escaped: names are
/// untrusted text.
namespace profline::comparison {

/// `2.80 ms`, `12.3 us`, `35.1 tokens/s`; a dash if absent.
std::string value_text(const std::optional<Amount>& amount, std::string_view unit);
/// `+4.9 %`, `-0.3 %`; a dash if absent.
std::string change_text(const std::optional<double>& change);
/// The change of a row, with a star if the values next to it do not show it: see kPairedNote.
std::string change_cell(const Row& row);
/// The meaning of the star.
constexpr std::string_view kPairedNote =
    "each input is compared with itself, and the change is the median over inputs; it need not "
    "equal B / A";
/// `+3.1 % to +6.2 %`; a dash if absent.
std::string interval_text(const Row& row);
/// `FASTER`, or `only in A` if there is nothing to compare.
std::string verdict_text(const Row& row);
/// `2.1 %`; a dash if no change would have been detected.
std::string smallest_text(const Row& row);
/// `120`, or `120 -> 60` if the sides differ; empty if there are no calls.
std::string calls_text(const Row& row);

/// The folders of a side: `runs/main/1`, `runs/main (5 runs, 1 to 5)`.
std::string side_text(const std::vector<ComparedRun>& side);
/// `1 SLOWER (request_ms +9.5 %), 3 SAME, 4 UNDECIDED`, for metrics and phases; verdicts that no
/// row has are left out.
std::string tally_text(const Comparison& comparison);
/// Why rows have no verdict whatever was measured, each reason once, with the remedy.
std::vector<std::string> withheld_texts(const Comparison& comparison);

/// A family with its rows, in the order of the pages: what got slower comes first. Families without
/// rows are left out.
struct Section {
  Family family = Family::Metric;
  std::string_view title;
  std::string_view explanation;
  std::vector<const Row*> rows;
  bool has_clocks = false;
  bool has_calls = false;
  bool has_stars = false;  ///< a change that is explained by kPairedNote
};
std::vector<Section> sections_of(const Comparison& comparison);

/// A list of differences and its title: `config`, `environment`, `inputs`.
struct DifferenceList {
  std::string_view title;
  const std::vector<Difference>* differences = nullptr;
};
std::vector<DifferenceList> difference_lists(const Comparison& comparison);
/// `the same`, `not recorded`, or empty if there are differences.
std::string no_difference_text(const Comparison& comparison, const DifferenceList& list);

}  // namespace profline::comparison
