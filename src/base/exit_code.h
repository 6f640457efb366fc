#pragma once

#include "base/error.h"

namespace profline {

/// What our programs return to the shell. The only place that spells these numbers.
enum class ExitCode : int {
  Done = 0,
  Failed = 1,        ///< a stage failed, or a comparison found a regression
  BadInput = 2,      ///< what was given is malformed or contradictory
  Absent = 3,        ///< a tool, file or device that was named is not there
  Interrupted = 130  ///< stopped by the user
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Config:
    case ErrorKind::Parse:
      return ExitCode::BadInput;
    case ErrorKind::NotFound:
      return ExitCode::Absent;
    case ErrorKind::Cancelled:
      return ExitCode::Interrupted;
    case ErrorKind::Io:
    case ErrorKind::Tool:
      return ExitCode::Failed;
  }
  return ExitCode::Failed;
}

}  // namespace profline
