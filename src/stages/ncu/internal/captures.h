#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/ncu_tables.h"
#include "run/names/artifact_names.h"
#include "tools/ncu/probe.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages::internal {

/// One run of the workload under ncu.
struct Attempt {
  /// Of the groups of ranges that ncu replays in runs of their own, ncu::gate_groups.
  std::size_t group = 0;
  bool without_gate = false;  ///< because the gate let nothing through

  std::string suffix() const {
    if (without_gate) return "-rerun";
    return group == 0 ? "" : "-nested" + std::to_string(group);
  }
};

/// What lies where in the ncu stage's folder. Each attempt has a log and a workload folder of its
/// own, and each group a report; that of the first is also the report of the attempt without the
/// gate, which is made only when there was none.
struct NcuFiles {
  std::filesystem::path folder;

  explicit NcuFiles(const pipeline::RunSetup& setup)
      : folder(setup.stage_folder(run::stages::kNcu)) {}

  std::filesystem::path output(std::size_t group = 0) const {
    return folder / ("run" + Attempt{group}.suffix());
  }
  std::filesystem::path report(std::size_t group = 0) const {
    return folder / ("run" + Attempt{group}.suffix() + ".ncu-rep");
  }
  std::filesystem::path log(const Attempt& attempt) const {
    return folder / ("ncu" + attempt.suffix() + ".log");
  }
  std::filesystem::path command(const Attempt& attempt) const {
    return folder / ("cmd" + attempt.suffix() + ".txt");
  }
  std::filesystem::path workload(const Attempt& attempt) const {
    return folder / ("workload" + attempt.suffix());
  }
  std::filesystem::path raw_csv(std::size_t group = 0) const {
    return folder / ("raw" + Attempt{group}.suffix() + ".csv");
  }
  std::filesystem::path sections_report(std::size_t group = 0) const {
    return folder / ("sections_report" + Attempt{group}.suffix() + ".txt");
  }
  std::filesystem::path sections() const { return folder / run::files::kSections; }
  std::filesystem::path regions() const { return folder / run::folders::kRegions; }

  bool has_report(std::size_t group = 0) const;
  /// The second try was made.
  bool was_rerun() const;
};

/// The ncu of this machine; of a machine without one what its commands would look like.
ncu::Installation ncu_of(const pipeline::Toolbox& tools);

// Which launches a capture of ncu's covers, in words.

/// A bound on the number of launches.
struct LaunchLimit {
  std::uint32_t count = 0;
  /// `the first 2000 launches inside decode (pipeline.ncu.max_launches)`
  std::string text;
};

/// The bound of the first attempt, or of the second, made without the ranges; nothing: there is
/// none.
std::optional<LaunchLimit> launch_limit(const settings::Ncu& ncu, bool without_gate);

/// What the plan says beside the bound: that there is none, or what a program that opens none of
/// the ranges gets.
std::vector<std::string> coverage_notes(const settings::Ncu& ncu,
                                        const settings::Workload& workload);

/// The ranges as they were given: `decode, lm*`.
std::string ranges_text(const settings::Ncu& ncu);

// What the user is told about a capture of ncu's, before it and after it.

std::vector<pipeline::Finding> ncu_preflight(const pipeline::StageContext& context);

/// Translations and bounds, for the plan.
std::vector<std::string> ncu_notes(const pipeline::StageContext& context);

/// What ncu said in a try: its own log, and what it printed among the program's lines.
ncu::Messages messages_of(const NcuFiles& files, const Attempt& attempt);

/// What is to be said of how ncu ended; nothing when all is well, or when others tell.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit, const Attempt& attempt);

/// Why nothing was profiled, in words: `no kernel was launched in the ranges decode/ ...`.
std::string why_nothing(const pipeline::StageContext& context, const ncu::Messages& messages,
                        bool gated);

/// What files and logs say about the capture.
std::vector<pipeline::Finding> check_capture(const pipeline::StageContext& context);

/// Which launches the first attempt captured when their number reached the bound, so that later
/// ones are missing; nothing when it did not.
std::optional<pipeline::Finding> bound_reached(const pipeline::StageContext& context,
                                               const NcuKernels& kernels);

/// Ranges that were to be replayed and are not in the table.
std::vector<pipeline::Finding> ranges_not_replayed(const pipeline::StageContext& context,
                                                   const NcuRegions& regions);

}  // namespace profline::stages::internal
