#include <algorithm>
#include <tuple>
#include <utility>

#include "run_index/internal/store.h"

namespace profline::run_index::internal {
namespace {

class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::vector<IndexedRow> rows) {
    for (IndexedRow& row : rows) insert(std::move(row));
  }

  Result<void> change(const std::function<Result<void>()>& changes) override { return changes(); }

  Result<void> write(IndexedRow row) override {
    insert(std::move(row));
    return {};
  }

  Result<void> forget(std::string_view folder) override {
    rows_.erase(std::string(folder));
    return {};
  }

  Result<void> clear() override {
    rows_.clear();
    return {};
  }

  Result<std::map<std::string, std::string>> stamps() override {
    std::map<std::string, std::string> known;
    for (const auto& [folder, row] : rows_) known.emplace_hint(known.end(), folder, row.stamp);
    return known;
  }

  Result<std::vector<IndexedRun>> runs() override {
    std::vector<const IndexedRun*> sorted;
    for (const auto& [folder, row] : rows_) sorted.push_back(&row.run);
    std::sort(sorted.begin(), sorted.end(), [](const IndexedRun* a, const IndexedRun* b) {
      return std::tie(a->started, a->folder) > std::tie(b->started, b->folder);
    });
    std::vector<IndexedRun> runs;
    runs.reserve(sorted.size());
    for (const IndexedRun* run : sorted) runs.push_back(*run);
    return runs;
  }

 private:
  void insert(IndexedRow row) {
    std::string folder = row.run.folder;
    rows_.insert_or_assign(std::move(folder), std::move(row));
  }

  std::map<std::string, IndexedRow> rows_;
};

}  // namespace

std::unique_ptr<Store> store_in_memory(std::vector<IndexedRow> rows) {
  return std::make_unique<MemoryStore>(std::move(rows));
}

}  // namespace profline::run_index::internal
