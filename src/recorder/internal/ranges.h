#pragma once

#include <cstdint>

#include "recorder/internal/lanes.h"
#include "recorder/internal/names.h"
#include "recorder/internal/nvtx_abi.h"

/// Records ranges. `Text` is const char*, const wchar_t* or Name*; a null domain is the default
/// one.
namespace profline::recorder {

/// A number for a range that any thread may end.
std::uint64_t new_range_id();

/// The depth of the new range, as NVTX counts it.
template <typename Text>
int push(Name* domain, Text text, EventKind kind = EventKind::Push) {
  const Entry entry;
  if (!entry) return nvtx::kNoTracking;
  const std::uint32_t domain_id = name_of(entry, domain);
  const std::uint32_t name = name_of(entry, text);
  append(entry, kind, domain_id, name, now_ns());
  return depth_of(entry.lane(), domain_id)++;
}

/// The depth of the range that ended; negative if no range was open.
inline int pop(Name* domain) {
  const std::uint64_t time_ns = now_ns();
  const Entry entry;
  if (!entry) return nvtx::kNoTracking;
  const std::uint32_t domain_id = name_of(entry, domain);
  append_pop(entry, domain_id, time_ns);
  std::int32_t& depth = depth_of(entry.lane(), domain_id);
  return depth > 0 ? --depth : -1;
}

template <typename Text>
void start(Name* domain, Text text, std::uint64_t id) {
  const Entry entry;
  if (!entry) return;
  const std::uint32_t domain_id = name_of(entry, domain);
  const std::uint32_t name = name_of(entry, text);
  append_with_id(entry, EventKind::Start, domain_id, name, now_ns(), id);
}

inline void end(std::uint64_t id) {
  const std::uint64_t time_ns = now_ns();
  const Entry entry;
  if (entry) append_with_id(entry, EventKind::End, 0, kNoName, time_ns, id);
}

/// A moment with a name.
template <typename Text>
void mark(Name* domain, Text text, EventKind kind = EventKind::Mark) {
  const std::uint64_t time_ns = now_ns();
  const Entry entry;
  if (!entry) return;
  const std::uint32_t domain_id = name_of(entry, domain);
  append(entry, kind, domain_id, name_of(entry, text), time_ns);
}

}  // namespace profline::recorder
