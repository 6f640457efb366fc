#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/tool_version.h"

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

}  // namespace profline::ncu
