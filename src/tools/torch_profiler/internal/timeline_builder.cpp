#include "tools/torch_profiler/internal/timeline_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "records/timeline.h"

namespace profline::torch_profiler::internal {
namespace {

constexpr std::size_t kLongestCategory = 64;
constexpr std::size_t kMostReasons = 64;  // a hostile trace has any number of categories

/// A list as its text.
RawValue as_text(const RawValue& value) {
  const std::string_view text = value.text();
  return {RawValue::Kind::String, text.data(), text.data() + text.size()};
}

/// Converters of nsys files show the calls and the ranges of a thread as two lanes of a viewer,
/// "CUDA API Thread 12" and "NVTX Thread 12". The number shows that they are one thread.
RawValue host_thread(const RawValue& lane) {
  const std::string_view text = lane.text();
  if (lane.kind() != RawValue::Kind::String ||
      !(text.starts_with("CUDA API") || text.starts_with("NVTX"))) {
    return lane;
  }
  const std::size_t before = text.find_last_not_of("0123456789");
  if (before + 1 == text.size()) return lane;
  return {RawValue::Kind::Bare, text.data() + before + 1, text.data() + text.size()};
}

bool is_device_process(const RawValue& process) {
  return process.kind() == RawValue::Kind::String && process.text().starts_with("CUDA");
}

}  // namespace

TimelineBuilder::TimelineBuilder()
    : names_(timeline_.names),
      threads_(timeline_.threads),
      streams_(timeline_.streams),
      shapes_(timeline_.shapes),
      collectives_(timeline_, names_) {}

void TimelineBuilder::skip(std::string_view reason, std::uint64_t offset, bool is_of_the_tool) {
  ++events_;
  // Most reasons occurred just before: a handful of comparisons, without creating text.
  for (SkipCount& known : skipped_) {
    if (known.reason == reason) {
      ++known.count;
      return;
    }
  }
  skipped_.push_back({std::string(reason), 1, offset, is_of_the_tool});
}

void TimelineBuilder::add(const RawEvent& event, std::uint64_t offset) {
  if (event.has_duplicates) ++duplicates_;
  switch (event.phase) {
    case 'X':
      return add_complete(event, offset);
    case 'B':
      return add_begin(event, offset);
    case 'E':
      return add_end(event, offset);
    case 'b':
    case 'e':
    case 'S':
    case 'F':
      return add_async(event, offset);
    case 'M':
      return add_metadata(event, offset);
    case 's':
    case 't':
    case 'f':
      return skip("flow arrow: launches are linked by their correlation", offset, true);
    case 'C':
      return skip("counter", offset);
    case 'i':
    case 'I':
    case 'n':
    case 'T':
    case 'R':
      return skip("instant event", offset);
    case '\0':
      return skip("no phase ('ph')", offset);
    default:
      return skip("a phase ('ph') that no row is made of", offset);
  }
}

/// False, with the event skipped, if the value is not a time.
bool TimelineBuilder::read_time(const RawValue& value, std::string_view what, std::uint64_t offset,
                                std::int64_t& ns) {
  RawTime time = time_of(value, unit_);
  if (time.state == RawTime::State::TooLarge && unit_ == ClockUnit::Microseconds) {
    time = time_of(value, ClockUnit::Nanoseconds);
    if (time.state == RawTime::State::Good) {
      become_nanoseconds("times are too large for microseconds");
    }
  }
  switch (time.state) {
    case RawTime::State::Good:
      break;
    case RawTime::State::Absent:
      skip("no " + std::string(what), offset);
      return false;
    case RawTime::State::NotANumber:
      skip(std::string(what) + " is not a number", offset);
      return false;
    case RawTime::State::TooLarge:
      skip(std::string(what) + " is too large", offset);
      return false;
  }
  if (value.kind() == RawValue::Kind::String) ++quoted_numbers_;
  has_fractions_ = has_fractions_ || time.has_fraction;
  ns = time.ns;
  return true;
}

void TimelineBuilder::add_complete(const RawEvent& event, std::uint64_t offset) {
  const EventClass kind = class_of(event);
  if (!skip_reason(kind).empty() || kind == EventClass::Unknown) {
    return skip_class(event, kind, offset);
  }
  Times times;
  std::int64_t duration_ns = 0;
  if (!read_time(event.time, "start time ('ts')", offset, times.start_ns)) return;
  if (!read_time(event.duration, "duration ('dur')", offset, duration_ns)) return;
  if (duration_ns < 0) return skip("negative duration", offset);
  if (__builtin_add_overflow(times.start_ns, duration_ns, &times.end_ns)) {
    return skip("the end is too large", offset);
  }
  Open unused;
  if (add_row(event, times, offset, unused)) use();
}

bool TimelineBuilder::add_row(const RawEvent& event, const Times& times, std::uint64_t offset,
                              Open& made) {
  made.offset = offset;
  const EventClass kind = class_of(event);
  switch (kind) {
    case EventClass::Kernel:
    case EventClass::Copy:
    case EventClass::Fill:
      add_work(event, times, kind);
      made.table = Open::Table::Work;
      made.row = work_.size() - 1;
      return true;
    case EventClass::Call:
      add_call(event, times);
      made.table = Open::Table::Call;
      made.row = calls_.size() - 1;
      return true;
    case EventClass::Range:
      add_range(event, times, RangeKind::PushPop);
      made.table = Open::Table::Range;
      made.row = timeline_.ranges.size() - 1;
      return true;
    case EventClass::None:  // from PyTorch before Kineto, and other writers
      if (is_device_process(event.process)) {
        add_work(event, times, EventClass::Kernel);
        made.table = Open::Table::Work;
        made.row = work_.size() - 1;
        return true;
      }
      [[fallthrough]];
    case EventClass::Operator:
      add_operator(event, times);
      made.table = Open::Table::Operator;
      made.row = timeline_.operators.size() - 1;
      return true;
    default:
      skip_class(event, kind, offset);
      return false;
  }
}

EventClass TimelineBuilder::class_of(const RawEvent& event) {
  const std::string_view category = event.category.text();
  if (category != last_category_) {
    last_category_.assign(category);
    last_class_ = event_class(category);
    is_converted_ = is_converted_ || is_of_converter(category);
  }
  if (last_class_ == EventClass::Cuda) return class_by_name(event.name.text());
  // Without categories calls are among the operators, as in exports of PyTorch's EventList.
  if (last_class_ == EventClass::None && !is_device_process(event.process) &&
      is_call_name(event.name.text())) {
    return EventClass::Call;
  }
  return last_class_;
}

std::optional<std::string> TimelineBuilder::refusal() const {
  if (foreign_.empty() || !work_.empty()) return std::nullopt;
  std::string devices;
  std::string events;
  for (const auto& [category, count] : foreign_) {
    const std::string_view device = device_of(category);
    if (devices.find(device) == std::string::npos) {
      devices += (devices.empty() ? "" : " and ") + std::string(device);
    }
    events +=
        (events.empty() ? "" : ", ") + std::to_string(count) + " of category '" + category + "'";
  }
  return "a trace of " + devices + " devices, which are not supported: their work is in events (" +
         events + ") that profline does not read";
}

void TimelineBuilder::skip_class(const RawEvent& event, EventClass kind, std::uint64_t offset) {
  if (kind == EventClass::ForeignDevice) ++foreign_[std::string(event.category.text())];
  const bool is_of_the_tool = kind == EventClass::Overhead || kind == EventClass::ProfilerSpan;
  if (kind != EventClass::Unknown) return skip(skip_reason(kind), offset, is_of_the_tool);
  std::string category(event.category.text().substr(0, kLongestCategory));
  if (unknown_categories_.size() < kMostReasons) unknown_categories_.insert(category);
  if (!unknown_categories_.contains(category)) category = "others";
  skip("category '" + category + "', which is not read", offset);
}

Stream TimelineBuilder::stream_of(const RawEvent& event) const {
  Stream stream;
  auto device = signed_of(event.device);
  if (!device) device = trailing_number(event.process);
  stream.device = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(device.value_or(0), -1, std::numeric_limits<std::int32_t>::max()));
  stream.context = unsigned_of(event.context).value_or(0);
  auto number = signed_of(event.stream);
  if (!number) number = trailing_number(event.thread);
  stream.stream = number.value_or(-1);
  return stream;
}

