#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace profline::workload {

/// The rule that no n tokens come twice in the same order, in prompt and output together: after
/// n−1 tokens that were there before, what followed them then is banned. Each token costs O(n),
/// however long the history is.
class NgramRule {
 public:
  /// A size of 0 bans nothing.
  NgramRule(std::uint32_t size, std::span<const std::int64_t> prompt);

  void add(std::int64_t id);
  /// Ids that must not come next, ascending.
  std::vector<std::int64_t> banned() const;

 private:
  std::uint64_t tail_hash(std::size_t end) const;
  bool equal_tails(std::size_t a, std::size_t b) const;

  std::size_t size_;
  std::vector<std::int64_t> history_;
  // From a hash of n−1 tokens to the places right behind where they stood.
  std::unordered_multimap<std::uint64_t, std::size_t> followers_;
};

}  // namespace profline::workload
