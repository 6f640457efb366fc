#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/counters.h"
#include "records/ncu_tables.h"

/// What ncu measured, per NVTX range of the program.
namespace profline::regions {

/// Which kernels count in a region.
struct KernelRule {
  std::string region;  ///< `A::A1`; empty: every region
  std::string regex;   ///< of demangled names
};
struct Rules {
  std::vector<KernelRule> include;  ///< a region without a rule includes every kernel
  std::vector<KernelRule> exclude;  ///< takes precedence
};

/// `REGION=RE` or `RE`. A region's name ends at the first equals sign that is not part of `(?=` in
/// a regular expression.
KernelRule parse_kernel_rule(const std::string& text);

/// One row per region over all instances, parents before their children.
///
/// A range that was replayed as a whole has the figures measured for it. If single kernels were
/// profiled, a region is the sum of those launched in it, at any depth, that the rules include. A
/// parent that was not measured is the sum of its children. Inclusive time is all of a region,
/// exclusive time what is in none of its children; children that add up to more than one percent
/// over their parent do not reconcile, and the row says so.
///
/// An Error for a rule that is not a regular expression, or that would exclude kernels from a range
/// that was replayed as a whole.
Result<std::vector<NcuRegion>> region_table(const CounterReport& report, const Rules& rules = {});

}  // namespace profline::regions
