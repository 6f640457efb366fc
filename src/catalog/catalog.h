#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"
#include "run_index/run_index.h"

/// The runs below one or more output roots, as every door shows them: web pages, assistants, CI.
namespace profline::catalog {

/// A run below one of the roots.
struct KnownRun {
  std::filesystem::path root;    ///< absolute, without links
  std::filesystem::path folder;  ///< the same, of the run
  run_index::IndexedRun row;
};

/// The run's row as seen from the folder that it lies directly in; nothing for any other folder.
std::optional<run_index::IndexedRun> row_within(const KnownRun& run,
                                                const std::filesystem::path& folder);

/// Reads, and never writes, not even the index. Nothing outside the roots is read: a run with a
/// link that leads out of them is left out, and so is one with a file that a reader would wait for.
class Catalog {
 public:
  /// A root need not exist yet; notes() lists those that do not. Relative paths start in the
  /// current directory.
  static Result<Catalog> open(std::span<const std::filesystem::path> roots);

  /// Reads runs that are new or changed since the last time. What cannot be read is in notes().
  void refresh();

  /// Of all roots, newest first, as of the last refresh().
  const std::vector<KnownRun>& runs() const { return runs_; }
  /// The run of that folder below a root, id or path; `latest` is the newest. An Error of kind
  /// NotFound names the nearest; others are those of check_files().
  Result<KnownRun> find(const std::string& wanted) const;

  /// The real path of an existing file or folder below a root; `path` is absolute or below a root.
  /// An Error of kind NotFound if it does not exist, of kind Config if it is outside, or something
  /// else, such as a named pipe.
  Result<std::filesystem::path> inside(const std::string& path) const;
  /// Whether a real path is a root or below one.
  bool is_inside(const std::filesystem::path& real) const;

  /// Whether all files below a folder may be read: an Error of kind Config if one of them is a link
  /// that leads out of the roots, or something that a reader could wait for, such as a named pipe;
  /// an Error of kind Io if they cannot be listed. May be called while another thread is in
  /// refresh().
  Result<void> check_files(const std::filesystem::path& folder) const;

  const std::vector<std::filesystem::path>& roots() const { return roots_; }
  /// `/data/runs, /home/me/runs`.
  std::string roots_text() const;
  /// What a user should know: roots that do not exist, runs that cannot be read.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Index {
    std::filesystem::path root;
    run_index::RunIndex index;
  };

  /// A run that is left out because of a file in it.
  struct Refused {
    std::string name;  ///< below its root
    std::filesystem::path folder;
    Error why;
  };

  Result<void> read_root(const std::filesystem::path& root);
  /// Folders that a link leads to are added to `linked`.
  Result<void> check_entry(const std::filesystem::directory_entry& entry,
                           std::vector<std::filesystem::path>& linked) const;

  std::vector<std::filesystem::path> roots_;
  std::vector<Index> indexes_;
  std::vector<KnownRun> runs_;
  std::vector<Refused> refused_;
  std::vector<std::string> notes_;
};

}  // namespace profline::catalog
