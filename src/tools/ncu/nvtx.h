#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profline::ncu {

/// An item of `nvtx.include`, and what ncu is told.
struct NvtxExpression {
  std::string given;
  std::string passed;

  bool operator==(const NvtxExpression&) const = default;
};

/// From what people write to ncu's own grammar. ncu takes a plain name for a start/end range, `/`
/// makes it a push/pop range, and `*` is no wildcard outside a regular expression:
///
///   decode     decode/              a push/pop range, at any depth
///   decode*    regex:decode.*/
///   A::A1      A/*/A1               A1 inside A, whatever is between them
///
/// What is in ncu's grammar already (`regex:…`, or with one of / @ , [ ] + and backslash in it)
/// stays as it is.
std::string translate_range(std::string_view text);

/// Blank items are left out.
std::vector<NvtxExpression> translate_ranges(std::span<const std::string> items);

/// Whether the expression means a region of this name, `A::B::A1` with all its labels; always for
/// one in ncu's own grammar, which only ncu understands.
bool names_range(const NvtxExpression& range, std::string_view region);

/// Ranges that one run can replay as a whole: while ncu records a range it does not see those that
/// open in it, so that `A::A1` goes into the group behind that of `A`. What nests without saying so
/// cannot be told from outside, and stays in the first.
std::vector<std::vector<NvtxExpression>> by_nesting(std::span<const NvtxExpression> ranges);

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
