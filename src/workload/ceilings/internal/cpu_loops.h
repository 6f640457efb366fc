#pragma once

#include <cstddef>
#include <cstdint>

// The loops of a CPU's memory ceilings, always compiled with full optimisation.

namespace profline::workload::ceilings {

/// All words combined, so that no load can be left out.
std::uint64_t read_words(const std::uint64_t* from, std::size_t count);
/// to[i] = a[i] + 3 b[i]
void triad(float* to, const float* a, const float* b, std::size_t count);

}  // namespace profline::workload::ceilings
