#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/sqlite.h"
#include "run_index/indexed_run.h"

/// The runs below an output root. What counts is in their folders; `runs.sqlite` beside them only
/// saves reading them again, and may be removed at any time. It is not trusted: whatever it says,
/// only folders that a walk of the root finds are runs. docs/formats/runs.md describes it.
namespace profline::run_index {

class RunIndex {
 public:
  enum class Keep {
    Yes,
    IfThere,  ///< use the file where there is one, else none: for those who only want to look
    No,       ///< read every run from its folder: for those who must not be lied to
  };
  /// Opens the index of a root, making or remaking it where it is missing, of another version or
  /// damaged. Where it cannot be written, is a link or is another program's database, it is left
  /// alone and everything is kept in memory; see notes(). An Error of kind NotFound when there is
  /// no such folder.
  static Result<RunIndex> open(const std::filesystem::path& root, Keep keep = Keep::Yes);

  /// Brings the index up to date with the folders: reads runs that are new or have changed, forgets
  /// those that are gone. Any number of programs may do so at once, while runs go on.
  Result<void> refresh();
  /// The same, from nothing.
  Result<void> rebuild();

  /// The runs that the last refresh() found, newest first. States are as of now.
  Result<std::vector<IndexedRun>> runs();

  const std::filesystem::path& root() const { return root_; }
  /// What a user should know: runs that cannot be read, an index that cannot be kept.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  RunIndex(std::filesystem::path root, sqlite::Database database)
      : root_(std::move(root)), database_(std::move(database)) {}

  Result<void> write(const IndexedRun& run, const std::string& stamp);
  Result<void> forget(std::string_view folder);

  std::filesystem::path root_;
  sqlite::Database database_;
  std::set<std::string> folders_;  ///< that hold a run, by the last refresh()
  std::vector<std::string> notes_;
};

/// The folders below `root` that hold a run, relative to it, sorted: directly in it, or one level
/// down (jobs of a sweep). Links are not followed.
Result<std::vector<std::filesystem::path>> run_folders(const std::filesystem::path& root);

}  // namespace profline::run_index
