#include "recorder/internal/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <pthread.h>

#include "recorder/internal/lanes.h"
#include "recorder/internal/names.h"

namespace profline::recorder {

constinit std::atomic<Session*> mapped_session{nullptr};

namespace {

constexpr std::uint64_t kDefaultLimit = std::uint64_t{2} << 30;
constexpr std::uint64_t kSmallestLimit = kHeaderBytes + 3 * kStageBytes;

// A child keeps these.
bool folder_known = false;
char folder[4096];
std::uint64_t file_limit = kDefaultLimit;
std::uint32_t generations = 0;

void forget_parent() {
  Session* const session = mapped_session.load(std::memory_order_relaxed);
  if (session != nullptr) std::memset(static_cast<void*>(session), 0, sizeof *session);
  forget_lane();
}

/// Memory that a forked child finds cleared; null if the system has no more.
Session* map_session() {
  void* const memory = map_memory(sizeof(Session));
  if (memory == nullptr) return nullptr;
  // Before other threads see it: a child must never find a lock that one of them holds.
  const bool wiped = madvise(memory, sizeof(Session), MADV_WIPEONFORK) == 0;
  auto* const session = static_cast<Session*>(memory);
  Session* expected = nullptr;
  if (!mapped_session.compare_exchange_strong(expected, session)) {
    munmap(memory, sizeof(Session));
    return expected;
  }
  // Kernels before 4.14 cannot clear it; then fork() itself has to, which covers most children.
  if (!wiped) pthread_atfork(nullptr, nullptr, forget_parent);
  return session;
}

/// The folder for recordings; null if the environment names no usable one.
const char* requested_folder() {
  const char* const named = secure_getenv("PROFLINE_RECORD_DIR");
  return named != nullptr && named[0] == '/' && std::strlen(named) < sizeof folder ? named
                                                                                   : nullptr;
}

/// Once: a child keeps what its parent read, even if the program changed its environment.
void read_environment() {
  if (folder_known) return;
  if (const char* const named = requested_folder()) std::strncpy(folder, named, sizeof folder - 1);
  if (const char* const text = secure_getenv("PROFLINE_RECORD_LIMIT")) {
    char* end = nullptr;
    const std::uint64_t limit = std::strtoull(text, &end, 10);
    if (end != text && *end == '\0') {
      file_limit = limit < kSmallestLimit ? kSmallestLimit : limit;
    }
  }
  folder_known = true;
}

void start(Session& session) {
  read_environment();
  if (folder[0] == '\0') {
    session.state.store(State::Off, std::memory_order_release);
    return;
  }
  session.header = &session.unfiled;
  session.limit = file_limit;
  session.generation = ++generations;
  create_file(session, folder, session.generation > 1);
  if (!open_names(session.names)) stop(session, Loss::Memory, ENOMEM);
  session.state.store(State::Recording, std::memory_order_release);
}

}  // namespace

bool is_recording_requested() {
  return requested_folder() != nullptr;
}

Session* session() {
  Session* session = mapped_session.load(std::memory_order_acquire);
  if (session == nullptr || session->state.load(std::memory_order_acquire) == State::Fresh) {
    const SlowPath slow;
    if (session == nullptr) session = map_session();
    if (session == nullptr) return nullptr;
    session->lock.lock();
    if (session->state.load(std::memory_order_relaxed) == State::Fresh) start(*session);
    session->lock.unlock();
  }
  return session->state.load(std::memory_order_acquire) == State::Recording ? session : nullptr;
}

void count_loss(Session& session, Loss loss, std::uint64_t events) {
  FileHeader& header = *session.header;
  std::atomic_ref(header.lost[static_cast<std::size_t>(loss)])
      .fetch_add(events, std::memory_order_relaxed);
  std::atomic_ref first(header.first_loss_ns);
  if (first.load(std::memory_order_relaxed) == 0) {
    std::uint64_t expected = 0;
    first.compare_exchange_strong(expected, now_ns(), std::memory_order_relaxed);
  }
}

void count_stopped(Session& session, std::uint64_t events) {
  const std::uint32_t reason = session.stopped.load(std::memory_order_relaxed);
  count_loss(session, reason == 0 ? Loss::Disk : static_cast<Loss>(reason - 1), events);
}

void stop(Session& session, Loss loss, int error) {
  std::uint32_t expected = 0;
  if (!session.stopped.compare_exchange_strong(expected, 1 + static_cast<std::uint32_t>(loss))) {
    return;
  }
  session.header->error = error;
}

void FutexLock::lock() {
  std::uint32_t seen = 0;
  if (state_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
  if (seen != 2) seen = state_.exchange(2, std::memory_order_acquire);
  while (seen != 0) {
    syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
    seen = state_.exchange(2, std::memory_order_acquire);
  }
}

void FutexLock::unlock() {
  if (state_.exchange(0, std::memory_order_release) == 2) {
    syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

SlowPath::SlowPath() : errno_(errno), cancel_state_(0), signals_{} {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_);
}

SlowPath::~SlowPath() {
  pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  pthread_setcancelstate(cancel_state_, nullptr);
  errno = errno_;
}

}  // namespace profline::recorder
