#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/counters.h"
#include "records/ncu_tables.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "stages/program_gate/program_gate.h"
#include "tools/ncu/probe.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages::internal {

/// One run of the workload under ncu.
struct Attempt {
  /// Index among the groups of ranges that ncu replays in separate runs, see ncu::gate_groups.
  std::size_t group = 0;
  bool without_gate = false;  ///< because the gate let nothing through
  /// Of a program: which of its requests, and who brackets them.
  CaptureGate gate = CaptureGate::Everything;

  std::string suffix() const {
    if (without_gate) return "-rerun";
    return group == 0 ? "" : "-nested" + std::to_string(group);
  }
};

/// The layout of the ncu stage's folder. Each attempt has its own log and workload folder, and each
/// group has a report. The attempt without the gate writes to the first group's report; it is made
/// only if that does not exist.
struct NcuFiles {
  std::filesystem::path folder;

  explicit NcuFiles(const pipeline::RunSetup& setup)
      : folder(setup.stage_folder(run::stages::kNcu)) {}

  std::filesystem::path output(std::size_t group = 0) const {
    return report(group).replace_extension();
  }
  std::filesystem::path report(std::size_t group = 0) const {
    return folder / run::with_suffix(run::files::kNcuReport, Attempt{group}.suffix());
  }
  std::filesystem::path log(const Attempt& attempt) const {
    return folder / run::with_suffix(run::files::kNcuLog, attempt.suffix());
  }
  std::filesystem::path command(const Attempt& attempt) const {
    return folder / run::with_suffix(run::files::kCommand, attempt.suffix());
  }
  std::filesystem::path workload(const Attempt& attempt) const {
    return folder / (run::folders::kWorkload + attempt.suffix());
  }
  std::filesystem::path raw_csv(std::size_t group = 0) const {
    return folder / run::with_suffix(run::files::kNcuTable, Attempt{group}.suffix());
  }
  std::filesystem::path sections_report(std::size_t group = 0) const {
    return folder / run::with_suffix(run::files::kSectionsReport, Attempt{group}.suffix());
  }
  std::filesystem::path sections() const { return folder / run::files::kSections; }
  std::filesystem::path regions() const { return folder / run::folders::kRegions; }

  bool has_report(std::size_t group = 0) const;
  /// Whether the second attempt, without the gate, was made.
  bool was_rerun() const;
};

/// The ncu of this machine; without one, a stand-in that shows what the commands would look like.
ncu::Installation ncu_of(const pipeline::Toolbox& tools);

// The launches that an ncu capture covers, in words.

/// A bound on the number of launches.
struct LaunchLimit {
  std::uint32_t count = 0;
  /// `the first 2000 launches inside decode (pipeline.ncu.max_launches)`
  std::string text;
};

/// The bound of the first attempt or, `without_gate`, of the second; nothing: unbounded.
std::optional<LaunchLimit> launch_limit(const settings::Ncu& ncu, bool without_gate);

/// What the plan says in addition to the bound: that the capture is unbounded, or what a program
/// that opens none of the ranges gets.
std::vector<std::string> coverage_notes(const settings::Ncu& ncu,
                                        const settings::Workload& workload);

/// The ranges as they were given: `decode, lm*`.
std::string ranges_text(const settings::Ncu& ncu);

// Findings about an ncu capture, before and after it.

std::vector<pipeline::Finding> ncu_preflight(const pipeline::StageContext& context);

/// Translations and bounds, for the plan.
std::vector<std::string> ncu_notes(const pipeline::StageContext& context);

/// What ncu said in an attempt: its own log, and what it printed among the program's lines.
ncu::Messages messages_of(const NcuFiles& files, const Attempt& attempt);

/// The finding about how ncu ended; nothing if all is well or if another finding covers it.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit, const Attempt& attempt);

/// Why nothing was profiled, in words: `no kernel was launched in the ranges decode/ ...`.
std::string why_nothing(const pipeline::StageContext& context, const ncu::Messages& messages,
                        bool gated);

/// Findings from the files and logs of the capture.
std::vector<pipeline::Finding> check_capture(const pipeline::StageContext& context);

/// A finding that names the captured launches if the first attempt reached the bound, so that later
/// launches are missing; nothing otherwise.
std::optional<pipeline::Finding> bound_reached(const pipeline::StageContext& context,
                                               const NcuKernels& kernels);

/// Ranges that should have been replayed and are not in the table.
std::vector<pipeline::Finding> ranges_not_replayed(const pipeline::StageContext& context,
                                                   const NcuRegions& regions);

struct NcuTables {
  NcuKernels kernels;
  std::optional<NcuRegions> regions;  ///< with range replay
};

/// One row per kernel, launch shape and stack of ranges; most time first. Pure.
NcuKernels kernel_rows(const CounterReport& report, const settings::Ceilings& ceilings,
                       const kernels::Classifier& classifier);

/// The ranges among the rows, in order of first appearance; ranges that were not captured are left
/// out. Pure.
std::vector<NcuRegion> region_rows(const CounterReport& report);

/// The tables of a capture from its CSV files, one per run of ncu.
Result<NcuTables> make_tables(const pipeline::StageContext& context,
                              std::span<const std::filesystem::path> csvs);

/// `kernels.md`: the kernels with the most time and their rooflines.
std::string kernels_page(const NcuKernels& table);

/// Writes `report.{json,md}` for all regions together, and per region in its own folder.
Result<void> write_regions(const NcuRegions& regions, const std::filesystem::path& folder);

}  // namespace profline::stages::internal
