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

/// Something that was begun and must not be left half done if the program ends in the middle: a
/// temporary file, a scratch folder, a record that says "running". While an UnfinishedWork lives,
/// undo_unfinished_work() calls its `undo` from another thread, so `undo` may use only what it
/// captured by value.
///
/// What must be undone belongs to the process, like its signal handlers; this is why the list that
/// this class maintains is the program's only global one.
class UnfinishedWork {
 public:
  using Lock = std::unique_lock<std::recursive_timed_mutex>;

  /// While held, the program does not end: for creating something and registering it in one step.
  static Lock lock();

  UnfinishedWork() = default;  ///< nothing
  explicit UnfinishedWork(std::function<void()> undo);
  UnfinishedWork(UnfinishedWork&& other) noexcept;
  UnfinishedWork& operator=(UnfinishedWork&& other) noexcept;
  ~UnfinishedWork() { finish(); }

  /// There is nothing left to undo.
  void finish() noexcept;

 private:
  std::uint64_t id_ = 0;  // 0: nothing
};

/// Undoes all unfinished work, the most recent first. Call this only just before ending the
/// program: threads that begin or finish such work from now on block, so that nothing is added
/// afterwards. Gives up, with nothing undone, if another thread holds the lock for longer than a
/// moment, as on a dead network file system.
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
/// - A replaced file keeps its permission bits; a new one gets what the umask leaves. The owner is
///   the writing user.
/// - A target that is a symbolic link stays one: the file it points to is replaced, or created if
///   it is missing, as an ordinary write through the link would do.
/// - A target that exists and is not a regular file (a folder, a device, a pipe) is refused.
///
/// The temporary is locked (flock) while it is being written. The kernel drops the lock when a
/// program is killed; that is how remove_stale_temporaries() recognises a stale one.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  /// As create(), for a file that only its owner may read and write (0600), even if it exists.
  static Result<AtomicFile> create_private(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  /// Adds to the content; small pieces are collected. After a failure every call repeats its Error.
  Result<void> append(std::string_view bytes);
  /// Completes the file; call once, last.
  Result<void> commit();

 private:
  struct Pending;
  enum class Access { Usual, Private };
  static Result<AtomicFile> create(const std::filesystem::path& path, Access access);
  explicit AtomicFile(std::unique_ptr<Pending> pending);

  std::unique_ptr<Pending> pending_;  // null once committed
};

/// As write_file_atomic, for a file that only its owner may read, because it holds a command line
/// or an environment.
Result<void> write_private_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes from `folder` (not from its subfolders) the temporaries of writers that were killed, and
/// returns their paths; those of running writers stay.
///
/// A temporary made on this machine since its last start is removed when nobody holds its lock. One
/// from elsewhere (a shared file system, where locks may not reach; before a restart) or on a file
/// system without locks must also have been untouched for a day.
Result<std::vector<std::filesystem::path>> remove_stale_temporaries(
    const std::filesystem::path& folder, const Clock& clock);

}  // namespace profline
