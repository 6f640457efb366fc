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
  };
  std::map<std::string, Part> operators;  ///< by the innermost one around the launch
  std::map<std::string, Part> phases;     ///< see PhaseTree::phase_of()
  /// By the shapes of the operators that launched it, and how many launches that is of. An
  /// operator's FLOPs are those of its longest kernel.
  double flops = 0;
  std::uint64_t launches_with_flops = 0;
};

/// Most time first.
std::vector<TracedKernel> traced_kernels(const Timeline& trace, const requests::PhaseTree& tree);

/// Where time went in each range; `capture` is empty.
std::vector<RangeUse> traced_ranges(const Timeline& trace);

/// Operators that began inside ranges of one name.
struct RangeOperators {
  std::uint64_t calls = 0;
  double short_share = 0;  ///< of their own time: operators that take less than `short_ns` a call
  std::string largest;     ///< the one with the most time of its own
  double largest_share = 0;
};
RangeOperators range_operators(const Timeline& trace, const std::string& range, double short_ns);

/// The sizes of an operator's inputs, from a trace: `[[1, 64], [64, 64], []]`. A list of tensors
/// inside it counts as none. Nothing when the text is no such list.
std::optional<std::vector<std::vector<std::int64_t>>> parse_shapes(std::string_view text);

/// What a call computes, by the sizes of its inputs; a multiply-add is two. Products of matrices
/// and attention (as a full square); nothing for other operators, or where sizes do not fit.
std::optional<double> operator_flops(std::string_view name, std::string_view shapes);

}  // namespace profline::summary
