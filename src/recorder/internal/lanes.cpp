#include "recorder/internal/lanes.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include <pthread.h>

#include "recorder/internal/session.h"

namespace profline::recorder {

thread_local constinit Lane* thread_lane = nullptr;

namespace {

/// Bounds memory and file: a lane has a stage of its own.
constexpr std::uint32_t kMaxLanes = 4096;

// A child keeps these.
pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t lane_key;
bool has_key = false;

/// When a thread ends, its lane goes to the next one. Ranges that it left open stay open: the
/// Thread event of the next owner ends them.
void release_lane(void* pointer) {
  auto* const lane = static_cast<Lane*>(pointer);
  thread_lane = nullptr;
  Session* const session = started_session();
  if (session == nullptr || lane->stage.chunk == nullptr) return;
  const SlowPath slow;
  session->lock.lock();
  lane->next_free = session->free_lanes;
  session->free_lanes = lane;
  session->lock.unlock();
}

void make_key() {
  has_key = pthread_key_create(&lane_key, release_lane) == 0;
}

Lane* take_free_lane(Session& session) {
  session.lock.lock();
  Lane* const lane = session.free_lanes;
  if (lane != nullptr) session.free_lanes = lane->next_free;
  session.lock.unlock();
  return lane;
}

/// A lane with a stage; null if it cannot have one, which is counted. `memory` is a lane that the
/// thread had in the process from which this one was forked, or null.
Lane* new_lane(Session& session, Lane* memory) {
  session.lock.lock();
  const bool too_many = session.lanes >= kMaxLanes;
  if (!too_many) ++session.lanes;
  session.lock.unlock();
  if (too_many) {
    count_loss(session, Loss::Threads);
    return nullptr;
  }
  if (memory == nullptr) {
    memory = static_cast<Lane*>(map_memory(sizeof(Lane)));
    if (memory != nullptr) madvise(memory, sizeof(Lane), MADV_WIPEONFORK);
  }
  if (memory == nullptr) {
    count_loss(session, Loss::Memory);
    return nullptr;
  }
  if (!add_stage(session, ChunkKind::Events, memory->stage)) {
    count_stopped(session);
    if (memory != thread_lane) munmap(memory, sizeof(Lane));
    return nullptr;
  }
  return memory;
}

/// Gives the calling thread a lane; null if it cannot have one, which is counted.
Lane* attach(Session& session) {
  if (session.stopped.load(std::memory_order_relaxed) != 0) {
    count_stopped(session);
    return nullptr;
  }
  const SlowPath slow;
  pthread_once(&key_once, make_key);
  Lane* lane = take_free_lane(session);
  if (lane == nullptr) lane = new_lane(session, thread_lane);
  if (lane == nullptr) return nullptr;
  lane->thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  std::memset(lane->depths, 0, sizeof lane->depths);
  thread_lane = lane;
  if (has_key) pthread_setspecific(lane_key, lane);
  return lane;
}

}  // namespace

void forget_lane() {
  if (thread_lane != nullptr) std::memset(static_cast<void*>(thread_lane), 0, sizeof(Lane));
}

void Entry::begin() {
  session_ = recorder::session();
  if (lane_ != nullptr && lane_->busy != 0) {
    if (session_ != nullptr) count_loss(*session_, Loss::Signal);
    lane_ = nullptr;
    return;
  }
  lane_ = session_ != nullptr ? attach(*session_) : nullptr;
  if (lane_ == nullptr) return;
  lane_->busy = 1;
  append(*this, EventKind::Thread, 0, lane_->thread, now_ns());
}

bool make_room(Session& session, Lane& lane, std::uint32_t bytes) {
  if (lane.stage.used + bytes <= kStageBytes && lane.lost == 0) return true;
  if (session.stopped.load(std::memory_order_relaxed) == 0) {
    const SlowPath slow;
    if (flush(session, lane.stage, lane.thread)) return true;
  }
  lane.lost = 1;
  count_stopped(session);
  return false;
}

void append_with_id(const Entry& entry, EventKind kind, std::uint32_t domain, std::uint32_t name,
                    std::uint64_t value, std::uint64_t id) {
  if (!make_room(entry.session(), entry.lane(), 2 * sizeof(Event))) return;
  Stage& stage = entry.lane().stage;
  auto* const events = reinterpret_cast<Event*>(reinterpret_cast<char*>(stage.chunk) + stage.used);
  events[0] = {value, pack_meta(kind, domain, name)};
  events[1] = {id, pack_meta(EventKind::Id, 0, 0)};
  stage.used += 2 * sizeof(Event);
  std::atomic_ref(stage.chunk->state).store(stage.lap | stage.used, std::memory_order_release);
}

}  // namespace profline::recorder
