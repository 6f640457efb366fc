#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "tiles/build.h"
#include "tiles/index.h"

namespace profline::tiles {

/// Where indexes are kept. Nothing is ever written next to a capture.
struct Cache {
  std::filesystem::path folder;
  /// Of all indexes together; the one used longest ago goes first. One that is needed now is kept
  /// even if it alone is larger.
  std::uint64_t most_bytes = std::uint64_t{8} << 30U;
};

/// `$XDG_CACHE_HOME/profline/tiles`, by default in `~/.cache`; empty if neither variable is usable.
std::filesystem::path cache_folder(const std::optional<std::string>& xdg_cache_home,
                                   const std::optional<std::string>& home);

/// What distinguishes this edition of the file from others: path, size and time of change.
Result<std::string> identity_of(const std::filesystem::path& capture);

/// The index of a capture: the kept one, or a new one if none is kept, it is damaged, or the
/// capture has changed since. Two that need the same index at the same time, in one program or
/// two, build it once. A build that was killed leaves nothing that matters.
Result<Index> open_index(const std::filesystem::path& capture, const Cache& cache,
                         const BuildOptions& options = {});

/// The kept index alone: an Error if it is missing or cannot be used.
Result<Index> open_kept_index(const std::filesystem::path& capture, const Cache& cache);

/// Removes the kept index of a capture, if there is one: it turned out to be damaged.
void remove_index(const std::filesystem::path& capture, const Cache& cache);

}  // namespace profline::tiles
