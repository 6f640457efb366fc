#pragma once

#include <filesystem>
#include <string>

#include "records/run_record.h"

namespace profline::run_index {

/// A finished run with one image and that time per token, started in that second of a day.
struct TestRun {
  std::string experiment = "demo";
  std::string model = "tiny";
  std::string device = "cpu";
  RunState state = RunState::Ok;
  int second = 0;
  double token_ms = 2;

  /// Writes it as profline would.
  void write(const std::filesystem::path& folder) const;
};

}  // namespace profline::run_index
