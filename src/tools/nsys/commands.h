#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "records/run_record.h"
#include "settings/nsight.h"
#include "tools/nsys/probe.h"

namespace profline::nsys {

/// One run of `nsys profile`.
struct Capture {
  std::string session;           ///< see session_name()
  std::filesystem::path output;  ///< of the report, without its ending
  std::string range{};           ///< for --nvtx-capture; empty unless the capture is gated on NVTX
};

/// What opens the capture, taking `gating_nvtx` into account: if false, it disables only the NVTX
/// gate.
settings::CaptureRange effective_range(const settings::Nsys& nsys);

/// The ranges to capture one after another; empty: one capture without an NVTX gate.
std::vector<std::string> gated_ranges(const settings::Nsys& nsys);

/// The workload under nsys: its own environment, folder and log, with nsys' options before its
/// argv.
Command profile_command(const Installation& nsys, const settings::Nsys& options,
                        const Capture& capture, const Command& workload);

/// What makes `nsys profile` and `nsys start` sample the GPUs' metrics; empty: the settings do not
/// ask for it. Releases until 2023 spell the option in the singular.
std::vector<std::string> metric_options(const Installation& nsys, const settings::Nsys& options);

/// Whether nsys ended at once because it cannot sample the GPU's metrics: older releases do for
/// GPUs that they do not support, and without the right to read counters.
bool refuses_metrics(const Exit& exit);

/// What to say about a capture that should have samples of the GPU's metrics and has none. `log` is
/// nsys's output; `see` says where it is.
Finding missing_samples(std::string_view capture, std::string_view log, std::string_view see);

/// The same command without sampling the GPUs' metrics, which some machines refuse.
Command without_metrics(Command profiling);

/// The same command in a session of another name.
Command in_session(Command profiling, const std::string& session);

/// Options that the settings require and this nsys does not have.
std::vector<std::string> missing_options(const Installation& nsys, const settings::Nsys& options);

/// `nsys stats` over an export: the summary of kernels as CSV, to `csv`.
Command kernel_summary_command(const Installation& nsys, const std::filesystem::path& sqlite,
                               const std::filesystem::path& csv);

/// A unique name for nsys' session: nsys requires a letter first, and two runs whose folders have
/// the same name may run at the same time.
std::string session_name(const std::filesystem::path& run_folder, std::string_view range);

/// Ends the capture of a session and creates its report, as the nsys that began it would have.
Command stop_command(const std::filesystem::path& program, const std::string& session);

/// Ends a session and everything that runs in it.
Command shutdown_command(const std::filesystem::path& program, const std::string& session);

/// `nsys export` of a report to SQLite.
Command export_command(const std::filesystem::path& program, const std::filesystem::path& report,
                       const std::filesystem::path& sqlite);

/// Runs it. An Error of kind Tool if it left no file: its exit code proves nothing.
Result<void> export_sqlite(ProcessRunner& runner, const std::filesystem::path& program,
                           const std::filesystem::path& report,
                           const std::filesystem::path& sqlite);

/// A capture that becomes a report.
struct Collection {
  std::filesystem::path report{};   ///< empty: not known
  const Interrupt* user = nullptr;  ///< it is given up when the user is in a hurry; may be absent
};

/// Ends nsys' session if nsys itself is gone but its agent is not: nsys starts a detached agent,
/// which runs the program and survives a killed nsys. First, the agent's part of the capture
/// becomes a report, in the place that nsys would have used.
class EndsSession final : public RunObserver {
 public:
  EndsSession(std::filesystem::path program, std::string session, Collection collection = {});
  /// Removes what a killed agent was writing in its temporary folder: no importer can read a
  /// truncated capture, and nobody else knows of it.
  ~EndsSession() override;
  EndsSession(const EndsSession&) = delete;
  EndsSession& operator=(const EndsSession&) = delete;

  void outlived() override;
  void abandoned() override;

 private:
  void collect();

  std::filesystem::path program_;
  std::string session_;
  Collection collection_;
  std::vector<std::filesystem::path> captures_;
  Interrupt calm_;  // the user's interrupt may be the cause
};

/// If `stop`, the end of a stop_command, failed because nsys is collecting the capture by itself,
/// waits until it has.
void wait_for_collection(const std::string& session, const Exit& stop,
                         const Collection& collection);

/// The .qdstrm files that the agent of a session has open.
std::vector<std::filesystem::path> open_captures(const std::string& session);

}  // namespace profline::nsys
