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

/// A row for each kernel of one shape in one stack of ranges; most time first. Pure.
NcuKernels kernel_rows(const CounterReport& report, const settings::Ceilings& ceilings,
                       const kernels::Classifier& classifier);

/// The ranges among the rows, as they were first seen; nothing is made up for what was not
/// captured. Pure.
std::vector<NcuRegion> region_rows(const CounterReport& report);

/// The tables of a capture from its CSV files, one for each run of ncu.
Result<NcuTables> make_tables(const pipeline::StageContext& context,
                              std::span<const std::filesystem::path> csvs);

/// `kernels.md`: the kernels with most time under their roofs.
std::string kernels_page(const NcuKernels& table);

/// `report.{json,md}` for all regions, and in a folder each for one.
Result<void> write_regions(const NcuRegions& regions, const std::filesystem::path& folder);

}  // namespace profline::stages::internal
