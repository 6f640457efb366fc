#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "records/finding.h"
#include "records/run_record.h"

namespace profline::run {

/// The machine's name, and of its boot: pids with start times mean something within both only.
std::string host_name();
std::string boot_id();

/// Whether that very process exists and has not ended.
bool is_alive(const ProcessRecord& process);

/// This process.
ProcessRecord own_process();

/// Where a run is wished to lie.
struct FolderWish {
  std::filesystem::path folder;  ///< absolute
  /// Named by the user: taken as it is, unless it holds a run. Else a name that is taken gets a
  /// suffix.
  bool given = false;
};

/// The folder a wish comes to now: `folder`, or `folder-2` and so on while that exists. Makes
/// nothing. An Error of kind Config for a given one that holds a run.
Result<std::filesystem::path> free_run_folder(const FolderWish& wish);

/// The folder of a run, locked against other runs while this lives. Folders that were made for it
/// are removed again, if they are empty, unless keep() was called: a command that fails or is
/// interrupted before it starts leaves nothing.
class RunFolder {
 public:
  /// Makes the folder, with those above it.
  static Result<RunFolder> claim(const FolderWish& wish);
  /// One that holds a run, for --resume. Waits a while for the last processes of a run that was
  /// killed; an Error of kind Config when it is still in use then.
  static Result<RunFolder> reopen(const std::filesystem::path& folder);

  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Made by claim(), so that all that is in it is ours.
  bool is_new() const { return !made_.empty() && made_.back() == path_; }
  void keep() {
    made_.clear();
    unfinished_.finish();
  }

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // outermost first
  FileDescriptor lock_;
  UnfinishedWork unfinished_;
};

/// The lock that a run holds on its folder while it goes on. Where the file system has no locks
/// nothing can be said, and a run that says it is running counts as one.
class FolderLock {
 public:
  enum class Kind {
    Look,  ///< shared: is anybody there?
    Own,   ///< nobody else may begin anything there
  };
  /// Never waits.
  FolderLock(const std::filesystem::path& folder, Kind kind);

  bool is_held() const { return held_; }
  /// Somebody else has it.
  bool is_taken() const { return taken_; }

 private:
  FileDescriptor folder_;
  bool held_ = false;
  bool taken_ = false;
};

/// Makes the link `latest` beside the run point to it. Nothing to tell when that worked; a folder
/// or file of that name is left alone.
std::optional<Finding> point_latest_at(const std::filesystem::path& run);

/// Removes what starts of profline left that were killed before their run had a run.json: temporary
/// files in `run` and, where others lie beside it (`has_siblings`), in those that have no run.json
/// either, and links on their way to becoming `latest`. What somebody still uses stays.
void clear_unfinished_starts(const std::filesystem::path& run, bool has_siblings,
                             const Clock& clock);

/// What the disk under a run has to say before it starts: a Problem when it is as good as full, a
/// Warning when a capture of ordinary size would not fit.
std::optional<Finding> check_space(const std::filesystem::path& folder, bool captures);

}  // namespace profline::run
