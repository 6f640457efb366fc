#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <tuple>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace profline::tiles::internal {

/// An event on its way into the index.
struct LaneEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t detail = 0;
  std::uint32_t unused = 0;  // no byte of a file is undefined

  /// By lane and start; an outer event before the inner ones that start with it.
  bool operator<(const LaneEvent& other) const {
    return std::tie(lane, start_ns, other.end_ns, name, detail) <
           std::tie(other.lane, other.start_ns, end_ns, other.name, other.detail);
  }
};

/// Sorts any number of events in bounded memory: sorted runs in a file without a name, then merged.
class ExternalSort {
 public:
  /// The file is made in `folder`; it vanishes with this object, even if the program is killed.
  static Result<ExternalSort> in(const std::filesystem::path& folder,
                                 std::size_t events_in_memory = std::size_t{1} << 20U);

  Result<void> add(const LaneEvent& event);
  /// Calls `visit` with each event in order; call once, last.
  Result<void> visit_in_order(const std::function<Result<void>(const LaneEvent&)>& visit);

 private:
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
  };
  class RunReader;

  ExternalSort(FileDescriptor file, std::filesystem::path folder, std::size_t events_in_memory);
  Result<void> write_run();

  FileDescriptor file_;
  std::filesystem::path folder_;
  std::size_t events_in_memory_;
  std::vector<LaneEvent> pending_;
  std::vector<Run> runs_;
  std::uint64_t written_ = 0;
};

}  // namespace profline::tiles::internal
