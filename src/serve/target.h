#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// The addresses of `profline serve`, as pure functions.
namespace profline::serve {

/// The parameters of an address, decoded, in order.
struct Query {
  std::vector<std::pair<std::string, std::string>> entries;

  bool operator==(const Query&) const = default;
  /// The first value with that name; empty without one.
  std::string get(std::string_view name) const;
  /// Every value with that name that is not empty.
  std::vector<std::string> all(std::string_view name) const;
};

enum class Page {
  Runs,      ///< /
  Trends,    ///< /trends
  Compare,   ///< /compare
  Sweeps,    ///< /sweeps
  Sweep,     ///< /sweeps/ID/
  SweepJob,  ///< /sweeps/ID/JOB/report.html: links of a sweep's report
  Run,       ///< /runs/ID/
  Files,     ///< /runs/ID/files
  File,      ///< /runs/ID/files/PATH
  RunLink,   ///< /runs/ID/PATH: links of a run's report
  Timeline,  ///< /runs/ID/timeline
  Tiles,     ///< /api/runs/ID/tiles/PATH
  Asset,     ///< /assets/NAME
};

/// What a request asks for.
struct Target {
  Page page = Page::Runs;
  std::string id{};    ///< of a run or a sweep: its folder below the root
  std::string path{};  ///< of a file below the run's folder, without `.` and `..`; of an asset
  Query query{};

  bool operator==(const Target&) const = default;
};

/// The longest address, and the largest number of parameters, that is read.
inline constexpr std::size_t kLongestTarget = 8000;
inline constexpr std::size_t kMostParameters = 256;

/// Reads the target of a request: `/runs/20261115-100000/files/nsys/run.sqlite?download=1`. An
/// Error of kind NotFound if there is no such page, of kind Parse if it is not an address: too
/// long, not UTF-8, control characters, a path that leaves its folder.
Result<Target> parse_target(std::string_view text);

/// The address of a target; parse_target() reads it back.
std::string address_of(const Target& target);
std::string run_address(const std::string& id);

/// `text` as a part of an address: everything but letters, digits and `-._~` is escaped.
std::string escaped(std::string_view text);

}  // namespace profline::serve
