#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/kernel_use.h"
#include "records/range_use.h"
#include "records/timeline.h"

/// What a trace of libtorch's profiler says beyond its tables: which operator launched a kernel,
/// where in the model, and what it computes.
namespace profline::summary {

/// A kernel of one shape.
struct TracedKernel {
  KernelUse use;  ///< by spelling, grid and block

  struct Part {
    std::uint64_t launches = 0;
    std::int64_t total_ns = 0;
    std::int64_t exclusive_ns = 0;
  };
  std::map<std::string, Part> operators;  ///< by the innermost one that encloses the launch
  std::map<std::string, Part> phases;     ///< see PhaseTree::phase_of()
  /// From the shapes of the operators that launched it, and the number of launches covered. An
  /// operator's FLOPs are attributed to its longest kernel.
  double flops = 0;
  std::uint64_t launches_with_flops = 0;
};

/// Most time first.
std::vector<TracedKernel> traced_kernels(const Timeline& trace, const requests::PhaseTree& tree);

/// Where the time went in each range; `capture` is empty.
std::vector<RangeUse> traced_ranges(const Timeline& trace);

/// Operators that began inside ranges of one name.
struct RangeOperators {
  std::uint64_t calls = 0;
  double short_share = 0;  ///< of self time: operators that take less than `short_ns` per call
  std::string largest;     ///< the one with the most self time
  double largest_share = 0;
};
RangeOperators range_operators(const Timeline& trace, const std::string& range, double short_ns);

/// The sizes of an operator's inputs, from a trace: `[[1, 64], [64, 64], []]`. A nested list of
/// tensors counts as an input without sizes. Nothing if the text is not such a list.
std::optional<std::vector<std::vector<std::int64_t>>> parse_shapes(std::string_view text);

/// The FLOPs of a call, from the sizes of its inputs; a multiply-add counts as two. Covers matrix
/// products and attention (as a full square); nothing for other operators, or if the sizes do not
/// fit.
std::optional<double> operator_flops(std::string_view name, std::string_view shapes);

}  // namespace profline::summary
