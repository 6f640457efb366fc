#pragma once

#include <cstdint>
#include <string_view>

namespace profline::serve {

/// Which bytes of a file are the answer to a request.
struct ByteRange {
  enum class Kind { Whole, Part, None };

  Kind kind = Kind::Whole;  ///< None: the file has no such bytes
  std::uint64_t first = 0;
  std::uint64_t size = 0;

  bool operator==(const ByteRange&) const = default;
};

/// `header` is the value of `Range`, as RFC 9110 has it; empty: none was sent. A range that ends
/// beyond the file ends with it. The whole file is the answer to several ranges, which would be a
/// large answer to a small request, and to what is not a range.
ByteRange byte_range(std::string_view header, std::uint64_t file_size);

}  // namespace profline::serve
