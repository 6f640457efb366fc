#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/command.h"
#include "process/internal/guardian.h"

namespace profline::internal {

/// A command as execve takes it: program found, environment merged, all arrays in place.
class ExecImage {
 public:
  /// `command` must outlive the image.
  static Result<ExecImage> of(const Command& command);

  /// Fills in what is the program's; descriptors and times stay as they are.
  void describe_to(LaunchPlan& plan) const;

  /// What the failure of the child to run this means.
  Error error_of(const LaunchFailure& failure) const;

 private:
  explicit ExecImage(const Command& command) : command_(&command) {}

  const Command* command_;
  std::filesystem::path program_;
  std::vector<std::string> env_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> env_pointers_;
};

}  // namespace profline::internal
