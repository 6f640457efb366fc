#include "analysis/timeline/exclusive.h"

#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

namespace profline::timeline {
namespace {

/// The work of one stream that is running, in the order in which it began. Rows that have ended are
/// removed once they come first.
struct StreamQueue {
  std::vector<RowIndex> rows;
  std::size_t first = 0;
  std::size_t running = 0;
};

struct BusyDevice {
  std::vector<RowIndex> streams;  ///< those with running work
  std::size_t running = 0;
  std::int64_t since_ns = 0;  ///< time up to here is distributed
};

class Distribution {
 public:
  using Add = std::function<void(RowIndex row, const ExclusiveTime& time)>;

  Distribution(const Timeline& timeline, const Add& add)
      : timeline_(timeline),
        add_(add),
        device_of_(timeline.streams.size()),
        queues_(timeline.streams.size()),
        has_ended_(timeline.work.size()) {
    std::map<std::int32_t, std::size_t> known;
    for (std::size_t stream = 0; stream < device_of_.size(); ++stream) {
      const auto [entry, is_new] = known.try_emplace(timeline.streams[stream].device, known.size());
      device_of_[stream] = entry->second;
    }
    devices_.resize(known.size());
  }

  void run() {
    for (RowIndex row = 0; row < timeline_.work.size(); ++row) {
      const DeviceWork& work = timeline_.work[row];
      end_until(work.start_ns);
      if (work.stream == kNoRow || work.end_ns <= work.start_ns) continue;
      begin(row);
    }
    end_until(std::numeric_limits<std::int64_t>::max());
  }

 private:
  using Ending = std::pair<std::int64_t, RowIndex>;

  void begin(RowIndex row) {
    const DeviceWork& work = timeline_.work[row];
    BusyDevice& device = devices_[device_of_[work.stream]];
    distribute(device, work.start_ns);
    StreamQueue& queue = queues_[work.stream];
    if (queue.running++ == 0) {
      queue.rows.clear();
      queue.first = 0;
      device.streams.push_back(work.stream);
    }
    queue.rows.push_back(row);
    ++device.running;
    endings_.emplace(work.end_ns, row);
  }

  void end_until(std::int64_t now_ns) {
    for (; !endings_.empty() && endings_.top().first <= now_ns; endings_.pop()) {
      end(endings_.top().second);
    }
  }

  void end(RowIndex row) {
    const DeviceWork& work = timeline_.work[row];
    BusyDevice& device = devices_[device_of_[work.stream]];
    distribute(device, work.end_ns);
    --device.running;
    has_ended_[row] = true;
    StreamQueue& queue = queues_[work.stream];
    if (--queue.running == 0) {
      std::erase(device.streams, work.stream);
      return;
    }
    while (has_ended_[queue.rows[queue.first]]) ++queue.first;
  }

  /// Gives the time since the last event to what ran in it.
  void distribute(BusyDevice& device, std::int64_t now_ns) {
    const std::int64_t length_ns = now_ns - std::exchange(device.since_ns, now_ns);
    if (device.running == 0 || length_ns == 0) return;
    if (device.running == 1) {
      return add_(front_of(device.streams.front()), {.alone_ns = length_ns});
    }
    const auto streams = static_cast<std::int64_t>(device.streams.size());
    // The nanoseconds that cannot be divided go to the streams that have been busy for longest.
    std::int64_t left_ns = length_ns % streams;
    for (const RowIndex stream : device.streams) {
      add_(front_of(stream), {.shared_ns = length_ns / streams + (left_ns-- > 0 ? 1 : 0)});
    }
  }

  RowIndex front_of(RowIndex stream) const {
    const StreamQueue& queue = queues_[stream];
    return queue.rows[queue.first];
  }

  const Timeline& timeline_;
  const Add& add_;
  std::vector<std::size_t> device_of_;  // by stream
  std::vector<StreamQueue> queues_;     // by stream
  std::vector<BusyDevice> devices_;
  std::vector<bool> has_ended_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
};

}  // namespace

std::vector<ExclusiveTime> exclusive_times(const Timeline& timeline) {
  std::vector<ExclusiveTime> times(timeline.work.size());
  exclusive_times(timeline, [&](RowIndex row, const ExclusiveTime& time) { times[row] += time; });
  return times;
}

void exclusive_times(const Timeline& timeline,
                     const std::function<void(RowIndex row, const ExclusiveTime& time)>& add) {
  Distribution(timeline, add).run();
}

}  // namespace profline::timeline
