#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "process/interrupt.h"
#include "process/runner.h"

namespace profline::nsys {

/// Ends nsys' session when nsys itself is gone and its agent is not: nsys starts a detached agent
/// under which the program runs, and which outlives an nsys that was killed.
class EndsSession final : public RunObserver {
 public:
  EndsSession(std::filesystem::path program, std::string session);

  void outlived() override;

  /// What such an agent was writing, in its own temporary folder: nobody else will turn it into a
  /// report, or remove it.
  const std::vector<std::filesystem::path>& captures() const { return captures_; }

 private:
  std::filesystem::path program_;
  std::string session_;
  std::vector<std::filesystem::path> captures_;
  Interrupt calm_;  // the user's own interrupt may be why we are here
};

/// The .qdstrm files that the agent of a session has open.
std::vector<std::filesystem::path> open_captures(const std::string& session);

}  // namespace profline::nsys
