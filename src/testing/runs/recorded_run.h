#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "analysis/static_model/static_compute.h"
#include "records/kernel_use.h"
#include "records/ncu_tables.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/artifacts.h"

namespace profline::testing {

/// A run's folder made of real captures; a test changes what it is about, then writes it.
struct TestRun {
  RunRecord run;
  std::optional<std::vector<Request>> baseline;
  std::optional<std::vector<Request>> nsys_requests;
  std::optional<std::vector<Request>> torch_requests;
  std::optional<static_model::StaticCompute> static_compute;
  std::optional<NsysRanges> nsys_ranges;
  std::optional<NsysKernels> nsys_kernels;
  std::optional<NcuKernels> ncu_kernels;
  std::filesystem::path trace;  ///< copied to torch_profiler/trace.json, unless empty

  StageRecord& stage(std::string_view name);
  /// Writes the folder as the stages would.
  void write(const std::filesystem::path& folder) const;
};

/// Decode of a small bf16 network on an H200, 20 steps of six kernels each, as captured by nsys
/// 2025.3, ncu 2025.3 and libtorch 2.11; its times without a profiler are made up (130 us per
/// token).
TestRun h200_run();

/// A phase of a request, which must exist.
Phase& phase_of(Request& request, std::string_view path);

/// A file's text, or a failure of the test.
std::string text_of(const std::filesystem::path& file);

}  // namespace profline::testing
