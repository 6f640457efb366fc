#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profline::ncu {

/// An item of `nvtx.include`, and its translation for ncu.
struct NvtxExpression {
  std::string given;
  std::string passed;

  bool operator==(const NvtxExpression&) const = default;
};

/// Translates what people write to ncu's own grammar. ncu reads a plain name as a start/end range,
/// `/` makes it a push/pop range, and `*` is a wildcard only in a regular expression:
///
///   decode     decode/              a push/pop range, at any depth
///   decode*    regex:decode.*/
///   A::A1      A/*/A1               A1 inside A, with anything between them
///
/// Text that is already in ncu's grammar (`regex:…`, or containing one of / @ , [ ] + or a
/// backslash) is not changed.
std::string translate_range(std::string_view text);

/// Blank items are left out.
std::vector<NvtxExpression> translate_ranges(std::span<const std::string> items);

/// Whether the expression selects a region of this name, `A::B::A1` with all its labels; always
/// true for one in ncu's own grammar, which only ncu understands.
bool names_range(const NvtxExpression& range, std::string_view region);

/// Groups of ranges that can be replayed as a whole in one run: while ncu records a range it does
/// not see those that open inside it, so `A::A1` goes into the group after that of `A`. Nesting
/// that the names do not show is unknown here, and such ranges stay in the first group.
std::vector<std::vector<NvtxExpression>> by_nesting(std::span<const NvtxExpression> ranges);

/// A range in ncu's NVTX columns.
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
/// Names may contain colons and quotes, as `aten::mm` does. Text that cannot be parsed is kept
/// whole as a name.
std::vector<NvtxRange> parse_nvtx_state(std::string_view cell);

}  // namespace profline::ncu
