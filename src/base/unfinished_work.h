#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

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

}  // namespace profline
