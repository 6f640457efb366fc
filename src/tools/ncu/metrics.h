#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/counters.h"
#include "settings/ncu.h"
#include "tools/ncu/probe.h"

namespace profline::ncu {

/// What ncu is asked to collect: what the settings name, less what this ncu does not have.
struct Collection {
  std::vector<std::string> metrics;
  std::vector<std::string> sections;
  std::vector<std::string> unknown_metrics;   ///< left out
  std::vector<std::string> unsupported;       ///< metrics left out: not with this replay mode
  std::vector<std::string> unknown_sections;  ///< left out
  std::vector<std::string> translated;        ///< `flop_count_hp`: asked for by other names
};

/// With range replay also kInstructions, by which regions add up.
Collection collection(const Installation& ncu, const settings::NcuCli& cli);

/// Ranges are replayed instead of kernels.
bool is_range_replay(const settings::NcuCli& cli);

/// nvprof's counts of operations, which ncu does not have, as ncu counts: adds, products and twice
/// the multiply-adds. Empty for any other name.
std::vector<std::string> flop_count_parts(std::string_view name);

/// Adds to each kernel that has its parts the old count under its old name.
void add_flop_counts(CounterReport& report, const std::vector<std::string>& names);

}  // namespace profline::ncu
