#include <algorithm>

#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
// Wall-clock times that a capture can have: 2001 to 2100.
constexpr std::int64_t kEarliestNs = 1'000'000'000'000'000'000;
constexpr std::int64_t kLatestNs = 4'102'444'800'000'000'000;

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string(count == 1 ? one : many);
}

std::uint64_t unsigned_member(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  return value != nullptr && value->is_int() && value->as_int() > 0
             ? static_cast<std::uint64_t>(value->as_int())
             : 0;
}

bool is_wall_clock(std::int64_t ns) {
  return ns >= kEarliestNs && ns <= kLatestNs;
}

}  // namespace

void TimelineBuilder::add_gpus(const Node& properties) {
  if (!properties.is_list()) return note("deviceProperties is no list: no device is known");
  for (const Node& entry : properties.as_list()) {
    if (!entry.is_map()) continue;
    Gpu gpu;
    gpu.device = static_cast<std::int32_t>(unsigned_member(entry, "id"));
    const Node* name = entry.find("name");
    if (name != nullptr && name->is_string()) gpu.name = name->as_string();
    gpu.memory_bytes = unsigned_member(entry, "totalGlobalMem");
    gpu.multiprocessors = static_cast<std::uint32_t>(unsigned_member(entry, "numSms"));
    if (const std::uint64_t major = unsigned_member(entry, "computeMajor"); major > 0) {
      gpu.compute_capability =
          std::to_string(major) + '.' + std::to_string(unsigned_member(entry, "computeMinor"));
    }
    timeline_.gpus.push_back(std::move(gpu));
  }
}

void TimelineBuilder::add_member(const std::string& key, const Node& value) {
  if (key == "deviceProperties") return add_gpus(value);
  if (key == "baseTimeNanoseconds" && value.is_int()) base_ns_ = value.as_int();
  if (key == "distributedInfo" && value.is_map()) {
    const Node* rank = value.find("rank");
    if (rank != nullptr && rank->is_int()) timeline_.rank = rank->as_int();
    const Node* world = value.find("world_size");
    if (world != nullptr && world->is_int()) timeline_.world_size = world->as_int();
  }
}

template <typename Visit>
void TimelineBuilder::each_time(Visit&& visit) {
  for (PendingWork& work : work_) visit(work.row.start_ns, work.row.end_ns);
  for (PendingCall& call : calls_) visit(call.row.start_ns, call.row.end_ns);
  for (Range& range : timeline_.ranges) visit(range.start_ns, range.end_ns);
  for (Operator& op : timeline_.operators) visit(op.start_ns, op.end_ns);
}

/// What was read as microseconds was nanoseconds.
void TimelineBuilder::become_nanoseconds(std::string why) {
  unit_ = ClockUnit::Nanoseconds;
  each_time([](std::int64_t& start_ns, std::int64_t& end_ns) {
    start_ns /= kNsPerUs;
    if (end_ns != std::numeric_limits<std::int64_t>::min()) end_ns /= kNsPerUs;
  });
  note("times are nanoseconds, not microseconds as the format has it: " + std::move(why));
}

/// Chrome's format has microseconds. A writer that puts nanoseconds there is known by dates far in
/// the future, or by launches, a few microseconds each, that seem to take milliseconds.
void TimelineBuilder::judge_clock() {
  if (unit_ == ClockUnit::Nanoseconds || has_fractions_) return;
  constexpr std::size_t kEnough = 8;
  constexpr std::int64_t kLongForALaunchNs = 1'000'000;
  std::vector<std::int64_t> launches;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  each_time([&](std::int64_t start_ns, std::int64_t) { first_ns = std::min(first_ns, start_ns); });
  if (first_ns == std::numeric_limits<std::int64_t>::max()) return;  // there are no rows
  if (first_ns / kNsPerUs > kEarliestNs / kNsPerUs * 5) {
    return become_nanoseconds("as microseconds they would be of a year after 2128");
  }
  // A date that is one, without a base to add to it: no doubt. Launches may then be long, as under
  // a profiler that runs each kernel several times.
  if (base_ns_ == 0 && is_wall_clock(first_ns)) return;
  for (const PendingCall& call : calls_) {
    if (call.row.kind == CallKind::Launch) launches.push_back(call.row.duration_ns());
  }
  if (launches.size() < kEnough) return;
  const auto median = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2);
  std::nth_element(launches.begin(), median, launches.end());
  if (*median < kLongForALaunchNs) return;
  become_nanoseconds("as microseconds half of all launches would take more than a millisecond");
}

void TimelineBuilder::rebase() {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  each_time([&](std::int64_t start_ns, std::int64_t end_ns) {
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max({last_ns, start_ns, end_ns});
  });
  if (first_ns > last_ns) return;  // there are no rows
  std::int64_t length_ns = 0;
  if (__builtin_sub_overflow(last_ns, first_ns, &length_ns)) {
    // Times from one end of the range of numbers to the other: no clock is that wrong.
    note("times differ by more than 292 years: they are kept as they stand");
    timeline_.begin_ns = first_ns;
    timeline_.end_ns = last_ns;
    return;
  }
  each_time([&](std::int64_t& start_ns, std::int64_t& end_ns) {
    start_ns -= first_ns;
    end_ns -= first_ns;
  });
  timeline_.end_ns = length_ns;
  std::int64_t wall_ns = 0;
  if (__builtin_add_overflow(base_ns_, first_ns, &wall_ns)) return;
  if (is_wall_clock(wall_ns)) timeline_.unix_origin_ns = wall_ns;
}

void TimelineBuilder::tell() {
  if (duplicates_ > 0) {
    note(counted(duplicates_, "event has", "events have") + " a key twice: the last value counts");
  }
  if (quoted_numbers_ > 0) {
    note(counted(quoted_numbers_, "number stands", "numbers stand") +
         " in quotes: read as numbers");
  }
  if (names_.bad_escapes() > 0) {
    note(counted(names_.bad_escapes(), "name has", "names have") +
         " invalid escapes: kept as written");
  }
  if (names_.bad_utf8() > 0) {
    note(counted(names_.bad_utf8(), "name is", "names are") + " not valid UTF-8: kept as written");
  }
  if (without_stream_ > 0) {
    note(counted(without_stream_, "piece", "pieces") +
         " of device work without a stream: put on stream -1");
  }
  for (const SkipCount& entry : skipped_) {
    timeline_.reading.skip(entry.reason, "byte " + std::to_string(entry.first_offset), entry.count);
  }
}

Timeline TimelineBuilder::finish(std::string source) {
  timeline_.source = std::move(source);
  timeline_.tool = is_converted_ ? "Chrome trace" : "Kineto";
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  each_time([&](std::int64_t start_ns, std::int64_t end_ns) {
    last_ns = std::max({last_ns, start_ns, end_ns});
  });
  drop_unclosed(last_ns);
  judge_clock();
  rebase();
  threads_.apply_names(timeline_.names);
  link(timeline_, std::move(work_), std::move(calls_));
  collectives_.finish();
  tell();
  return std::move(timeline_);
}

}  // namespace profline::torch_profiler::internal
