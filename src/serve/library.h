#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace profline::serve {

/// A run as pages know it.
struct ListedRun {
  catalog::KnownRun known;
  std::string id;  ///< in addresses: its folder below the root; with several roots, `1:folder`
  std::string haystack;    ///< what a search looks in, in lower case
  std::size_t series = 0;  ///< index in Snapshot::series
  std::size_t place = 0;   ///< index in that series
};

/// A folder of a sweep.
struct ListedSweep {
  std::filesystem::path folder;
  std::string id;

  bool operator==(const ListedSweep&) const = default;
};

/// All runs at a moment. Never changes, so that requests may share it.
struct Snapshot {
  std::uint64_t generation = 0;  ///< differs whenever anything else does
  std::vector<ListedRun> runs;   ///< newest first
  std::map<std::string, std::size_t, std::less<>> by_id;
  /// Runs that measured the same thing on the same kind of machine, newest first: indices of runs.
  std::vector<std::vector<std::size_t>> series;
  /// For each series, how many runs differ from it in their configuration alone.
  std::vector<std::size_t> configured_otherwise;
  std::vector<ListedSweep> sweeps;
  std::vector<std::string> notes;

  /// A null pointer if nothing has that id.
  const ListedRun* find(std::string_view id) const;
  const ListedSweep* find_sweep(std::string_view id) const;
};

/// What is shown of these runs, newest first. With several roots, ids begin with the root's number.
Snapshot snapshot_of(const std::vector<catalog::KnownRun>& runs,
                     const std::vector<std::filesystem::path>& roots);
/// The sweeps directly below the roots, by name, the last name first.
std::vector<ListedSweep> sweeps_below(const std::vector<std::filesystem::path>& roots);

/// The runs below the roots, read by a thread of its own, because that may take long: a request
/// gets what is known now, and the first one waits a little for something to be known.
class Library {
 public:
  explicit Library(catalog::Catalog catalog);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The newest snapshot. If it is older than `kFresh`, the runs are read again, and this waits for
  /// that, but no longer than kPatience, or kFirstPatience before the first snapshot. Null: they
  /// have never been read to the end.
  std::shared_ptr<const Snapshot> current();

  /// An Error if a file in the folder of a run must not be read.
  Result<void> check_files(const std::filesystem::path& folder) const {
    return catalog_.check_files(folder);
  }
  const catalog::Catalog& catalog() const { return catalog_; }

  static constexpr std::chrono::milliseconds kFresh{1500};
  static constexpr std::chrono::milliseconds kPatience{60};
  /// With an index of 10,000 runs, reading takes less than this (docs/performance.md).
  static constexpr std::chrono::milliseconds kFirstPatience{500};

 private:
  void work(const std::stop_token& stop);
  void read_again();

  catalog::Catalog catalog_;  ///< of the thread, apart from its roots
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::chrono::steady_clock::time_point read_at_{};
  bool is_wanted_ = true;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace profline::serve
