#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/counters.h"
#include "records/ncu_tables.h"

/// What ncu measured, by the NVTX ranges of the program.
namespace profline::regions {

/// Which kernels count in a region.
struct KernelRule {
  std::string region;  ///< `A::A1`; empty: every region
  std::string regex;   ///< of demangled names
};
struct Rules {
  std::vector<KernelRule> include;  ///< of a region that has none: every kernel
  std::vector<KernelRule> exclude;  ///< wins
};

/// `REGION=RE` or `RE`. A region's name ends at the first equals sign that is not in a regular
/// expression's `(?=`.
KernelRule parse_kernel_rule(const std::string& text);

/// One row a region, parents before what is in them, of all instances.
///
/// A range that was replayed as a whole is what was measured of it. Where single kernels were
/// profiled a region is the sum of those launched in it, at any depth, that the rules let in. A
/// parent that nobody measured is the sum of its children. Inclusive time is all of a region,
/// exclusive what is in none of its children; children that come to more than their parent by over
/// one percent do not reconcile, which the row says.
///
/// An Error for a rule that is no regular expression, or that would take kernels out of a range
/// that was replayed as a whole.
Result<std::vector<NcuRegion>> region_table(const CounterReport& report, const Rules& rules = {});

}  // namespace profline::regions
