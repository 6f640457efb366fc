#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/run_summary.h"
#include "summary/run_artifacts.h"

namespace profline::web {

/// What NVML said at one instant; nothing: it did not tell.
struct GpuReading {
  double at_s = 0;  ///< since the first one
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<double> utilisation_pct;
  std::optional<double> memory_gib;
  std::uint64_t throttle_reasons = 0;  ///< NVML's bits
};

/// A capture of which the page shows a few steps.
struct ShownCapture {
  std::string file;  ///< below the run's folder
  std::string tool;  ///< the stage: `nsys`, `torch_profiler`
  const Timeline* rows = nullptr;
};

/// All that the page is made of. run.json and summary.json have to be there.
struct PageSource {
  const summary::RunArtifacts& run;
  RunSummary summary;
  summary::Artifact<Node> environment;
  summary::Artifact<Node> config;
  summary::Artifact<Node> origins;
  summary::Artifact<std::vector<GpuReading>> gpu;
  summary::Artifact<Timeline> capture;  ///< nsys' export, of the capture that holds decode

  /// nsys where there is one, else the torch profiler's trace; no rows: neither.
  ShownCapture shown_capture() const;
};

/// Reads what the page needs beyond the artifacts, which must outlive it. An Error when the run was
/// not summarised (`profline report` does); another file that cannot be read is told in its
/// Artifact.
Result<PageSource> read_page_source(const summary::RunArtifacts& run);

/// The lines of gpu.jsonl.
Result<std::vector<GpuReading>> parse_gpu_readings(std::string_view text,
                                                   const std::string& source);

}  // namespace profline::web
