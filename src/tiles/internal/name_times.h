#pragma once

#include <cstdint>
#include <vector>

namespace profline::tiles::internal {

/// Adds up time by name and knows the name with most of it; of equal ones, the smallest. Clearing
/// it is free, because it happens for each bin.
class NameTimes {
 public:
  struct Most {
    std::uint32_t name = 0;
    std::int64_t ns = -1;  ///< -1: there is no name
  };

  void clear() {
    ++round_;
    used_ = 0;
    most_ = Most();
  }
  void add(std::uint32_t name, std::int64_t ns) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slot_of(name);
    if (slot.round != round_) {
      slot = {name, round_, 0};
      ++used_;
    }
    slot.ns += ns;
    const bool is_more = slot.ns > most_.ns || (slot.ns == most_.ns && name < most_.name);
    if (is_more) most_ = {name, slot.ns};
  }
  const Most& most() const { return most_; }

 private:
  struct Slot {
    std::uint32_t name = 0;
    std::uint32_t round = 0;
    std::int64_t ns = 0;
  };

  Slot& slot_of(std::uint32_t name) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (name * 0x9E3779B1U >> 7U) & mask;
    while (slots_[at].round == round_ && slots_[at].name != name) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : slots_.size() * 2);
    old.swap(slots_);
    const std::uint32_t round = round_;
    round_ = 1;
    for (const Slot& slot : old) {
      if (slot.round == round) slot_of(slot.name) = {slot.name, round_, slot.ns};
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t round_ = 1;
  std::size_t used_ = 0;
  Most most_;
};

}  // namespace profline::tiles::internal