void TimelineBuilder::add_work(const RawEvent& event, const Times& times, EventClass kind) {
  PendingWork work;
  work.row.start_ns = times.start_ns;
  work.row.end_ns = times.end_ns;
  work.row.name = names_.id_of(event.name);
  if (!event.stream.is_present() && !event.thread.is_present()) ++without_stream_;
  work.row.stream = streams_.row_of(stream_of(event));
  work.row.graph_node = unsigned_of(event.graph_node).value_or(0);
  if (kind == EventClass::Kernel) {
    work.row.shape = shapes_.row_of(event);
    work.row.collective = collectives_.add_kernel(event);
  } else {
    work.row.bytes = unsigned_of(event.bytes).value_or(0);
    work.row.kind = kind == EventClass::Copy ? WorkKind::Copy : WorkKind::Fill;
    if (kind == EventClass::Copy) work.row.copy = copy_kind(event.name.text());
    const MemoryKinds memory = memory_kinds(event.name.text());
    work.row.from = memory.from;
    work.row.to = memory.to;
  }
  work.correlation = unsigned_of(event.correlation).value_or(0);
  work.external_id = unsigned_of(event.external_id).value_or(0);
  if (event.correlation.kind() == RawValue::Kind::String) ++quoted_numbers_;
  if (event.external_id.kind() == RawValue::Kind::String) ++quoted_numbers_;
  work_.push_back(work);
}

