#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "tools/nsys/probe.h"

/// Where the nsys stage keeps what: one run of nsys is a region, and leaves one report or, with a
/// range that repeats, several.
namespace profline::stages::internal {

struct NsysRegion {
  std::string range;             ///< what --nvtx-capture is told; empty: no gate by NVTX
  std::string name;              ///< `run`; of several regions the folder's
  std::filesystem::path folder;  ///< the stage's; of several regions one below it
  std::string session;

  std::filesystem::path output() const { return folder / "run"; }
  std::filesystem::path workload() const { return folder / "workload"; }
  std::filesystem::path log() const { return workload() / "log"; }
};

struct NsysReport {
  std::string name;  ///< the region's, with the number of a repeated one: `run.2`
  std::filesystem::path report;
  std::filesystem::path sqlite;
  std::filesystem::path summary;  ///< the kernel summary as CSV
};

std::vector<NsysRegion> nsys_regions(const pipeline::RunSetup& setup);

/// The reports that lie in a region's folder, in the order in which they were captured.
std::vector<NsysReport> nsys_reports(const NsysRegion& region);

/// The only or first report of a region, before there is one.
NsysReport expected_report(const NsysRegion& region, bool repeats);

/// Whether nsys captures the range again and again.
bool repeats(const settings::Nsys& nsys);

/// Captures that nsys left without having turned them into reports.
std::vector<std::filesystem::path> unimported_captures(const NsysRegion& region);

/// The nsys of this machine; of a machine without one what its commands would look like.
nsys::Installation nsys_of(const pipeline::Toolbox& tools);

}  // namespace profline::stages::internal
