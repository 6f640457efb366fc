#pragma once

#include "statistics/summary.h"

namespace profline::statistics {

/// The sum of twelve uniform numbers: bell-shaped enough, and the same with every library.
inline double noise(RandomNumbers& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += (0.5 + random.below(1U << 30U)) / (1U << 30U);
  return sum;
}

}  // namespace profline::statistics
