#include "inputs/tokenizer/internal/bpe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <utility>

namespace profline::tokenizer::internal {
namespace {

constexpr std::size_t kLongWord = 48;  // symbols; up to here, scanning all pairs is faster
constexpr std::size_t kRememberedBytes = 64;
constexpr std::size_t kRememberedWords = 1 << 15;
constexpr std::uint32_t kNobody = UINT32_MAX;

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return (static_cast<std::uint64_t>(left) << 32) | right;
}

/// A possible merge, ordered by rank, then by position.
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

constexpr unsigned kFirstExtra = 0x100;
constexpr unsigned kExtras = 68;  // controls, space, DEL to U+00A0, soft hyphen

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<unsigned, 256> symbol{};
  std::array<int, kFirstExtra + kExtras> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int& byte : alphabet.byte) byte = -1;
  unsigned extra = kFirstExtra;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned symbol = stands_for_itself(byte) ? byte : extra++;
    alphabet.symbol[byte] = symbol;
    alphabet.byte[symbol] = static_cast<int>(byte);
  }
  return alphabet;
}
constexpr Alphabet kAlphabet = make_alphabet();
static_assert(kAlphabet.byte.back() == 0xAD);

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

std::string symbol_of(unsigned char byte) {
  const unsigned symbol = kAlphabet.symbol[byte];
  if (symbol < 0x80) return {static_cast<char>(symbol)};
  return {static_cast<char>(0xC0U | (symbol >> 6)), static_cast<char>(0x80U | (symbol & 0x3FU))};
}

std::optional<std::string> bytes_of_symbols(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned symbol = static_cast<unsigned char>(token[i]);
    if (symbol >= 0x80) {
      // Symbols take two bytes at most; a longer character is not a symbol.
      if (symbol >= 0xE0 || i + 1 == token.size()) return std::nullopt;
      symbol = ((symbol & 0x1FU) << 6) | (static_cast<unsigned char>(token[++i]) & 0x3FU);
    }
    if (symbol >= kAlphabet.byte.size() || kAlphabet.byte[symbol] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[symbol]);
  }
  return bytes;
}

}  // namespace profline::tokenizer::internal
