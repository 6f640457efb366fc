#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/command.h"
#include "settings/ncu.h"
#include "tools/ncu/nvtx.h"
#include "tools/ncu/probe.h"

namespace profline::ncu {

/// One run of the workload under ncu.
struct Capture {
  std::filesystem::path output;  ///< of the report, without its ending
  std::filesystem::path log;     ///< ncu's own words, apart from the program's
  /// The second try after an empty capture: without the NVTX gate, and with so many launches.
  std::optional<std::uint32_t> without_gate{};
  /// By ncu's own identifier, `::regex:gemm:^(2|5)$`, instead of the settings' kernel_name.
  std::optional<std::string> kernel_id{};
  /// These ranges instead of all that the settings name.
  std::optional<std::vector<NvtxExpression>> ranges{};
};

/// What limits the capture to ranges, translated; empty when nothing does.
std::vector<NvtxExpression> gate(const settings::Ncu& ncu);

/// The same in groups, each of which needs a run of its own; one group, unless ranges are replayed.
std::vector<std::vector<NvtxExpression>> gate_groups(const settings::Ncu& ncu);

/// The --launch-count of the first attempt: launch_count, or max_launches unless kernel_name
/// chooses what is profiled. Ranges do not lift it: a loop over tokens launches hundreds of
/// thousands of kernels, and ncu needs up to a second for each. Nothing: every launch is profiled.
std::optional<std::uint32_t> launch_bound(const settings::Ncu& ncu);

/// The workload under ncu: its own environment, folder and log, ncu's options before its argv.
Command profile_command(const Installation& ncu, const settings::Ncu& settings,
                        const Capture& capture, const Command& workload);

/// Options that the settings ask for and this ncu does not have.
std::vector<std::string> missing_options(const Installation& ncu, const settings::NcuCli& cli);

/// What makes this ncu print names whole, as the expressions that choose kernels match them: newer
/// ones shorten them otherwise, at times in the middle of a word.
std::vector<std::string> whole_names(const Installation& ncu);

/// The report's numbers as a table with a column a metric, in base units, to `csv`.
Command raw_csv_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& csv);
/// The report as ncu prints it for people, section by section, to `text`.
Command details_command(const Installation& ncu, const std::filesystem::path& report,
                        const std::filesystem::path& text);
/// The sections this ncu has, to `text`.
Command list_sections_command(const Installation& ncu, const std::filesystem::path& text);

/// What ncu said while it profiled, as far as anything follows from it.
struct Messages {
  /// `No kernels were profiled.`: `kernels`, `ranges` or `graphs`; empty: it did not say that.
  std::string nothing_profiled;
  std::uint32_t connected = 0;          ///< processes that used CUDA
  std::uint64_t profiled = 0;           ///< kernels or ranges it says it profiled
  bool counters_denied = false;         ///< ERR_NVGPUCTRPERM
  bool no_libcuda = false;              ///< it did not reach the CUDA driver
  std::optional<int> application_code;  ///< the program ended with this code, which is not 0
  bool program_not_found = false;
  bool cannot_write = false;  ///< the report's file
  bool disk_full = false;
  std::vector<std::string> errors;    ///< all `==ERROR==` lines, without that
  std::vector<std::string> warnings;  ///< all `==WARNING==` lines but the first member's
};

/// Reads its log, or what it printed; the program's own lines may be among them.
Messages read_messages(std::string_view log);

}  // namespace profline::ncu
