#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/result.h"

/// Makes the index of a capture, from which any part of its timeline is drawn in milliseconds.
namespace profline::tiles {

struct BuildOptions {
  /// Called now and then with the number of events read so far; false stops the build with an Error
  /// of kind Cancelled.
  std::function<bool(std::uint64_t events)> keep_going{};
  /// How many events are sorted at a time; 32 bytes each.
  std::size_t events_in_memory = std::size_t{1} << 20U;
};

/// Reads a capture, `nsys export --type sqlite` or a Kineto or Chrome trace (recognised by
/// content), and writes its index to `target`, atomically. The capture is only read. `identity` is
/// stored for Index::open.
///
/// Memory does not grow with the events of an SQLite file: they are sorted through a nameless file
/// next to the target. It does grow with the number of different names, and for a trace with the
/// number of events, as in `profline trace`.
Result<void> build_index(const std::filesystem::path& capture, const std::filesystem::path& target,
                         std::string_view identity, const BuildOptions& options = {});

}  // namespace profline::tiles
