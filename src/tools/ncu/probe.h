#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/counters.h"
#include "records/tool_version.h"
#include "settings/ncu.h"

namespace profline::ncu {

/// An ncu that answered to its name.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
  // What survey() found out; empty: not asked, or it did not say.
  std::vector<std::string> sections{};
  std::vector<std::string> sets{};
  std::vector<std::string> options{};  ///< `--graph-profiling`
  /// Base names of the hardware counters (`gpu__time_duration`), sorted.
  std::vector<std::string> metrics{};

  bool takes(std::string_view option) const;  ///< true also when it was not asked
  bool has_section(std::string_view section) const;
  bool has_set(std::string_view set) const;
  /// Whether it could collect `dram__bytes_read.sum`. What it does not list and yet collects, such
  /// as `launch__registers_per_thread`, counts as known.
  bool knows_metric(std::string_view metric) const;
};

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

/// The same, and what this release can do: four more questions, half a second to a second. The
/// counters are those of the GPUs that are here, or of the larger data centre chips that every
/// release knows. What is not answered stays empty.
Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program,
                            bool has_gpu);

/// The first column of the tables that `--list-sections`, `--list-sets` and `--query-metrics`
/// print.
std::vector<std::string> first_column(std::string_view table);

/// The long options in what `ncu --help` prints.
std::vector<std::string> option_names(std::string_view help);

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
