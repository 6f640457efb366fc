#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profline::ncu {

/// A range as ncu's NVTX columns tell it.
struct NvtxRange {
  std::string domain;  ///< empty: the default domain
  std::string name;

  bool operator==(const NvtxRange&) const = default;
};

/// The ranges of a cell of ncu's columns `thread Domain:Push/Pop_Range:...` and
/// `Id:Domain:Start/Stop_Range:...`, outermost first:
///
///   920  "<default domain>:decode:none:none:none:none:ASCII:decode"
///    "0:<default domain>:decode:none:none:none:none:none:none"
///
/// Names may hold colons and quotes, as `aten::mm` does. What cannot be taken apart is kept whole
/// as a name.
std::vector<NvtxRange> parse_nvtx_state(std::string_view cell);

}  // namespace profline::ncu
