#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/nsys_ranges.h"
#include "records/timeline.h"

/// What a trace of libtorch's profiler says beyond its tables: which operator launched a kernel,
/// where in the model, and what it computes.
namespace profline::summary {

/// A kernel of one shape.
struct TracedKernel {
  std::string name;  ///< as the profiler wrote it
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint64_t launches = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  struct Part {
    std::uint64_t launches = 0;
    std::int64_t total_ns = 0;
  };
  std::map<std::string, Part> operators;  ///< by the innermost one around the launch
  std::map<std::string, Part> stages;     ///< of the model, see stage_of()
  /// By the shapes of the operators that launched it, and how many launches that is of. An
  /// operator's FLOPs are those of its longest kernel.
  double flops = 0;
  std::uint64_t launches_with_flops = 0;

  /// A launch; nothing unless all of them are known.
  std::optional<double> flops_per_launch() const;
};

/// Most time first.
std::vector<TracedKernel> traced_kernels(const Timeline& trace);

/// Where time went in each range, as nsys' table has it; `capture` is empty.
std::vector<NsysRange> traced_ranges(const Timeline& trace);

/// Operators that began inside ranges of one name.
struct StageOperators {
  std::uint64_t calls = 0;
  double short_share = 0;  ///< of their own time: operators that take less than `short_ns` a call
  std::string largest;     ///< the one with the most time of its own
  double largest_share = 0;
};
StageOperators stage_operators(const Timeline& trace, const std::string& range, double short_ns);

/// The stage of the model that a stack of ranges, outermost first, belongs to: the innermost of
/// sam, clip, projector, lm and decode, else prefill; of other programs the outermost range. Empty:
/// no range.
std::string stage_of(const std::vector<std::string>& ranges);

}  // namespace profline::summary
