#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "pipeline/stage.h"
#include "tools/ncu/probe.h"

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

  explicit NcuFiles(const pipeline::RunSetup& setup) : folder(setup.stage_folder("ncu")) {}

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
  std::filesystem::path sections() const { return folder / "sections.txt"; }
  std::filesystem::path regions() const { return folder / "regions"; }

  bool has_report(std::size_t group = 0) const;
  /// The second try was made.
  bool was_rerun() const;
};

/// The ncu of this machine; of a machine without one what its commands would look like.
ncu::Installation ncu_of(const pipeline::Toolbox& tools);

}  // namespace profline::stages::internal
