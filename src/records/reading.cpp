#include "records/reading.h"

#include <algorithm>

namespace profline {

std::uint64_t Reading::events() const {
  std::uint64_t all = used;
  for (const Skipped& entry : skipped) all += entry.count;
  return all;
}

void Reading::skip(std::string_view reason, std::string_view position, std::uint64_t count,
                   bool is_of_the_tool) {
  const auto known = std::ranges::find(skipped, reason, &Skipped::reason);
  if (known != skipped.end()) {
    known->count += count;
    return;
  }
  skipped.push_back({std::string(reason), count, std::string(position), is_of_the_tool});
}

void Reading::append(const Reading& other) {
  used += other.used;
  lost += other.lost;
  for (const Skipped& one : other.skipped) {
    skip(one.reason, one.first_position, one.count, one.is_of_the_tool);
  }
  for (const std::string& note : other.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  losses.insert(losses.end(), other.losses.begin(), other.losses.end());
}

}  // namespace profline
