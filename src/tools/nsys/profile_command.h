#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/command.h"
#include "settings/nsys.h"
#include "tools/nsys/probe.h"

namespace profline::nsys {

/// One run of `nsys profile`.
struct Capture {
  std::string session;           ///< see session_name()
  std::filesystem::path output;  ///< of the report, without its ending
  std::string range{};           ///< for --nvtx-capture; empty unless the capture is gated on NVTX
};

/// What opens the capture, once `gating_nvtx` has had its say: false turns off the gate by NVTX and
/// no other.
settings::CaptureRange effective_range(const settings::Nsys& nsys);

/// The ranges to be captured one after another; empty: one capture without NVTX gate.
std::vector<std::string> gated_ranges(const settings::Nsys& nsys);

/// The workload under nsys: its own environment, folder and log, nsys' options before its argv.
Command profile_command(const Installation& nsys, const settings::Nsys& options,
                        const Capture& capture, const Command& workload);

/// Options that the settings ask for and this nsys does not have.
std::vector<std::string> missing_options(const Installation& nsys, const settings::Nsys& options);

/// `nsys stats` over an export: the summary of kernels as CSV, to `csv`.
Command kernel_summary_command(const Installation& nsys, const std::filesystem::path& sqlite,
                               const std::filesystem::path& csv);

/// A name for nsys' session that no other run has: nsys wants a letter first, and two runs with
/// folders of the same name may be under way.
std::string session_name(const std::filesystem::path& run_folder, std::string_view region);

/// Ends the capture of a session, and makes its report, as the nsys that began it would have.
Command stop_command(const std::filesystem::path& program, const std::string& session);

/// Ends a session with all that runs in it.
Command shutdown_command(const std::filesystem::path& program, const std::string& session);

}  // namespace profline::nsys
