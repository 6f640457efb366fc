#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

/// The runs below an output root. Their folders are authoritative; `runs.sqlite` next to them only
/// saves reading them again, and may be removed at any time. It is not trusted: whatever it says,
/// only folders found by walking the root are runs. docs/formats/runs.md describes it.
namespace profline::run_index {

namespace internal {
class Store;
}  // namespace internal

class RunIndex {
 public:
  enum class Keep {
    Yes,
    IfThere,  ///< use the file only if it exists: for read-only commands
    Copy,     ///< in memory, beginning with what the file has: nothing is written
    No,       ///< read every run from its folder: for when it must be right
  };
  /// Opens the index of a root, creating it (again) if it is missing, of another version or
  /// damaged. If it cannot be written, is a link or is another program's database, it is left alone
  /// and everything is kept in memory; see notes(). An Error of kind NotFound if there is no such
  /// folder.
  static Result<RunIndex> open(const std::filesystem::path& root, Keep keep = Keep::Yes);
  RunIndex(RunIndex&&) noexcept;
  RunIndex& operator=(RunIndex&&) noexcept;
  ~RunIndex();

  /// Reads what the index holds of the run in a folder below the root.
  using ReadRun = std::function<Result<IndexedRun>(const std::filesystem::path& root,
                                                   const std::filesystem::path& folder)>;
  /// Updates the index from the folders: reads new and changed runs, forgets those that are gone.
  /// Any number of programs may do so at once, while runs are in progress.
  Result<void> refresh(const ReadRun& read = read_indexed_run);
  /// The same, from scratch.
  Result<void> rebuild();

  /// The runs that the last refresh() found, newest first. States are current.
  Result<std::vector<IndexedRun>> runs();

  const std::filesystem::path& root() const { return root_; }
  /// What a user should know: runs that cannot be read, an index that cannot be kept.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  RunIndex(std::filesystem::path root, std::unique_ptr<internal::Store> store);

  Result<void> update(const ReadRun& read);

  std::filesystem::path root_;
  std::unique_ptr<internal::Store> store_;  ///< in the file, or in memory
  std::set<std::string> folders_;           ///< that contain a run, as of the last refresh()
  std::vector<std::string> notes_;
  std::size_t lasting_notes_ = 0;  ///< the first of them; the others are of the last refresh()
};

/// The folders below `root` that contain a run, relative to it, sorted: directly in it, one
/// level down, or where the record of a sweep names a folder inside the sweep's. Links are not
/// followed.
Result<std::vector<std::filesystem::path>> run_folders(const std::filesystem::path& root);

}  // namespace profline::run_index
