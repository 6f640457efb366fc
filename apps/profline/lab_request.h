#pragma once

#include <filesystem>

#include "arguments.h"
#include "base/clock.h"
#include "base/result.h"
#include "kernel_lab/collection.h"
#include "kernel_lab/lab.h"

namespace profline {

/// What `profline kernels profile` was asked for, as far as it does not depend on the ncu that will
/// do it.
struct LabArguments {
  std::vector<kernel_lab::WantedKernel> kernels;
  kernel_lab::CollectionWish collection;
  kernel_lab::LaunchWish launches;
  kernel_lab::CountBy count_by = kernel_lab::CountBy::Auto;
  std::filesystem::path nsys_report;
  std::filesystem::path folder;  ///< absolute
  bool force_overwrite = false;
  kernel_lab::CommandFile command;
  Command program;
};

/// The values that --clock-control takes.
std::vector<std::string> clock_control_choices();

/// Reads options, the list of kernels and the preset. `cwd` is where relative paths begin.
Result<LabArguments> read_lab_arguments(const Arguments& arguments, const Clock& clock,
                                        const std::filesystem::path& cwd);

/// Adds what ncu is told, by what this ncu knows.
kernel_lab::LabRequest lab_request(LabArguments arguments, const ncu::Installation& ncu);

}  // namespace profline
