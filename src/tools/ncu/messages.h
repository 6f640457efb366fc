#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline::ncu {

/// What ncu said while it profiled, as far as anything follows from it.
struct Messages {
  /// `No kernels were profiled.`: `kernels`, `ranges` or `graphs`; empty: it did not say that.
  std::string nothing_profiled;
  std::uint32_t connected = 0;          ///< processes that used CUDA
  std::uint64_t profiled = 0;           ///< kernels or ranges it says it profiled
  bool counters_denied = false;         ///< ERR_NVGPUCTRPERM
  bool no_libcuda = false;              ///< it did not reach the CUDA driver
  std::optional<int> application_code;  ///< the program ended with this code, which is not 0
  bool program_not_found = false;
  bool cannot_write = false;  ///< the report's file
  bool disk_full = false;
  std::vector<std::string> errors;    ///< all `==ERROR==` lines, without that
  std::vector<std::string> warnings;  ///< all `==WARNING==` lines but the first member's
};

/// Reads its log, or what it printed; the program's own lines may be among them.
Messages read_messages(std::string_view log);

}  // namespace profline::ncu
