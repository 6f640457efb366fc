#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "testing/runs/recorded_run.h"

namespace profline::testing {

/// A user's program: 2 s without a profiler, 3 s under nsys, which captured 10 ms of it.
struct ProgramRun {
  ProgramRun();

  NsysCapture& capture() { return run.nsys_ranges->captures.front(); }
  /// Adds a range in which the device is busy for a tenth of the time.
  void add_range(const char* name, std::int64_t wall_ns);
  /// Writes the files that the stages would leave.
  void write(const std::filesystem::path& folder) const;

  TestRun run;
  std::string end = "exited with code 0";  ///< of the program without a profiler
  std::string no_adapter;                  ///< why the Python adapter did not start
};

}  // namespace profline::testing
