#pragma once

#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profline::kernel_lab::internal {

/// A range as people name it for ncu, looked for in stacks of ranges by ourselves: `decode`,
/// `decode*`, `A::A1` (A1 inside A).
class RangePattern {
 public:
  /// Nothing when the text is in ncu's own grammar, which only ncu understands.
  static std::optional<RangePattern> of(std::string_view text);

  /// `stack` is outermost first.
  bool is_open_in(std::span<const std::string> stack) const;

 private:
  std::vector<std::regex> levels_;
};

}  // namespace profline::kernel_lab::internal