void TimelineBuilder::add_call(const RawEvent& event, const Times& times) {
  PendingCall call;
  call.row.start_ns = times.start_ns;
  call.row.end_ns = times.end_ns;
  call.row.name = names_.id_of(event.name);
  call.row.thread = threads_.row_of(event.process, host_thread(event.thread));
  call.row.correlation = unsigned_of(event.correlation).value_or(0);
  call.row.kind = call_kind(event.name.text());
  call.external_id = unsigned_of(event.external_id).value_or(0);
  call.bytes = unsigned_of(event.bytes).value_or(0);
  call.shape = shapes_.row_of(event);
  calls_.push_back(call);
}

void TimelineBuilder::add_range(const RawEvent& event, const Times& times, RangeKind kind) {
  Range range;
  range.start_ns = times.start_ns;
  range.end_ns = times.end_ns;
  range.name = names_.id_of(event.name);
  range.thread = threads_.row_of(event.process, host_thread(event.thread));
  range.end_thread = range.thread;
  range.collective = collectives_.add_range(event);
  range.kind = kind;
  timeline_.ranges.push_back(range);
}

void TimelineBuilder::add_operator(const RawEvent& event, const Times& times) {
  Operator op;
  op.start_ns = times.start_ns;
  op.end_ns = times.end_ns;
  op.name = names_.id_of(event.name);
  op.input_shapes = names_.id_of(as_text(event.input_shapes));
  op.thread = threads_.row_of(event.process, event.thread);
  op.external_id = unsigned_of(event.external_id).value_or(0);
  if (event.external_id.kind() == RawValue::Kind::String) ++quoted_numbers_;
  op.collective = collectives_.add_operator(event);
  timeline_.operators.push_back(op);
}

void TimelineBuilder::add_metadata(const RawEvent& event, std::uint64_t offset) {
  if (event.name.text() != "thread_name" || !event.args_name.is_present()) {
    return skip("metadata for viewers: names and order of lanes", offset, true);
  }
  threads_.set_name(event.process, event.thread, names_.id_of(event.args_name));
  use();
}

}  // namespace profline::torch_profiler::internal
