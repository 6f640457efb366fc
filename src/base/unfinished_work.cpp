#include "base/unfinished_work.h"

#include <chrono>
#include <map>
#include <utility>

namespace profline {
namespace {

struct Registry {
  std::recursive_timed_mutex mutex;
  std::map<std::uint64_t, std::function<void()>> works;  // in the order in which they began
  std::uint64_t last_id = 0;
};

Registry& registry() {
  // Never destroyed: a thread may end the program while its static objects go.
  static auto* const only = new Registry;
  return *only;
}

}  // namespace

UnfinishedWork::Lock UnfinishedWork::lock() {
  return Lock(registry().mutex);
}

UnfinishedWork::UnfinishedWork(std::function<void()> undo) {
  const Lock held = lock();
  id_ = ++registry().last_id;
  registry().works.emplace(id_, std::move(undo));
}

UnfinishedWork::UnfinishedWork(UnfinishedWork&& other) noexcept
    : id_(std::exchange(other.id_, 0)) {}

UnfinishedWork& UnfinishedWork::operator=(UnfinishedWork&& other) noexcept {
  if (this != &other) {
    finish();
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void UnfinishedWork::finish() noexcept {
  if (id_ == 0) return;
  const Lock held = lock();
  registry().works.erase(std::exchange(id_, 0));
}

void undo_unfinished_work() {
  constexpr std::chrono::milliseconds kPatience{100};
  Registry& all = registry();
  if (!all.mutex.try_lock_for(kPatience)) return;  // and never unlocked
  while (!all.works.empty()) {
    const auto youngest = std::prev(all.works.end());
    const std::function<void()> undo = std::move(youngest->second);
    all.works.erase(youngest);
    undo();
  }
}

}  // namespace profline
