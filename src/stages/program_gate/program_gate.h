#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "records/document.h"
#include "records/request.h"
#include "schema/field.h"
#include "workloads/program/environment.h"

/// Which requests of a user's program a profiler captures. Settings that name a range decide;
/// without them, the requests that the baseline recorded do, so that imports, loading and warm-up
/// stay out of captures. The plan shows each possible command and when it is used.
namespace profline::stages {

enum class CaptureGate {
  Everything,  ///< the whole program
  Requests,    ///< steady requests, which the Python adapter brackets
  Ranges,      ///< the NVTX ranges that are requests
};
constexpr auto names(std::type_identity<CaptureGate>) {
  return std::array{named(CaptureGate::Everything, "everything"),
                    named(CaptureGate::Requests, "requests"), named(CaptureGate::Ranges, "ranges")};
}

/// `gate.json` in the folder of a profiler's stage.
struct ProgramGate {
  static constexpr DocumentKind kKind{"gate", 1};

  CaptureGate gate = CaptureGate::Everything;
  std::string why{};
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const ProgramGate&) const = default;
};
constexpr auto fields(std::type_identity<ProgramGate>) {
  return field_list(
      field("gate", &ProgramGate::gate, "what was captured: everything, requests, ranges")
          .required(),
      field("why", &ProgramGate::why, "what decided it").required(),
      field("first", &ProgramGate::first, "the first request to capture, counted from 0"),
      field("count", &ProgramGate::count, "how many consecutive requests to capture; 0: no limit"));
}

/// Whether the run profiles a user's program.
bool is_program(const pipeline::RunSetup& setup);
/// Whether that program is a server under load, whose windows are opened from outside.
bool is_server(const pipeline::RunSetup& setup);
/// Whether its Python processes load the adapter.
bool uses_adapter(const pipeline::StageContext& context);
/// Whether a stage whose settings name no range takes its gate from the baseline.
bool follows_baseline(const pipeline::RunSetup& setup);

/// The gate that the baseline's requests suggest; for a rank, those of the first profiled rank.
/// Reads its files.
ProgramGate choose_gate(const pipeline::StageContext& context);

/// When the plan's command for this gate runs, in words.
std::string condition_of(CaptureGate kind, const pipeline::RunSetup& setup);

/// A run of the program in which the adapter opens `gate` around the steady requests of the
/// baseline.
program::ProgramRun gated_run(const pipeline::RunSetup& setup, program::GateKind gate);

/// Where the processes of a program record what they do, in a run of it that writes to `out`.
std::filesystem::path recorded_folder(const std::filesystem::path& out);

/// Deletes what an earlier run of the program recorded there.
void forget_recorded(const std::filesystem::path& out);

/// What the adapter reports about a gate that never opened; empty: nothing.
std::string adapter_problem(const pipeline::RunSetup& setup, const std::filesystem::path& out);

Result<void> write_gate(const std::filesystem::path& folder, const ProgramGate& gate);
/// Without a file: everything.
ProgramGate read_gate(const std::filesystem::path& folder);

/// Requests that a profiler captured, counted by their start from 0.
struct CapturedRequests {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// What of a program's requests a profiler saw, besides what the adapter recorded about its gate.
struct ProfiledPart {
  std::optional<std::uint32_t> steps = {};        ///< at most so many of each phase
  std::optional<CapturedRequests> captured = {};  ///< null: not known
};

/// Writes the requests that ran while the gate was open, or all of them if nothing was gated, as
/// `requests.jsonl` into `to`: their times are compared with those of the same requests in the
/// baseline. `out` is where that run of the program wrote. Writes nothing if the program recorded
/// no requests.
Result<void> write_profiled_requests(const pipeline::RunSetup& setup,
                                     const std::filesystem::path& out,
                                     const std::filesystem::path& to,
                                     const ProfiledPart& part = {});

}  // namespace profline::stages
