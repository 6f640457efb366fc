#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/progress.h"
#include "process/interrupt.h"
#include "process/runner.h"

namespace profline::session {

/// Messages for people besides the result, filtered by verbosity: each -v adds one, each -q
/// subtracts one.
class Remarks {
 public:
  using Print = std::function<void(const std::string& line)>;

  /// Discards all messages.
  Remarks() = default;
  Remarks(int verbosity, Print print) : verbosity_(verbosity), print_(std::move(print)) {}

  int verbosity() const { return verbosity_; }
  /// Printed even if quiet: `profline: job 3: …`.
  void problem(const std::string& text) const { say("profline: " + text); }
  void warning(const std::string& text) const {
    if (verbosity_ >= 0) say("profline: warning: " + text);
  }
  /// Unchanged, without the program's name.
  void line(const std::string& text) const {
    if (verbosity_ >= 0) say(text);
  }
  /// Only if verbose.
  void detail(const std::string& text) const {
    if (verbosity_ > 0) say("profline: " + text);
  }

 private:
  void say(const std::string& line) const {
    if (print_) print_(line);
  }

  int verbosity_ = -1;
  Print print_;
};

/// The outside world as commands see it.
struct Services {
  ProcessRunner& processes;
  Interrupt& interrupt;
  Remarks remarks{};
  ProgressOptions progress{};  ///< of runs, on stderr
  /// Wraps the progress of a run, for somebody else who follows it; may be empty.
  std::function<std::unique_ptr<Progress>(std::unique_ptr<Progress> shown)> followed{};
};

}  // namespace profline::session
