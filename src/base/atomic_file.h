#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace profline {

/// Something that was begun and must not be left as it is if the program ends in the middle of it:
/// a temporary file, a folder for scratch, a record that says "running". While one of these lives,
/// undo_unfinished_work() calls its `undo`, from another thread: it may use only what it captured
/// by value.
///
/// What must be undone belongs to the process, like its signal handlers, hence the list behind this
/// class is the program's only one.
class UnfinishedWork {
 public:
  using Lock = std::unique_lock<std::recursive_timed_mutex>;

  /// While held, the program is not ended: for making something and noting it in one.
  static Lock lock();

  UnfinishedWork() = default;  ///< nothing
  explicit UnfinishedWork(std::function<void()> undo);
  UnfinishedWork(UnfinishedWork&& other) noexcept;
  UnfinishedWork& operator=(UnfinishedWork&& other) noexcept;
  ~UnfinishedWork() { finish(); }

  /// Nothing is left to undo.
  void finish() noexcept;

 private:
  std::uint64_t id_ = 0;  // 0: nothing
};

/// Undoes all that is unfinished, the youngest first. Only for who then ends the program: threads
/// that begin or finish such work from now on wait, so that nothing comes after. Gives up, with
/// nothing undone, if another thread holds the lock for longer than a moment, as on a dead network
/// file system.
void undo_unfinished_work();

/// Writes a file so that at every instant its name holds the old content or the new one, complete.
///
///   AtomicFile file = PL_TRY(AtomicFile::create("run.json"));
///   PL_TRY(file.append(text));
///   PL_TRY(file.commit());
///
/// The bytes go to a hidden temporary in the same folder; commit() makes them durable (fsync),
/// renames it over the target and makes the rename durable. Without commit(), or after any failure,
/// the temporary is removed and the target is as it was.
///
/// - A file replaced keeps its permission bits; a new one has those the umask leaves. The owner is
///   whoever writes.
/// - A target that is a symbolic link stays one: the file it leads to is replaced, or made if it is
///   missing, as an ordinary write through the link would.
/// - A target that exists and is no regular file (a folder, a device, a pipe) is refused.
///
/// While it is written, the temporary is locked (flock); a kernel drops the lock of a killed
/// program, which is how remove_stale_temporaries() knows.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  /// One that only its owner may read and write (0600), whatever stood there before.
  static Result<AtomicFile> create_private(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  /// Adds to the content; small pieces are collected. After a failure every call repeats its Error.
  Result<void> append(std::string_view bytes);
  /// The content is complete; to be called once, last.
  Result<void> commit();

 private:
  struct Pending;
  enum class Access { Usual, Private };
  static Result<AtomicFile> create(const std::filesystem::path& path, Access access);
  explicit AtomicFile(std::unique_ptr<Pending> pending);

  std::unique_ptr<Pending> pending_;  // null once committed
};

/// As write_file_atomic, for a file that only its owner may read: one that holds a command line or
/// an environment.
Result<void> write_private_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes from `folder` (not from those below it) the temporaries of writers that were killed, and
/// tells which; those of living writers stay.
///
/// One made on this machine since it started is removed when nobody holds its lock. One from
/// elsewhere (a shared file system, where locks may not reach; before a restart) or on a file
/// system without locks must also have been left alone for a day.
Result<std::vector<std::filesystem::path>> remove_stale_temporaries(
    const std::filesystem::path& folder, const Clock& clock);

}  // namespace profline
