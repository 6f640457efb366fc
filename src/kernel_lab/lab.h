#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "base/result.h"
#include "kernel_lab/capture_record.h"
#include "kernel_lab/command_file.h"
#include "kernel_lab/kernel_list.h"
#include "kernel_lab/launch_choice.h"
#include "process/command.h"
#include "process/runner.h"
#include "settings/ncu.h"
#include "tools/ncu/probe.h"
#include "tools/nsys/probe.h"

namespace profline::kernel_lab {

/// How to find out how often a kernel is launched, before it is profiled.
enum class CountBy {
  Auto,     ///< a capture of nsys', where there is an nsys; else ncu with one counter
  Nsys,     ///< the former
  Ncu,      ///< the latter
  Nothing,  ///< not at all: launches are skipped as asked for
};

/// What `profline kernels profile` was asked for.
struct LabRequest {
  std::vector<WantedKernel> kernels;
  CommandFile command;  ///< to be written; what of it decides is repeated below
  settings::Ncu ncu;    ///< see capture_settings()
  LaunchWish launches;
  CountBy count_by = CountBy::Auto;
  std::filesystem::path nsys_report{};  ///< somebody's capture to count in; empty: none
  std::filesystem::path folder;         ///< absolute
  bool force_overwrite = false;         ///< do finished kernels again
  Command program;
};

struct LabTools {
  ncu::Installation ncu;
  std::optional<nsys::Installation> nsys{};
};

struct LabServices {
  ProcessRunner& processes;
  Progress& progress;
  const Clock& clock;
};

/// What became of it: a record a kernel, by rank.
struct LabOutcome {
  std::vector<CaptureRecord> kernels;
  bool was_cancelled = false;

  bool is_complete() const;
};

/// Counts launches, chooses among them, profiles kernel after kernel, and makes the tables. Kernels
/// that an earlier run of the same command finished in this folder are kept. An Error when nothing
/// could be started at all, or the folder holds another command's captures.
Result<LabOutcome> run_lab(const LabRequest& request, const LabTools& tools,
                           const LabServices& services);

}  // namespace profline::kernel_lab
