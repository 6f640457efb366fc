#include "tiles/timelines.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tiles/answer.h"
#include "tiles/query.h"

namespace profline::tiles {
namespace {

/// A capture that was asked for.
struct Entry {
  std::string identity;
  // Shared: a request goes on reading an index that another one has just dropped.
  std::shared_ptr<const Index> index;
  std::optional<Error> failure;
  std::uint64_t last_used = 0;
  bool was_damaged = false;
  // Shared with the thread that builds, which outlives an entry that is dropped.
  std::shared_ptr<std::atomic<std::uint64_t>> events =
      std::make_shared<std::atomic<std::uint64_t>>(0);

  bool is_building() const { return !index && !failure; }
};

}  // namespace

struct Timelines::State {
  State(Cache kept_in, Options chosen) : cache(std::move(kept_in)), options(chosen) {}

  void start(const std::filesystem::path& capture, Entry& entry);
  void drop_oldest();

  const Cache cache;
  const Options options;
  std::mutex mutex;     // of everything below
  std::mutex building;  // one build at a time: it is limited by the disk and needs memory
  std::condition_variable changed;
  std::map<std::filesystem::path, Entry> entries;
  std::uint64_t uses = 0;
  std::map<std::uint64_t, std::jthread> threads;  // that build
  std::vector<std::uint64_t> done;                // of those, ready to be joined
  std::uint64_t next_thread = 0;
};

void Timelines::State::start(const std::filesystem::path& capture, Entry& entry) {
  for (const std::uint64_t thread : std::exchange(done, {})) threads.erase(thread);
  const std::uint64_t number = next_thread++;
  threads.emplace(number, [this, number, capture, events = entry.events,
                           identity = entry.identity](const std::stop_token& stop) {
    Result<Index> index = [&]() -> Result<Index> {
      if (auto kept = open_kept_index(capture, cache)) return kept;
      const std::lock_guard one_at_a_time(building);
      const auto keep_going = [&](std::uint64_t count) {
        *events = count;
        return !stop.stop_requested();
      };
      if (stop.stop_requested()) return Error(ErrorKind::Cancelled, "stopped");
      return open_index(capture, cache, {.keep_going = keep_going});
    }();
    const std::lock_guard lock(mutex);
    const auto entry_now = entries.find(capture);
    if (entry_now != entries.end() && entry_now->second.identity == identity) {
      if (index) {
        entry_now->second.index = std::make_shared<const Index>(std::move(index).value());
      } else {
        entry_now->second.failure = std::move(index).error();
      }
    }
    done.push_back(number);
    changed.notify_all();
  });
}

void Timelines::State::drop_oldest() {
  while (entries.size() > options.most_open) {
    auto oldest = entries.end();
    for (auto it = entries.begin(); it != entries.end(); ++it) {
      if (it->second.is_building()) continue;
      if (oldest == entries.end() || it->second.last_used < oldest->second.last_used) oldest = it;
    }
    if (oldest == entries.end()) return;
    entries.erase(oldest);
  }
}

Timelines::Timelines(Cache cache, Options options)
    : state_(std::make_unique<State>(std::move(cache), options)) {}

Timelines::~Timelines() {
  std::map<std::uint64_t, std::jthread> threads;
  {
    const std::lock_guard lock(state_->mutex);
    threads.swap(state_->threads);
  }
  for (auto& [number, thread] : threads) thread.request_stop();
}

Result<std::string> Timelines::answer(const std::filesystem::path& capture,
                                      std::string_view query) {
  // What is wrong with the query is known at once.
  PL_TRY(parse_query(query));
  const std::string identity = PL_TRY(identity_of(capture));
  State& state = *state_;
  std::shared_ptr<const Index> index;
  {
    std::unique_lock lock(state.mutex);
    const auto deadline = std::chrono::steady_clock::now() + state.options.patience;
    auto entry = state.entries.find(capture);
    // An entry may be dropped for others while this waits for it.
    do {
      if (entry == state.entries.end() || entry->second.identity != identity) {
        state.entries[capture] = Entry();
        entry = state.entries.find(capture);
        entry->second.identity = identity;
        state.start(capture, entry->second);
      }
      state.changed.wait_until(lock, deadline, [&] {
        entry = state.entries.find(capture);
        return entry == state.entries.end() || !entry->second.is_building();
      });
    } while (entry == state.entries.end() && std::chrono::steady_clock::now() < deadline);
    if (entry == state.entries.end() || entry->second.is_building()) {
      const std::uint64_t events = entry == state.entries.end() ? 0 : entry->second.events->load();
      return R"({"schema":"profline.tiles/1","state":"building","events":)" +
             std::to_string(events) + "}";
    }
    if (entry->second.failure) {
      // The next request tries again.
      Error failure = *entry->second.failure;
      state.entries.erase(entry);
      return failure;
    }
    entry->second.last_used = ++state.uses;
    index = entry->second.index;
    state.drop_oldest();
  }
  Result<std::string> json = tiles::answer(*index, query);
  if (json || json.error().kind() != ErrorKind::Parse) return json;
  {
    const std::lock_guard lock(state.mutex);
    const auto entry = state.entries.find(capture);
    if (entry == state.entries.end() || entry->second.index != index) return json;
    if (entry->second.was_damaged) return json;
    remove_index(capture, state.cache);
    entry->second.index.reset();
    entry->second.was_damaged = true;
    state.start(capture, entry->second);
  }
  return answer(capture, query);
}

}  // namespace profline::tiles
