#include "workload/generation/ngram_rule.h"

#include <algorithm>
#include <cstddef>

namespace profline::workload {

NgramRule::NgramRule(std::uint32_t size, std::span<const std::int64_t> prompt) : size_(size) {
  if (size_ == 0) return;
  for (const std::int64_t id : prompt) add(id);
}

void NgramRule::add(std::int64_t id) {
  if (size_ == 0) return;
  history_.push_back(id);
  if (history_.size() < size_) return;
  const std::size_t place = history_.size() - 1;
  followers_.emplace(tail_hash(place), place);
}

std::vector<std::int64_t> NgramRule::banned() const {
  std::vector<std::int64_t> ids;
  if (size_ == 0 || history_.size() + 1 < size_) return ids;
  const auto [first, last] = followers_.equal_range(tail_hash(history_.size()));
  for (auto entry = first; entry != last; ++entry) {
    if (equal_tails(entry->second, history_.size())) ids.push_back(history_[entry->second]);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Of the n−1 tokens before `end`.
std::uint64_t NgramRule::tail_hash(std::size_t end) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = end + 1 - size_; i < end; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(history_[i])) * 0x100000001b3;
  }
  return hash;
}

bool NgramRule::equal_tails(std::size_t a, std::size_t b) const {
  const auto begin = history_.begin();
  const auto length = static_cast<std::ptrdiff_t>(size_) - 1;
  const auto tail = [&](std::size_t end) {
    return begin + static_cast<std::ptrdiff_t>(end) - length;
  };
  return std::equal(tail(a), tail(a) + length, tail(b));
}

}  // namespace profline::workload
