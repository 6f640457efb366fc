#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace profline::statistics {

/// Means of at most `most` runs of neighbours, as equal in length as can be. Measurements that
/// follow each other are not independent (a warm cache, a clock that drifts, tokens of one text):
/// taken one by one they promise more than they know. Means of long enough blocks are nearly so.
/// Values that are no more than `most` stay as they are.
std::vector<double> block_means(std::span<const double> in_order, std::size_t most);

}  // namespace profline::statistics
