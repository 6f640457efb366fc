#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "recorder/format/layout.h"

/// What the recorder keeps in a process. All of it lives in memory that the kernel clears in a
/// forked child (MADV_WIPEONFORK), where zero means "not started": a child, however it was forked,
/// begins a file of its own and never writes into its parent's. Exceptions are marked.
///
/// Nothing here allocates with malloc, so that ranges in signal handlers are safe.
namespace profline::recorder {

/// A mutex whose zero state is unlocked.
class FutexLock {
 public:
  void lock();
  void unlock();

 private:
  std::atomic<std::uint32_t> state_;  // 0 free, 1 held, 2 held and awaited
};

/// Held while the recorder does more than append an event: keeps errno, and keeps signal handlers
/// and cancellation from interrupting a thread that holds the lock.
class SlowPath {
 public:
  SlowPath();
  ~SlowPath();
  SlowPath(const SlowPath&) = delete;
  SlowPath& operator=(const SlowPath&) = delete;

 private:
  int errno_;
  int cancel_state_;
  sigset_t signals_;
};

/// A chunk that is mapped into memory and filled.
struct Stage {
  ChunkHeader* chunk;
  std::uint64_t lap;  ///< in the upper half, as in ChunkHeader::state
  std::uint32_t used;
};

/// A name that is in the file. Lives in memory that a child keeps: programs hold pointers to it, as
/// handles of registered strings and of domains.
struct Name {
  std::uint64_t hash;
  const char* text;
  std::uint32_t length;
  std::atomic<std::uint64_t> current;  ///< generation of the session, and the number in its file
};

/// Names by content. `text` is one reservation that is filled from its beginning.
struct NameTable {
  Stage stage;
  Name* names;  ///< in the order of their numbers
  std::uint32_t count;
  std::uint32_t* slots;  ///< 1 + position in `names`; 0 is free
  char* text;
  std::size_t text_used;
  char* scratch;  ///< for converting a wide string
};

struct CachedName {
  std::uint64_t hash;
  const char* text;
  std::uint32_t length;
  std::uint32_t id;
};
/// The number of a name by the address of its text, for the common case of a literal. The content
/// is compared as well: a program may reuse the memory.
struct CachedPointer {
  const char* pointer;
  const char* text;
  std::uint32_t id;
};
inline constexpr std::size_t kCachedNames = 128;
inline constexpr std::size_t kCachedPointers = 64;
inline constexpr std::size_t kDepths = 64;

/// What one thread records into. The lane of a thread that has ended is given to the next new
/// thread.
struct Lane {
  Stage stage;  ///< without a chunk: not attached, as after a fork
  std::uint32_t busy;
  std::uint32_t lost;  ///< 1: at least one event did not fit, so no more are recorded
  std::uint32_t thread;
  Lane* next_free;
  std::int32_t depths[kDepths];  ///< open ranges by domain; only the first has a slot of its own
  CachedPointer pointers[kCachedPointers];
  CachedName cache[kCachedNames];
};

enum class State : std::uint32_t { Fresh = 0, Recording = 1, Off = 2 };

struct Session {
  std::atomic<State> state;
  FutexLock lock;
  std::uint32_t generation;
  std::atomic<std::uint32_t> stopped;  ///< 1 + the Loss that ended the recording; 0: it goes on
  std::atomic<std::uint64_t> end;      ///< of the part of the file that is in use
  std::uint64_t limit;
  std::atomic<std::uint32_t> stages;
  std::uint32_t lanes;
  Lane* free_lanes;
  NameTable names;
  FileHeader* header;  ///< mapped; `unfiled` if there is no file
  FileHeader unfiled;
  dev_t device;
  ino_t inode;
  char path[4352];
};

/// Whether the environment names a folder for recordings.
bool is_recording_requested();

/// This process's session, started if it was not; null if nothing is to be recorded.
Session* session();

/// Mapped when the first session starts; a child keeps the pointer.
extern std::atomic<Session*> mapped_session;

/// The session, if it was started before.
inline Session* started_session() {
  Session* const session = mapped_session.load(std::memory_order_acquire);
  if (session == nullptr) return nullptr;
  return session->state.load(std::memory_order_acquire) == State::Recording ? session : nullptr;
}

inline std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Counts events that were not recorded.
void count_loss(Session& session, Loss loss, std::uint64_t events = 1);

/// Counts them under the reason for which the recording stopped.
void count_stopped(Session& session, std::uint64_t events = 1);

/// No more chunks are written; the stages are filled to their ends.
void stop(Session& session, Loss loss, int error);

// The file of a process. It is opened for each operation: a descriptor that stays open could be
// closed by the program and its number reused. Call these on a SlowPath.

/// Creates the file with its header; on failure counts go to `session.unfiled`.
void create_file(Session& session, const char* folder, bool forked);

/// Adds a stage to the file and maps it. False: the recording has stopped.
bool add_stage(Session& session, ChunkKind kind, Stage& stage);

/// Copies a stage to the end of the file and empties it. False: the recording has stopped, and the
/// stage is as before.
bool flush(Session& session, Stage& stage, std::uint32_t thread);

/// Writes a chunk of its own for a name that does not fit into a stage. False: the recording has
/// stopped.
bool write_long_name(Session& session, const NameHeader& header, const char* text);

/// Maps memory that the kernel provides when it is used; null if it has no more.
void* map_memory(std::size_t bytes);

}  // namespace profline::recorder
