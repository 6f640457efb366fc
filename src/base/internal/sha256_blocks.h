#pragma once

#include <array>
#include <cstdint>

#include "base/sha256.h"

namespace profline::internal {

/// K of FIPS 180-4, 4.2.2: the first 32 bits of the fractions of the first 64 primes' cube roots.
extern const std::array<std::uint32_t, 64> kSha256RoundConstants;

void sha256_fold_portable(std::uint32_t* state, const unsigned char* blocks, std::size_t count);

/// The one that uses the processor's SHA instructions; null where this processor has none.
Sha256::FoldBlocks sha256_fold_accelerated();

}  // namespace profline::internal
