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

}  // namespace profline::ncu
