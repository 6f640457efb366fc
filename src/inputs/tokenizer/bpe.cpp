#include "inputs/tokenizer/internal/bpe.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>

namespace profline::tokenizer::internal {
namespace {

constexpr std::size_t kLongWord = 48;  // symbols; up to here looking at all pairs is quicker
constexpr std::size_t kRememberedBytes = 64;
constexpr std::size_t kRememberedWords = 1 << 15;
constexpr std::uint32_t kNobody = UINT32_MAX;

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return (static_cast<std::uint64_t>(left) << 32) | right;
}

/// A merge that may be done, earliest rank and leftmost place first.
struct Candidate {
  std::uint32_t rank;
  std::uint32_t place;
  std::uint32_t result;
  bool operator<(const Candidate& other) const {
    return std::pair(rank, place) > std::pair(other.rank, other.place);
  }
};

struct Link {
  std::uint32_t symbol;
  std::uint32_t previous;
  std::uint32_t next;
  bool alive;
};

/// The symbols of a long word as a list, merged in the order of a heap: n log n.
class MergeList {
 public:
  MergeList(const MergeTable& merges, const std::vector<std::uint32_t>& symbols) : merges_(merges) {
    const auto size = static_cast<std::uint32_t>(symbols.size());
    links_.reserve(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      links_.push_back(
          {symbols[i], i == 0 ? kNobody : i - 1, i + 1 == size ? kNobody : i + 1, true});
    }
    for (std::uint32_t i = 0; i < size; ++i) consider(i);
  }

  std::vector<std::uint32_t> run() {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      if (is_current(top)) merge(top);
    }
    std::vector<std::uint32_t> symbols;
    for (std::uint32_t i = 0; i != kNobody; i = links_[i].next) symbols.push_back(links_[i].symbol);
    return symbols;
  }

 private:
  void consider(std::uint32_t place) {
    if (place == kNobody || links_[place].next == kNobody) return;
    const auto merge = merges_.find(links_[place].symbol, links_[links_[place].next].symbol);
    if (merge.rank != MergeTable::kNoRank) queue_.push({merge.rank, place, merge.result});
  }

  /// Whether the pair is still the one that was queued.
  bool is_current(const Candidate& candidate) const {
    const Link& left = links_[candidate.place];
    if (!left.alive || left.next == kNobody) return false;
    return merges_.find(left.symbol, links_[left.next].symbol).rank == candidate.rank;
  }

  void merge(const Candidate& candidate) {
    Link& left = links_[candidate.place];
    Link& right = links_[left.next];
    left.symbol = candidate.result;
    left.next = right.next;
    right.alive = false;
    if (left.next != kNobody) links_[left.next].previous = candidate.place;
    consider(left.previous);
    consider(candidate.place);
  }

  const MergeTable& merges_;
  std::vector<Link> links_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

MergeTable::MergeTable(std::size_t count)
    : slots_(std::bit_ceil(2 * count + 2)), shift_(64 - std::countr_zero(slots_.size())) {}

std::size_t MergeTable::slot_of(std::uint64_t pair) const {
  std::size_t slot = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15) >> shift_);
  while (slots_[slot].pair != kFree && slots_[slot].pair != pair) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void MergeTable::add(std::uint32_t left, std::uint32_t right, Merge merge) {
  slots_[slot_of(pair_of(left, right))] = {pair_of(left, right), merge};
}

MergeTable::Merge MergeTable::find(std::uint32_t left, std::uint32_t right) const {
  return slots_[slot_of(pair_of(left, right))].merge;
}

void WordEncoder::encode(std::string_view word, std::vector<TokenId>& ids) {
  if (word.size() > kRememberedBytes) {
    compute(std::string(word));
    ids.insert(ids.end(), symbols_.begin(), symbols_.end());
    return;
  }
  key_ = word;
  auto seen = seen_.find(key_);
  if (seen == seen_.end()) {
    compute(key_);
    if (seen_.size() == kRememberedWords) seen_.clear();
    seen = seen_.emplace(key_, symbols_).first;
  }
  ids.insert(ids.end(), seen->second.begin(), seen->second.end());
}

void WordEncoder::compute(const std::string& word) {
  symbols_.clear();
  if (const auto whole = bpe_->whole_words.find(word); whole != bpe_->whole_words.end()) {
    symbols_.push_back(whole->second);
    return;
  }
  for (const char c : word) symbols_.push_back(bpe_->byte_ids[static_cast<unsigned char>(c)]);
  if (symbols_.size() <= kLongWord) {
    merge_short();
  } else {
    merge_long();
  }
}

void WordEncoder::merge_short() {
  const MergeTable& merges = bpe_->merges;
  ranks_.resize(symbols_.empty() ? 0 : symbols_.size() - 1);
  for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) {
    ranks_[i] = merges.find(symbols_[i], symbols_[i + 1]).rank;
  }
  while (!ranks_.empty()) {
    const auto first = std::min_element(ranks_.begin(), ranks_.end());
    if (*first == MergeTable::kNoRank) break;
    const auto at = static_cast<std::size_t>(first - ranks_.begin());
    symbols_[at] = merges.find(symbols_[at], symbols_[at + 1]).result;
    symbols_.erase(symbols_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    ranks_.erase(first);
    if (at > 0) ranks_[at - 1] = merges.find(symbols_[at - 1], symbols_[at]).rank;
    if (at < ranks_.size()) ranks_[at] = merges.find(symbols_[at], symbols_[at + 1]).rank;
  }
}

void WordEncoder::merge_long() {
  symbols_ = MergeList(bpe_->merges, symbols_).run();
}

}  // namespace profline::tokenizer::internal
