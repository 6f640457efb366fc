#include "serve/byte_range.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace profline::serve {
namespace {

constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();

/// A number too large to hold is as far beyond the file as the largest one.
std::optional<std::uint64_t> position(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, status] = std::from_chars(digits.data(), end, value);
  if (at != end || digits.empty()) return std::nullopt;
  return status == std::errc::result_out_of_range ? kFar : value;
}

ByteRange part(std::uint64_t first, std::uint64_t last, std::uint64_t file_size) {
  if (first >= file_size) return {.kind = ByteRange::Kind::None};
  return {.kind = ByteRange::Kind::Part,
          .first = first,
          .size = std::min(last, file_size - 1) - first + 1};
}

}  // namespace

ByteRange byte_range(std::string_view header, std::uint64_t file_size) {
  const ByteRange whole{.kind = ByteRange::Kind::Whole, .first = 0, .size = file_size};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return whole;
  const std::string_view range = trim(header.substr(kUnit.size()));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = position(range.substr(0, dash));
  const auto last = position(range.substr(dash + 1));
  if (dash == 0) {  // the last so many bytes
    if (!last) return whole;
    return part(file_size - std::min(*last, file_size), kFar, file_size);
  }
  const bool is_open = dash + 1 == range.size();
  if (!first || (!is_open && (!last || *last < *first))) return whole;
  return part(*first, is_open ? kFar : *last, file_size);
}

}  // namespace profline::serve
