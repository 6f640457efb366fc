#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison/comparison.h"

/// Cells of a comparison's tables, the same in every form of it. None of them is escaped: names are
/// untrusted text.
namespace profline::comparison {

/// `2.80 ms`, `12.3 us`, `35.1 tokens/s`; a dash for none.
std::string value_text(const std::optional<Amount>& amount, std::string_view unit);
/// `+4.9 %`, `-0.3 %`; a dash for none.
std::string change_text(const std::optional<double>& change);
/// The change of a row, with a star where the values beside it do not show it: see kPairedNote.
std::string change_cell(const Row& row);
/// What the star means.
constexpr std::string_view kPairedNote =
    "each input is compared with itself, and the change is the median over inputs; it need not "
    "equal B / A";
/// `+3.1 % to +6.2 %`; a dash for none.
std::string interval_text(const Row& row);
/// `FASTER`, or `only in A` where there is nothing to compare.
std::string verdict_text(const Row& row);
/// `2.1 %`; a dash where no change would have been seen.
std::string smallest_text(const Row& row);
/// `120`, or `120 -> 60` where the sides differ; empty of what is not called.
std::string calls_text(const Row& row);

/// The folders of a side: `runs/main/1`, `runs/main (5 runs, 1 to 5)`.
std::string side_text(const std::vector<ComparedRun>& side);
/// `1 SLOWER (request_ms +9.5 %), 3 SAME, 4 UNDECIDED`, of metrics and phases; verdicts that
/// no row has are left out.
std::string tally_text(const Comparison& comparison);
/// Why rows have no verdict whatever was measured, each reason once, with what to do about it.
std::vector<std::string> withheld_texts(const Comparison& comparison);

/// A family with its rows, in the order in which pages show them: what got slower first. Families
/// without rows are not there.
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

/// Where the differences stand, and how many there are: `config`, `environment`, `inputs`.
struct DifferenceList {
  std::string_view title;
  const std::vector<Difference>* differences = nullptr;
};
std::vector<DifferenceList> difference_lists(const Comparison& comparison);
/// `the same`, `not recorded`, or empty where the list tells.
std::string no_difference_text(const Comparison& comparison, const DifferenceList& list);

}  // namespace profline::comparison
