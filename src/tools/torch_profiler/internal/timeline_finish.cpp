#include <algorithm>

#include "base/figures.h"
#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
// Plausible wall-clock times of a capture: 2001 to 2100.
constexpr std::int64_t kEarliestNs = 1'000'000'000'000'000'000;
constexpr std::int64_t kLatestNs = 4'102'444'800'000'000'000;

std::uint64_t unsigned_member(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  return value != nullptr && value->is_int() && value->as_int() > 0
             ? static_cast<std::uint64_t>(value->as_int())
             : 0;
}

bool is_wall_clock(std::int64_t ns) {
  return ns >= kEarliestNs && ns <= kLatestNs;
}

/// Marks a row without an end so far. No real row has it: times of a trace are far from it.
constexpr std::int64_t kNotEnded = std::numeric_limits<std::int64_t>::min();

constexpr std::string_view kNeverEnded = "begun and never ended";

}  // namespace

void TimelineBuilder::add_gpus(const Node& properties) {
  if (!properties.is_list()) return note("deviceProperties is not a list: no device is known");
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
    const Node* groups = value.find("pg_config");
    if (groups != nullptr) collectives_.set_groups(*groups);
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

/// Chrome's format has microseconds. A writer that uses nanoseconds instead is recognised by dates
/// far in the future, or by launches, a few microseconds each, that seem to take milliseconds.
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
  // The first time is a valid date without a base to add to it: no doubt. Launches may then be
  // long, as under a profiler that runs each kernel several times.
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
    // Times that span the whole range of numbers: no clock is that wrong.
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

void TimelineBuilder::add_notes() {
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
    timeline_.reading.skip(entry.reason, "byte " + std::to_string(entry.first_offset), entry.count,
                           entry.is_of_the_tool);
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
  add_notes();
  return std::move(timeline_);
}

// Events in two parts: begin and end on a thread, begin and end by an id.

void TimelineBuilder::add_begin(const RawEvent& event, std::uint64_t offset) {
  Times times;
  if (!read_time(event.time, "start time ('ts')", offset, times.start_ns)) return;
  times.end_ns = kNotEnded;
  Open open;
  if (!add_row(event, times, offset, open)) return;
  begun_[{std::string(event.process.text()), std::string(event.thread.text())}].push_back(open);
  use();
}

void TimelineBuilder::add_end(const RawEvent& event, std::uint64_t offset) {
  const auto lane =
      begun_.find({std::string(event.process.text()), std::string(event.thread.text())});
  if (lane == begun_.end() || lane->second.empty()) return skip("an end without a begin", offset);
  std::int64_t end_ns = 0;
  if (!read_time(event.time, "end time ('ts')", offset, end_ns)) return;
  const Open open = lane->second.back();
  if (end_ns < start_of(open)) return skip("an end before its begin", offset);
  lane->second.pop_back();
  close(open, end_ns);
  use();
}

/// They need not nest, whatever they are about: they become start/end ranges.
void TimelineBuilder::add_async(const RawEvent& event, std::uint64_t offset) {
  std::int64_t time_ns = 0;
  if (!read_time(event.time, "time ('ts')", offset, time_ns)) return;
  std::string key(event.category.text());
  key += '\x1f';
  key += event.id.text();
  if (event.phase == 'b' || event.phase == 'S') {
    add_range(event, {time_ns, kNotEnded}, RangeKind::StartEnd);
    begun_async_[key].push_back({Open::Table::Range, timeline_.ranges.size() - 1, offset});
    return use();
  }
  const auto found = begun_async_.find(key);
  if (found == begun_async_.end() || found->second.empty()) {
    return skip("an end without a begin", offset);
  }
  const Open open = found->second.back();
  if (time_ns < start_of(open)) return skip("an end before its begin", offset);
  found->second.pop_back();
  timeline_.ranges[open.row].end_thread = threads_.row_of(event.process, event.thread);
  close(open, time_ns);
  use();
}

std::int64_t TimelineBuilder::start_of(const Open& open) const {
  switch (open.table) {
    case Open::Table::Work:
      return work_[open.row].row.start_ns;
    case Open::Table::Call:
      return calls_[open.row].row.start_ns;
    case Open::Table::Range:
      return timeline_.ranges[open.row].start_ns;
    case Open::Table::Operator:
      break;
  }
  return timeline_.operators[open.row].start_ns;
}

void TimelineBuilder::close(const Open& open, std::int64_t end_ns) {
  switch (open.table) {
    case Open::Table::Work:
      work_[open.row].row.end_ns = end_ns;
      return;
    case Open::Table::Call:
      calls_[open.row].row.end_ns = end_ns;
      return;
    case Open::Table::Range:
      timeline_.ranges[open.row].end_ns = end_ns;
      return;
    case Open::Table::Operator:
      timeline_.operators[open.row].end_ns = end_ns;
  }
}

/// Rows that were begun and never ended: a range lasts to the capture's end and is marked as such;
/// the duration of other rows is unknown, so they are skipped.
void TimelineBuilder::drop_unclosed(std::int64_t capture_end_ns) {
  const auto judge = [&](const Open& open) {
    if (open.table == Open::Table::Range) {
      timeline_.ranges[open.row].end_ns = std::max(capture_end_ns, start_of(open));
      timeline_.ranges[open.row].closed = false;
      return;
    }
    --timeline_.reading.used;
    --events_;
    skip(kNeverEnded, open.offset);
  };
  for (const auto& [lane, opens] : begun_) {
    for (const Open& open : opens) judge(open);
  }
  for (const auto& [key, opens] : begun_async_) {
    for (const Open& open : opens) judge(open);
  }
  const auto never_ended = [](const auto& row) { return row.end_ns == kNotEnded; };
  std::erase_if(work_, [&](const PendingWork& work) { return never_ended(work.row); });
  std::erase_if(calls_, [&](const PendingCall& call) { return never_ended(call.row); });
  std::erase_if(timeline_.operators, never_ended);
}

}  // namespace profline::torch_profiler::internal
