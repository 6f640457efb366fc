#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/internal/session.h"

/// Appends events of the calling thread to its lane.
namespace profline::recorder {

/// The calling thread's lane, or null.
extern thread_local constinit Lane* thread_lane;

/// In a forked child: this thread has no lane.
void forget_lane();

/// The calling thread's use of its lane, for one event.
class Entry {
 public:
  Entry() : lane_(thread_lane), session_(nullptr) {
    if (lane_ == nullptr || lane_->stage.chunk == nullptr || lane_->busy != 0) {
      begin();
      return;
    }
    session_ = mapped_session.load(std::memory_order_relaxed);
    lane_->busy = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Entry() {
    if (lane_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    lane_->busy = 0;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  /// False: nothing is recorded, or the event was counted as lost.
  explicit operator bool() const { return lane_ != nullptr; }
  Lane& lane() const { return *lane_; }
  Session& session() const { return *session_; }

 private:
  /// For a thread without a lane, and for a signal handler that interrupted the recorder.
  void begin();

  Lane* lane_;
  Session* session_;
};

/// Makes room for the next `bytes` of a lane. False: the recording has stopped, and the events are
/// counted as lost.
bool make_room(Session& session, Lane& lane, std::uint32_t bytes);

inline void append(const Entry& entry, EventKind kind, std::uint32_t domain, std::uint32_t name,
                   std::uint64_t value) {
  Stage& stage = entry.lane().stage;
  if (stage.used + sizeof(Event) > kStageBytes &&
      !make_room(entry.session(), entry.lane(), sizeof(Event))) {
    return;
  }
  auto* const event = reinterpret_cast<Event*>(reinterpret_cast<char*>(stage.chunk) + stage.used);
  event->value = value;
  event->meta = pack_meta(kind, domain, name);
  stage.used += sizeof(Event);
  // What is counted here is complete when the process dies at this point.
  std::atomic_ref(stage.chunk->state).store(stage.lap | stage.used, std::memory_order_release);
}

/// Appends the end of a domain's innermost range. If its beginning is the last event, turns that
/// into a Leaf: one store, so the range is either open or complete whenever the process dies.
inline void append_pop(const Entry& entry, std::uint32_t domain, std::uint64_t time_ns) {
  const Stage& stage = entry.lane().stage;
  if (domain == 0 && entry.lane().lost == 0 && stage.used > sizeof(ChunkHeader)) {
    auto* const last =
        reinterpret_cast<Event*>(reinterpret_cast<char*>(stage.chunk) + stage.used) - 1;
    const std::uint64_t duration_ns = time_ns - last->value;
    if ((last->meta & 0xffffffffU) == static_cast<std::uint64_t>(EventKind::Push) &&
        duration_ns < kLeafLimitNs) {
      std::atomic_ref(last->meta)
          .store(pack_meta(EventKind::Leaf, static_cast<std::uint32_t>(duration_ns),
                           static_cast<std::uint32_t>(last->meta >> 32)),
                 std::memory_order_release);
      return;
    }
  }
  append(entry, EventKind::Pop, domain, kNoName, time_ns);
}

/// As `append`, for an event that is followed by the number of a range.
void append_with_id(const Entry& entry, EventKind kind, std::uint32_t domain, std::uint32_t name,
                    std::uint64_t value, std::uint64_t id);

/// The number of open ranges of a domain, for the return values of NVTX.
inline std::int32_t& depth_of(Lane& lane, std::uint32_t domain) {
  return lane.depths[domain == 0 ? 0 : 1 + domain % (kDepths - 1)];
}

}  // namespace profline::recorder
