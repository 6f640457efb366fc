#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "settings/nsight.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/probe.h"

/// nsys by its interactive commands: a program is launched, and a capture of it is started and
/// stopped while it runs.
namespace profline::nsys {

/// The program under `nsys launch`, which records nothing yet: its environment, folder and log,
/// with nsys's options before its argv. Options that a server needs are on unless they are set:
/// children that fork before they exec are traced, and graphs are recorded by node.
Command launch_command(const Installation& nsys, const settings::Nsys& options,
                       const std::string& session, const Command& program);

/// The program under `nsys profile`, with the same options: its environment, folder and log. nsys
/// neither ends it when a capture ends, nor waits for processes that outlive it.
Command profile_server_command(const Installation& nsys, settings::Nsys options,
                               const Capture& capture, const Command& program);

/// Begins a capture in a session. `output` is the report without its ending.
Command start_command(const Installation& nsys, const settings::Nsys& options,
                      const std::string& session, const std::filesystem::path& output);

/// What `nsys sessions list` says about a session.
struct SessionState {
  std::string name;
  std::string state;  ///< `Launched`, `Collection`
};
std::vector<SessionState> read_sessions(std::string_view list);
/// The state of the session; nothing if nsys does not list it.
Result<std::optional<std::string>> session_state(ProcessRunner& runner,
                                                 const std::filesystem::path& program,
                                                 const std::string& session);
/// Whether a session in this state records.
bool is_recording(std::string_view state);

/// When a capture began and ended, as it says itself: nanoseconds since 1970.
struct CaptureEdges {
  std::int64_t begin_unix_ns = 0;
  std::int64_t end_unix_ns = 0;

  bool operator==(const CaptureEdges&) const = default;
};
/// Nothing if the export does not say so.
Result<std::optional<CaptureEdges>> capture_edges(const std::filesystem::path& sqlite);

/// The processes in a capture.
Result<std::vector<std::int64_t>> captured_processes(const std::filesystem::path& sqlite);

}  // namespace profline::nsys
