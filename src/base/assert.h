#pragma once

namespace profline::internal {
[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file,
                                   int line);
}  // namespace profline::internal

/// States what the code around it relies on; on in every build. A failure is a bug of ours and ends
/// the program: user input never reaches one.
#define PL_ASSERT(condition, why) \
  (static_cast<bool>(condition)   \
       ? static_cast<void>(0)     \
       : ::profline::internal::assertion_failed(#condition, why, __FILE__, __LINE__))
