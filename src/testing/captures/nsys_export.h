#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "formats/sqlite.h"

/// SQLite files like those from `nsys export`, without nsys and without a GPU.
namespace profline::testing {

/// Releases whose schemas differ for a reader.
enum class NsysRelease {
  Y2022,  ///< 2022.4: EXPORT_META_DATA, no green contexts, no mangled names
  Y2023,  ///< 2023.4: META_DATA_EXPORT, greenContextId
  Y2025,  ///< 2025.3: TARGET_INFO_CUDA_DEVICE, DIAGNOSTIC_EVENT, graph traces
};

/// Creates the tables of kernels, copies, fills, waits, calls, ranges, graphs, strings and metadata
/// of this release, empty except for the metadata and the enumerations.
Result<void> create_nsys_tables(sqlite::Database& database, NsysRelease release);

/// The globalTid of a thread, as nsys packs it.
constexpr std::int64_t nsys_global_tid(std::int64_t pid, std::int64_t tid) {
  return (std::int64_t{1} << 48U) | pid << 24U | tid;
}

/// A decoding loop: steps of 12 layers of 10 kernels, each step a `decode_step` range in one
/// `decode`, each layer a separate range, a copy of the token and a wait at the end of each.
struct DecodeLoop {
  std::uint64_t kernels = 1000;  ///< rounded up to whole steps of 120
  std::uint64_t seed = 1;
  NsysRelease release = NsysRelease::Y2025;
};

/// Writes such a capture; the same options give the same bytes.
Result<void> write_decode_loop(const std::filesystem::path& path, const DecodeLoop& loop);

/// The workers of a server: processes with a GPU each, which compute and then take part in an
/// all-reduce.
struct ServerWorkers {
  int steps = 10;
  int late = 1;  ///< the worker that arrives 2 ms after the other
  /// A third process, which ran one kernel on the first GPU.
  bool has_helper = false;
  int first_pid = 10;
};

/// Writes such a capture of two workers.
Result<void> write_server_workers(const std::filesystem::path& path, const ServerWorkers& workers);

}  // namespace profline::testing
