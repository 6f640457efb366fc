// Events that come in two parts: begin and end on a thread, begin and end by an id.

#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

/// Marks a row whose end has not come. No real one has it: times of a trace are far from it.
constexpr std::int64_t kNotEnded = std::numeric_limits<std::int64_t>::min();

constexpr std::string_view kNeverEnded = "begun and never ended";

}  // namespace

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

/// Whatever they are of, they need not nest: they become ranges that start and end.
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

/// What was begun and never ended: a range goes on to the capture's end and says so; of other rows
/// nobody knows how long they were, so they are skipped.
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
