#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "analysis/kernels/classify.h"
#include "base/result.h"
#include "pipeline/stage.h"
#include "records/counters.h"
#include "records/ncu_tables.h"

namespace profline::stages::internal {

struct NcuTables {
  NcuKernels kernels;
  std::optional<NcuRegions> regions;  ///< with range replay
};

/// One row per kernel, launch shape and stack of ranges; most time first. Pure.
NcuKernels kernel_rows(const CounterReport& report, const settings::Ceilings& ceilings,
                       const kernels::Classifier& classifier);

/// The ranges among the rows, in order of first appearance; ranges that were not captured are left
/// out. Pure.
std::vector<NcuRegion> region_rows(const CounterReport& report);

/// The tables of a capture from its CSV files, one per run of ncu.
Result<NcuTables> make_tables(const pipeline::StageContext& context,
                              std::span<const std::filesystem::path> csvs);

/// `kernels.md`: the kernels with the most time and their rooflines.
std::string kernels_page(const NcuKernels& table);

/// Writes `report.{json,md}` for all regions together, and per region in its own folder.
Result<void> write_regions(const NcuRegions& regions, const std::filesystem::path& folder);

}  // namespace profline::stages::internal
