#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/runner.h"
#include "settings/nsight.h"
#include "tools/ncu/nvtx.h"
#include "tools/ncu/probe.h"

namespace profline::ncu {

/// One run of the workload under ncu.
struct Capture {
  std::filesystem::path output;  ///< of the report, without its ending
  std::filesystem::path log;     ///< ncu's own output, separate from the program's
  /// For the second attempt after an empty capture: no NVTX gate, and this many launches.
  std::optional<std::uint32_t> without_gate{};
  /// Selects kernels by ncu's identifier, `::regex:gemm:^(2|5)$`, instead of kernel_name.
  std::optional<std::string> kernel_id{};
  /// Nothing is profiled until the program calls cudaProfilerStart.
  bool waits_for_program = false;
  /// These ranges instead of all those in the settings.
  std::optional<std::vector<NvtxExpression>> ranges{};
  /// Only the instances with these numbers, counted from 1, of the ranges that limit the capture.
  std::vector<std::uint64_t> instances{};
};

/// The ranges that limit the capture, translated; empty if nothing does.
std::vector<NvtxExpression> gate(const settings::Ncu& ncu);

/// The same in groups, each of which needs a separate run; one group, unless ranges are replayed.
std::vector<std::vector<NvtxExpression>> gate_groups(const settings::Ncu& ncu);

/// The --launch-count of the first attempt: launch_count, or max_launches unless kernel_name
/// selects what is profiled. Ranges do not lift the limit: a loop over tokens launches hundreds of
/// thousands of kernels, and ncu needs up to a second for each. Nothing: every launch is profiled.
std::optional<std::uint32_t> launch_bound(const settings::Ncu& ncu);

/// The value of --range-filter for these instances of NVTX ranges, and of all ranges between
/// cudaProfilerStart and cudaProfilerStop: `::2|3|4`.
std::string range_filter(const std::vector<std::uint64_t>& instances);

/// The workload under ncu: its own environment, folder and log, with ncu's options before its argv.
Command profile_command(const Installation& ncu, const settings::Ncu& settings,
                        const Capture& capture, const Command& workload);

/// Options that the settings require and this ncu does not have.
std::vector<std::string> missing_options(const Installation& ncu, const settings::NcuCli& cli);

/// The options that make this ncu print full names, which the expressions that select kernels
/// match: newer releases otherwise shorten them, at times in the middle of a word.
std::vector<std::string> whole_names(const Installation& ncu);

/// Writes the report's numbers to `csv` as a table with one column per metric, in base units.
Command raw_csv_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& csv);
/// Writes the report to `text` as ncu prints it for people, section by section.
Command details_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& text);
/// Writes the list of sections of this ncu to `text`.
Command list_sections_command(const Installation& ncu, const std::filesystem::path& text);

/// ncu's messages during profiling, as far as they matter.
struct Messages {
  /// `No kernels were profiled.`: `kernels`, `ranges` or `graphs`; empty without such a message.
  std::string nothing_profiled;
  std::uint32_t connected = 0;          ///< processes that used CUDA
  std::uint64_t profiled = 0;           ///< kernels or ranges that it reports as profiled
  bool counters_denied = false;         ///< ERR_NVGPUCTRPERM
  bool no_libcuda = false;              ///< it could not reach the CUDA driver
  std::optional<int> application_code;  ///< the program ended with this code, which is not 0
  bool program_not_found = false;
  bool cannot_write = false;  ///< the report's file
  bool disk_full = false;
  std::vector<std::string> errors;    ///< all `==ERROR==` lines, without the prefix
  std::vector<std::string> warnings;  ///< all `==WARNING==` lines except nothing_profiled
};

/// Reads its log or output; the program's own lines may be among them.
Messages read_messages(std::string_view log);

}  // namespace profline::ncu
