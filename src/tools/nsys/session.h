#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "process/interrupt.h"
#include "process/runner.h"

namespace profline::nsys {

/// Ends nsys' session when nsys itself is gone and its agent is not: nsys starts a detached agent
/// under which the program runs, and which outlives an nsys that was killed. What the agent holds
/// of a capture becomes the report first, where nsys would have put it.
class EndsSession final : public RunObserver {
 public:
  EndsSession(std::filesystem::path program, std::string session);
  /// Removes what an agent that had to be killed was writing in its temporary folder: no importer
  /// reads a capture that was cut off, and nobody else knows of it.
  ~EndsSession() override;
  EndsSession(const EndsSession&) = delete;
  EndsSession& operator=(const EndsSession&) = delete;

  void outlived() override;
  void abandoned() override;

 private:
  std::filesystem::path program_;
  std::string session_;
  std::vector<std::filesystem::path> captures_;
  Interrupt calm_;  // the user's own interrupt may be why we are here
};

/// The .qdstrm files that the agent of a session has open.
std::vector<std::filesystem::path> open_captures(const std::string& session);

}  // namespace profline::nsys
