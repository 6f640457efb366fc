#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace profline::internal {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "profline: bug at %s:%d: %s does not hold (%s)\n", file, line, condition,
               why);
  std::abort();
}

}  // namespace profline::internal
