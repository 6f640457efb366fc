#pragma once

#include <filesystem>
#include <string>

#include "process/interrupt.h"
#include "process/runner.h"

namespace profline::nsys {

/// Ends nsys' session when nsys itself is gone and its agent is not: nsys starts a detached agent
/// under which the program runs, and which outlives an nsys that was killed.
class EndsSession final : public RunObserver {
 public:
  EndsSession(std::filesystem::path program, std::string session);

  void outlived() override;

 private:
  std::filesystem::path program_;
  std::string session_;
  Interrupt calm_;  // the user's own interrupt may be why we are here
};

}  // namespace profline::nsys
