#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/kernel_use.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/timeline.h"
#include "run/names/artifact_names.h"
#include "stages/program_gate/program_gate.h"
#include "tools/nsys/probe.h"
#include "tools/nsys/sqlite_reader.h"

/// The layout of the nsys stage's folder. One run of nsys is a session; it leaves one report or,
/// with a range that repeats, several.
namespace profline::stages::internal {

struct NsysSession {
  std::string range;             ///< value of --nvtx-capture; empty: not gated by NVTX
  std::string name;              ///< `run`; with several sessions the folder's name
  std::filesystem::path folder;  ///< the stage's; with several sessions one below it
  std::string id;                ///< the session name that nsys uses

  std::filesystem::path output() const { return folder / "run"; }
  std::filesystem::path workload() const { return folder / run::folders::kWorkload; }
  std::filesystem::path log() const { return workload() / run::files::kLog; }
};

struct NsysReport {
  std::string name;  ///< the session's name, with a number if the range repeats: `run.2`
  std::filesystem::path report;
  std::filesystem::path sqlite;
  std::filesystem::path summary;  ///< the kernel summary as CSV
};

std::vector<NsysSession> nsys_sessions(const pipeline::RunSetup& setup);

/// A file of the stage, relative to the stage's folder, also if a rank left it.
std::string within_stage(const pipeline::RunSetup& setup, const std::filesystem::path& file);

/// The reports in a session's folder, in the order in which they were captured.
std::vector<NsysReport> nsys_reports(const NsysSession& session);

/// The only or first report of a session, before it exists.
NsysReport expected_report(const NsysSession& session, bool repeats);

/// Whether nsys captures the range again and again.
bool repeats(const settings::Nsys& nsys);

/// Captures that nsys left without turning them into reports.
std::vector<std::filesystem::path> unimported_captures(const NsysSession& session);

/// The nsys of this machine; without one, a stand-in that shows what the commands would look like.
nsys::Installation nsys_of(const pipeline::Toolbox& tools);

// Findings about an nsys capture, before and after it.

std::vector<pipeline::Finding> nsys_preflight(const pipeline::StageContext& context);

/// What is captured when, for the plan.
std::vector<std::string> capture_notes(const pipeline::RunSetup& setup);

/// The finding about how `nsys profile` ended; nothing if all is well or if another finding covers
/// it.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const NsysSession& session,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit);

pipeline::Finding export_failure(const NsysReport& report, const Exit& exit, const Error& error);

/// Findings about what an export lacks: events, kernels, the range that opened the capture.
std::vector<pipeline::Finding> check_contents(const pipeline::StageContext& context,
                                              const NsysSession& session, const NsysReport& report,
                                              const nsys::Contents& contents);

/// That the GPU's metrics were requested and an export has none; nothing otherwise.
std::optional<pipeline::Finding> metrics_missing(const pipeline::StageContext& context,
                                                 const NsysSession& session,
                                                 const NsysReport& report,
                                                 const Timeline& timeline);

/// Findings from a session's files and log, apart from what its exports lack.
std::vector<pipeline::Finding> check_session(const pipeline::StageContext& context,
                                             const NsysSession& session);

}  // namespace profline::stages::internal

/// What opens the capture of a user's program if `pipeline.nsys` does not say so.
namespace profline::stages::internal {

/// Whether the stage takes its gate from the baseline: a program, and no setting that names one.
bool takes_baselines_gate(const pipeline::RunSetup& setup);

/// The forms of the capture that the plan has, in the order of preference.
std::span<const CaptureGate> gate_kinds();

/// The setup as if the user had set this gate.
pipeline::RunSetup gated(const pipeline::RunSetup& setup, CaptureGate kind);

/// The setup of the capture that was made: of the gate in the stage's folder.
pipeline::RunSetup as_captured(const pipeline::RunSetup& setup);

/// `capture`, `capture requests`, `capture ranges`
std::string capture_name(CaptureGate kind);

/// Whether a gated capture left nothing because its gate never opened, although the program ended
/// as it should.
bool never_opened(const NsysSession& session, const Exit& exit);

/// Deletes the captures of warm-up requests, because nsys records from the first on; the last
/// capture is kept in any case. Returns which requests are left.
CapturedRequests drop_warm_up(const NsysSession& session, const ProgramGate& gate);
/// Reports a capture of a request ahead of the steady ones.
void report_cold(const CapturedRequests& captured, const ProgramGate& gate,
                 pipeline::StageRun& run);

struct NsysTables {
  NsysKernels kernels;
  NsysRanges ranges;
};

/// One capture, read into memory.
struct ReadCapture {
  NsysCapture about;                   ///< name, range and files; the rest is filled in
  const Timeline* timeline = nullptr;  ///< never null when it is added
  /// The requests that ran during the capture, in order, without those of earlier captures of the
  /// same run; tokens are counted from them if the capture has no ranges of tokens.
  std::span<const Request> requests;
};

/// Adds the rows of a capture. Pure.
void add_capture(const ReadCapture& capture, const kernels::Classifier& classifier,
                 NsysTables& tables);

/// Sorts the rows and adds them up.
void finish(NsysTables& tables);

/// The tables of all captures in the stage's folder.
Result<NsysTables> make_tables(const pipeline::StageContext& context, const run::Run& files,
                               const pipeline::StageRun& run);

/// `kernels.md`: where the time of each range went, and the kernels with the most time.
std::string kernels_page(const NsysTables& tables);

}  // namespace profline::stages::internal
