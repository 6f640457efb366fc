#pragma once

#include <cstdint>

namespace profline {

/// What is kept of a child's output, however much it prints: its beginning and its end. What lies
/// between gives its disk space back while the child runs.
inline constexpr std::uint64_t kLogHeadBytes = std::uint64_t{8} << 20U;
inline constexpr std::uint64_t kLogTailBytes = std::uint64_t{24} << 20U;

}  // namespace profline
