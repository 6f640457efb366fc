#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/counters.h"
#include "records/tool_version.h"
#include "settings/nsight.h"

namespace profline::ncu {

/// An ncu that reported its version.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
  // Found by survey(); empty if it was not asked or did not answer.
  std::vector<std::string> sections{};
  std::vector<std::string> sets{};
  std::vector<std::string> options{};  ///< `--graph-profiling`
  /// Base names of the hardware counters (`gpu__time_duration`), sorted.
  std::vector<std::string> metrics{};

  bool takes(std::string_view option) const;  ///< also true if it was not asked
  bool has_section(std::string_view section) const;
  bool has_set(std::string_view set) const;
  /// Whether it could collect `dram__bytes_read.sum`. Metrics that it collects without listing
  /// them, such as `launch__registers_per_thread`, count as known.
  bool knows_metric(std::string_view metric) const;
};

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

/// The same, and what this release supports: four more queries, half a second to a second. The
/// counters are those of the GPUs present, or of the larger data centre chips that every release
/// knows. Unanswered queries leave their field empty.
Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program,
                            bool has_gpu);

/// The first column of the tables printed by `--list-sections`, `--list-sets` and
/// `--query-metrics`.
std::vector<std::string> first_column(std::string_view table);

/// The long options in the output of `ncu --help`.
std::vector<std::string> option_names(std::string_view help);

/// What ncu is asked to collect: what the settings request, without what this ncu does not support.
struct Collection {
  std::vector<std::string> metrics;
  std::vector<std::string> sections;
  std::vector<std::string> unknown_metrics;   ///< left out
  std::vector<std::string> unsupported;       ///< metrics left out: unsupported in this replay mode
  std::vector<std::string> unknown_sections;  ///< left out
  std::vector<std::string> translated;        ///< `flop_count_hp`: requested by other names
};

/// With range replay, adds kInstructions, which adds up over regions.
Collection collection(const Installation& ncu, const settings::NcuCli& cli);

/// Ranges are replayed instead of kernels.
bool is_range_replay(const settings::NcuCli& cli);

/// nvprof's operation counts, which ncu does not have, in terms of ncu's counters: adds, products
/// and twice the multiply-adds. Empty for any other name.
std::vector<std::string> flop_count_parts(std::string_view name);

/// Adds the old count under its old name to each kernel that has its parts.
void add_flop_counts(CounterReport& report, const std::vector<std::string>& names);

}  // namespace profline::ncu
