#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace profline::testing {

/// One launch of a real program, as several tools recorded it.
struct RealLaunch {
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::int64_t kineto_ns = 0;
  std::int64_t ncu_ns = 0;
  std::string kineto;  ///< as Kineto spells the kernel
  std::string ncu;     ///< as ncu shortens it by default
  std::string full;    ///< ncu with `--rename-kernels no`: as nsys spells it
  std::string mangled;
  std::string function;  ///< ncu with `--print-kernel-base function`
};

/// tests/golden/kernels/torch-2.11-h200: launches in order.
Result<std::vector<RealLaunch>> real_launches();

}  // namespace profline::testing
