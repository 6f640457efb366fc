#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/redaction.h"
#include "base/result.h"
#include "process/runner.h"
#include "records/run_record.h"

namespace profline::run {

/// The machine's name and its boot id: pids with start times are valid only within both.
std::string host_name();
std::string boot_id();

/// Whether exactly that process exists and has not ended.
bool is_alive(const ProcessRecord& process);

/// This process.
ProcessRecord own_process();

/// Where a run should be.
struct FolderRequest {
  std::filesystem::path folder;  ///< absolute
  /// Named by the user: taken as it is, unless it holds a run. Else a name that is taken gets a
  /// suffix.
  bool given = false;
};

/// The folder that a request gets now: `folder`, or `folder-2` and so on while that exists. Makes
/// nothing. An Error of kind Config for a given one that holds a run.
Result<std::filesystem::path> free_run_folder(const FolderRequest& request);

/// The folder of a run, locked against other runs while this lives. Folders that were created for
/// it are removed again, if they are empty, unless keep() was called: a command that fails or is
/// interrupted before it starts leaves nothing.
class RunFolder {
 public:
  /// Makes the folder, with those above it.
  static Result<RunFolder> claim(const FolderRequest& request);
  /// Opens a folder that contains a run, for --resume. Waits a while for the last processes of a
  /// killed run; an Error of kind Config if it is still in use after that.
  static Result<RunFolder> reopen(const std::filesystem::path& folder);

  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Of a folder that was reopened: the record on disk, read under the lock.
  const RunRecord& record() const { return record_; }
  /// Created by claim(), so that everything in it is ours.
  bool is_new() const { return !made_.empty() && made_.back() == path_; }
  void keep() {
    made_.clear();
    unfinished_.finish();
  }

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  RunRecord record_;
  std::vector<std::filesystem::path> made_;  // outermost first
  FileDescriptor lock_;
  UnfinishedWork unfinished_;
};

/// The lock that a run holds on its folder while it is running. Without locks in the file system
/// this is unknown, and a run counts as running if its record says so.
class FolderLock {
 public:
  enum class Kind {
    Look,  ///< shared: to see whether anybody holds it
    Own,   ///< exclusive: nobody else may start anything there
  };
  /// Never waits.
  FolderLock(const std::filesystem::path& folder, Kind kind);

  bool is_held() const { return held_; }
  /// Somebody else holds it.
  bool is_taken() const { return taken_; }

 private:
  FileDescriptor folder_;
  bool held_ = false;
  bool taken_ = false;
};

/// Makes the link `latest` next to the run point to it. Nothing if that worked; a folder or file of
/// that name is left alone.
std::optional<Finding> point_latest_at(const std::filesystem::path& run);

/// Removes what starts of profline left that were killed before their run had a run.json: temporary
/// files in `run` and, if it has siblings (`has_siblings`), in those without a run.json, and
/// temporary links that were to become `latest`. Whatever is still in use stays.
void clear_unfinished_starts(const std::filesystem::path& run, bool has_siblings,
                             const Clock& clock);

/// Checks the disk space before a run starts: a Problem if the disk is almost full, a Warning if a
/// capture of ordinary size would not fit.
std::optional<Finding> check_space(const std::filesystem::path& folder, bool captures);

/// Inserts a suffix into a file name, ahead of the first `before`: `raw-nested1.csv` for raw.csv. A
/// name without that character gets it at its end.
std::string with_suffix(std::string_view name, std::string_view suffix, char before = '.');

/// Every finished file below `folder` (except temporaries and links) with size and digest, sorted;
/// paths are relative to `run`. Files that vanish meanwhile are left out.
Result<std::vector<ArtifactRecord>> digest_files(const std::filesystem::path& folder,
                                                 const std::filesystem::path& run);

/// The same for the given files.
Result<std::vector<ArtifactRecord>> digest_each(std::vector<std::filesystem::path> files,
                                                const std::filesystem::path& run);

/// The files of the run itself: those directly in its folder, except run.json and run.log, which
/// still change.
Result<std::vector<ArtifactRecord>> digest_run_files(const std::filesystem::path& run);

/// Makes reports of nsys and ncu below `folder` readable by their owner only: they contain the
/// command line and the environment of the program, unredacted.
void make_captures_private(const std::filesystem::path& folder);

/// Writes the command as text for people, without its secrets and readable by its owner only.
Result<void> write_command_file(const std::filesystem::path& file, const Command& command,
                                const Redactor& redactor);

/// Where a tool writes a file that is renamed once it is complete: `.raw.csv` for raw.csv.
std::filesystem::path unfinished(const std::filesystem::path& file);

/// Removes unfinished files of killed writers, in `folder` and all folders below it.
Result<void> remove_temporaries(const std::filesystem::path& folder, const Clock& clock);

/// Puts the digests of files of the run into its run.json, whose record is `record`, and leaves
/// other digests unchanged.
Result<void> record_digests(const std::filesystem::path& run, RunRecord record,
                            const std::vector<std::filesystem::path>& names);

}  // namespace profline::run
