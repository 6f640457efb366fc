#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/timeline.h"

namespace profline::timeline {

/// The name under which ranges that differ only in what their program counts are one row:
///
///   aten::to, op_id = 999599                      aten::to
///   aten::mm, seq = 12, sizes = [[1, 64], ...]    aten::mm
///   ProfilerStep#7                                ProfilerStep#*
///
/// These are PyTorch's names (emit_nvtx and the profiler's schedule); any other name is its own
/// label.
std::string range_label(std::string_view name);

/// The labels of the names that a timeline's ranges have, each made once and numbered in the order
/// in which the ranges come.
class RangeLabels {
 public:
  explicit RangeLabels(const Timeline& timeline);

  /// The number of the label of a range's name.
  std::uint32_t of(Names::Id name) const { return of_name_[name]; }
  const std::string& text(std::uint32_t label) const { return labels_.text(label); }

 private:
  std::vector<std::uint32_t> of_name_;
  Names labels_;
};

/// True when a user who writes `pattern` means this range: it is the name or the label, or matches
/// one of them as a glob, where `*` stands for any text and `?` for any character.
bool matches_range(std::string_view name, std::string_view pattern);

/// By id of a name: does a range have it, and does the pattern match?
std::vector<bool> matching_ranges(const Timeline& timeline, std::string_view pattern);

/// By context: is it inside a range that the pattern names, at any depth?
std::vector<bool> contexts_in_ranges(const Timeline& timeline, const Attribution& attribution,
                                     std::string_view pattern);

}  // namespace profline::timeline
