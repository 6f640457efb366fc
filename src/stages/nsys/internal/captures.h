#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "run/names/artifact_names.h"
#include "tools/nsys/probe.h"

/// Where the nsys stage keeps what: one run of nsys is a session, and leaves one report or, with a
/// range that repeats, several.
namespace profline::stages::internal {

struct NsysSession {
  std::string range;             ///< what --nvtx-capture is told; empty: no gate by NVTX
  std::string name;              ///< `run`; of several sessions the folder's
  std::filesystem::path folder;  ///< the stage's; of several sessions one below it
  std::string id;                ///< what nsys calls it

  std::filesystem::path output() const { return folder / "run"; }
  std::filesystem::path workload() const { return folder / run::folders::kWorkload; }
  std::filesystem::path log() const { return workload() / run::files::kLog; }
};

struct NsysReport {
  std::string name;  ///< the session's, with the number of a repeated one: `run.2`
  std::filesystem::path report;
  std::filesystem::path sqlite;
  std::filesystem::path summary;  ///< the kernel summary as CSV
};

std::vector<NsysSession> nsys_sessions(const pipeline::RunSetup& setup);

/// The reports that lie in a session's folder, in the order in which they were captured.
std::vector<NsysReport> nsys_reports(const NsysSession& session);

/// The only or first report of a session, before there is one.
NsysReport expected_report(const NsysSession& session, bool repeats);

/// Whether nsys captures the range again and again.
bool repeats(const settings::Nsys& nsys);

/// Captures that nsys left without having turned them into reports.
std::vector<std::filesystem::path> unimported_captures(const NsysSession& session);

/// The nsys of this machine; of a machine without one what its commands would look like.
nsys::Installation nsys_of(const pipeline::Toolbox& tools);

// What the user is told about a capture of nsys', before it and after it.

std::vector<pipeline::Finding> nsys_preflight(const pipeline::StageContext& context);

/// What is captured when, for the plan.
std::vector<std::string> capture_notes(const pipeline::RunSetup& setup);

/// What is to be said of how `nsys profile` ended; nothing when all is well, or when others tell.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const NsysSession& session,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit);

pipeline::Finding export_failure(const NsysReport& report, const Exit& exit, const Error& error);

/// What a session's files and log say about its capture.
std::vector<pipeline::Finding> check_session(const pipeline::StageContext& context,
                                             const NsysSession& session);

}  // namespace profline::stages::internal
