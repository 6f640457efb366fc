#pragma once

#include <filesystem>

#include "pipeline/stage.h"
#include "tools/ncu/probe.h"

namespace profline::stages::internal {

/// What lies where in the ncu stage's folder. The first try and the one without the gate have logs
/// and workload folders of their own; there is one report, as the second try is made only when the
/// first left none.
struct NcuFiles {
  std::filesystem::path folder;

  explicit NcuFiles(const pipeline::RunSetup& setup) : folder(setup.stage_folder("ncu")) {}

  std::filesystem::path output() const { return folder / "run"; }
  std::filesystem::path report() const { return folder / "run.ncu-rep"; }
  std::filesystem::path log(bool rerun) const {
    return folder / (rerun ? "ncu-rerun.log" : "ncu.log");
  }
  std::filesystem::path command(bool rerun) const {
    return folder / (rerun ? "cmd-rerun.txt" : "cmd.txt");
  }
  std::filesystem::path workload(bool rerun) const {
    return folder / (rerun ? "workload-rerun" : "workload");
  }
  std::filesystem::path raw_csv() const { return folder / "raw.csv"; }
  std::filesystem::path sections_report() const { return folder / "sections_report.txt"; }
  std::filesystem::path sections() const { return folder / "sections.txt"; }
  std::filesystem::path regions() const { return folder / "regions"; }

  bool has_report() const;
  /// The second try was made.
  bool was_rerun() const;
};

/// The ncu of this machine; of a machine without one what its commands would look like.
ncu::Installation ncu_of(const pipeline::Toolbox& tools);

}  // namespace profline::stages::internal
