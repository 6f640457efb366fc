#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{256} << 10U;
/// Viewers group the lanes of a process; devices get numbers that no process has.
constexpr std::int64_t kFirstDeviceProcess = 0;
/// Perfetto reads thread numbers as 32 bits; larger ones would all be one lane.
constexpr std::int64_t kFirstRenumbered = 3'000'000'000;
constexpr std::int64_t kLargestThread = std::numeric_limits<std::uint32_t>::max();
/// Between the lanes of one stream.
constexpr std::int64_t kLaneStep = 1'000'000;

void append_number(std::string& out, std::int64_t value) {
  std::array<char, 24> text{};
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value);
  static_cast<void>(failure);
  out.append(text.data(), end);
}

/// 1234567 as `1234.567`.
void append_microseconds(std::string& out, std::int64_t ns) {
  if (ns < 0) out += '-';
  const std::uint64_t all =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  append_number(out, static_cast<std::int64_t>(all / 1000));
  out += '.';
  const std::string fraction = std::to_string(1000 + all % 1000);
  out.append(fraction, 1, 3);
}

/// As a JSON string; bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t valid = first_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, valid)) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (byte < 0x20U) {
        out += "\\u00";
        out += kHex[byte >> 4U];
        out += kHex[byte & 0xFU];
      } else {
        out += c;
      }
    }
    if (valid == text.size()) break;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(valid + 1);
  }
  out += '"';
}

class Writer {
 public:
  Writer(const Timeline& timeline, const TextSink& sink) : timeline_(timeline), sink_(sink) {}

  Result<void> run();

 private:
  Result<void> flush_if_full() { return out_.size() > kFlushBytes ? flush() : Result<void>(); }
  Result<void> flush() {
    auto done = sink_(out_);
    out_.clear();
    return done;
  }
  void member(std::string_view key, std::int64_t value) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
    append_number(out_, value);
  }
  void text_member(std::string_view key, std::string_view value) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
    append_string(out_, value);
  }
  void begin(std::string_view phase, std::int64_t process, std::int64_t thread);
  void complete(std::string_view category, Names::Id name, std::int64_t start_ns,
                std::int64_t end_ns, std::int64_t process, std::int64_t thread);
  void end_args() { out_ += "}}"; }
  void lane_name(std::string_view what, std::int64_t process, std::int64_t thread,
                 std::string_view name);
  void lane_order(std::string_view what, std::int64_t process, std::int64_t thread,
                  std::int64_t index);

  std::int64_t process_of(RowIndex thread) const;
  std::int64_t thread_of(RowIndex thread) const;
  std::int64_t device_process(const Stream& stream) const {
    return kFirstDeviceProcess + stream.device;
  }
  Stream stream_of(const DeviceWork& work) const {
    return work.stream == kNoRow ? Stream{-1, 0, -1} : timeline_.streams[work.stream];
  }

  void write_head();
  void write_thread_lanes();
  void write_device_lanes();
  void write_async(const Range& range, RowIndex row);
  Result<void> write_ranges();
  Result<void> write_operators();
  Result<void> write_calls();
  Result<void> write_work();
  std::int64_t lane_of(const DeviceWork& work, const Stream& stream);
  void write_work_args(const DeviceWork& work, const Stream& stream);
  void write_arrow(char phase, std::uint64_t id, std::int64_t at_ns, std::int64_t process,
                   std::int64_t thread);
  /// A unique number for each launch, independent of the tool's.
  static std::int64_t arrow_of(RowIndex call) { return static_cast<std::int64_t>(call) + 1; }

  const Timeline& timeline_;
  const TextSink& sink_;
  std::string out_;
  bool first_ = true;
  std::map<RowIndex, std::vector<std::int64_t>> lane_ends_;  // by stream: when each lane is free
};

void Writer::begin(std::string_view phase, std::int64_t process, std::int64_t thread) {
  out_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_ = false;
  out_ += phase;
  out_ += '"';
  member("pid", process);
  member("tid", thread);
}

void Writer::complete(std::string_view category, Names::Id name, std::int64_t start_ns,
                      std::int64_t end_ns, std::int64_t process, std::int64_t thread) {
  begin("X", process, thread);
  text_member("cat", category);
  text_member("name", timeline_.names.text(name));
  out_ += ",\"ts\":";
  append_microseconds(out_, start_ns);
  out_ += ",\"dur\":";
  append_microseconds(out_, end_ns - start_ns);
  out_ += ",\"args\":{\"from\":\"profline\"";
}

std::int64_t Writer::process_of(RowIndex thread) const {
  return thread == kNoRow ? -1 : timeline_.threads[thread].process;
}

/// Threads without a number that viewers accept are identified by their row.
std::int64_t Writer::thread_of(RowIndex thread) const {
  if (thread == kNoRow) return -1;
  const std::int64_t number = timeline_.threads[thread].thread;
  return number >= 0 && number <= kLargestThread ? number : kFirstRenumbered + thread;
}

void Writer::lane_name(std::string_view what, std::int64_t process, std::int64_t thread,
                       std::string_view name) {
  begin("M", process, thread);
  text_member("name", what);
  out_ += ",\"args\":{\"name\":";
  append_string(out_, name);
  end_args();
}

void Writer::lane_order(std::string_view what, std::int64_t process, std::int64_t thread,
                        std::int64_t index) {
  begin("M", process, thread);
  text_member("name", what);
  out_ += ",\"args\":{\"sort_index\":";
  append_number(out_, index);
  end_args();
}

void Writer::write_thread_lanes() {
  std::set<std::int64_t> processes;
  for (RowIndex row = 0; row < timeline_.threads.size(); ++row) {
    const std::int64_t process = process_of(row);
    if (processes.insert(process).second) {
      lane_name("process_name", process, 0, "host " + std::to_string(process));
      lane_order("process_sort_index", process, 0, 0);
    }
    const std::string& given = timeline_.names.text(timeline_.threads[row].name);
    lane_name("thread_name", process, thread_of(row),
              given.empty() ? "thread " + std::to_string(thread_of(row)) : given);
  }
}

void Writer::write_device_lanes() {
  std::set<std::int64_t> devices;
  for (const Stream& stream : timeline_.streams) {
    const std::int64_t process = device_process(stream);
    if (devices.insert(process).second) {
      std::string name = "GPU " + std::to_string(stream.device);
      for (const Gpu& gpu : timeline_.gpus) {
        if (gpu.device == stream.device) name += ": " + gpu.name;
      }
      lane_name("process_name", process, 0, name);
      lane_order("process_sort_index", process, 0, 1'000'000 + stream.device);
    }
    lane_name("thread_name", process, stream.stream, "stream " + std::to_string(stream.stream));
    lane_order("thread_sort_index", process, stream.stream, stream.stream);
  }
}

void Writer::write_head() {
  out_ = "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\"";
  if (timeline_.unix_origin_ns > 0) member("baseTimeNanoseconds", timeline_.unix_origin_ns);
  if (timeline_.rank >= 0) {
    out_ += ",\"distributedInfo\":{\"rank\":";
    append_number(out_, timeline_.rank);
    member("world_size", timeline_.world_size);
    out_ += '}';
  }
  out_ += ",\"deviceProperties\":[";
  for (std::size_t i = 0; i < timeline_.gpus.size(); ++i) {
    const Gpu& gpu = timeline_.gpus[i];
    out_ += i == 0 ? "{\"id\":" : ",{\"id\":";
    append_number(out_, gpu.device);
    text_member("name", gpu.name);
    member("totalGlobalMem", static_cast<std::int64_t>(gpu.memory_bytes));
    member("numSms", gpu.multiprocessors);
    const std::size_t dot = gpu.compute_capability.find('.');
    if (dot != std::string::npos) {
      out_ += ",\"computeMajor\":" + gpu.compute_capability.substr(0, dot);
      out_ += ",\"computeMinor\":" + gpu.compute_capability.substr(dot + 1);
    }
    out_ += '}';
  }
  out_ += "],\"traceEvents\":[";
}

/// Ranges that need not nest have their own lanes, as events that begin and end.
void Writer::write_async(const Range& range, RowIndex row) {
  const auto half = [&](std::string_view phase, RowIndex thread, std::int64_t at_ns) {
    begin(phase, process_of(thread), thread_of(thread));
    text_member("cat", "user_annotation");
    text_member("name", timeline_.names.text(range.name));
    member("id", row);
    out_ += ",\"ts\":";
    append_microseconds(out_, at_ns);
    out_ += '}';
  };
  half("b", range.thread, range.start_ns);
  half("e", range.end_thread, range.end_ns);
}

Result<void> Writer::write_ranges() {
  // A scope of a Kineto trace is both an operator and a range; written as both, it would be read as
  // two.
  using Scope = std::tuple<RowIndex, Names::Id, std::int64_t, std::int64_t>;
  std::set<Scope> scopes;
  for (const Operator& op : timeline_.operators) {
    const bool may_be_scope = timeline_.names.text(op.name).find("::") == std::string::npos;
    if (may_be_scope) scopes.emplace(op.thread, op.name, op.start_ns, op.end_ns);
  }
  for (RowIndex row = 0; row < timeline_.ranges.size(); ++row) {
    const Range& range = timeline_.ranges[row];
    if (range.kind == RangeKind::StartEnd) {
      write_async(range, row);
    } else if (!scopes.contains({range.thread, range.name, range.start_ns, range.end_ns})) {
      complete("user_annotation", range.name, range.start_ns, range.end_ns,
               process_of(range.thread), thread_of(range.thread));
      if (range.domain != 0) text_member("domain", timeline_.names.text(range.domain));
      if (!range.closed) out_ += ",\"closed\":false";
      end_args();
    }
    PL_TRY(flush_if_full());
  }
  return {};
}

Result<void> Writer::write_operators() {
  for (const Operator& op : timeline_.operators) {
    complete("cpu_op", op.name, op.start_ns, op.end_ns, process_of(op.thread),
             thread_of(op.thread));
    if (op.external_id != 0) member("External id", static_cast<std::int64_t>(op.external_id));
    if (op.input_shapes != 0) text_member("Input Dims", timeline_.names.text(op.input_shapes));
    end_args();
    PL_TRY(flush_if_full());
  }
  return {};
}

void Writer::write_arrow(char phase, std::uint64_t id, std::int64_t at_ns, std::int64_t process,
                         std::int64_t thread) {
  begin(std::string_view(&phase, 1), process, thread);
  member("id", static_cast<std::int64_t>(id));
  out_ += ",\"ts\":";
  append_microseconds(out_, at_ns);
  out_ += phase == 'f' ? ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}"
                       : ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}";
}

Result<void> Writer::write_calls() {
  std::vector<bool> launches(timeline_.calls.size());
  for (const DeviceWork& work : timeline_.work) {
    if (work.launch != kNoRow) launches[work.launch] = true;
  }
  for (RowIndex row = 0; row < timeline_.calls.size(); ++row) {
    const HostCall& call = timeline_.calls[row];
    complete("cuda_runtime", call.name, call.start_ns, call.end_ns, process_of(call.thread),
             thread_of(call.thread));
    member("correlation", arrow_of(row));
    if (call.correlation != 0) {
      member("tool correlation", static_cast<std::int64_t>(call.correlation));
    }
    end_args();
    if (launches[row]) {
      write_arrow('s', static_cast<std::uint64_t>(arrow_of(row)), call.start_ns,
                  process_of(call.thread), thread_of(call.thread));
    }
    PL_TRY(flush_if_full());
  }
  return {};
}

void Writer::write_work_args(const DeviceWork& work, const Stream& stream) {
  const auto triple = [&](std::string_view key, const std::array<std::uint32_t, 3>& numbers) {
    out_ += ",\"" + std::string(key) + "\":[" + std::to_string(numbers[0]) + ',' +
            std::to_string(numbers[1]) + ',' + std::to_string(numbers[2]) + ']';
  };
  member("device", stream.device);
  member("context", static_cast<std::int64_t>(stream.context));
  member("stream", stream.stream);
  if (work.launch != kNoRow) member("correlation", arrow_of(work.launch));
  if (work.graph_node != 0) member("graph node id", static_cast<std::int64_t>(work.graph_node));
  if (work.kind == WorkKind::Copy || work.kind == WorkKind::Fill) {
    member("bytes", static_cast<std::int64_t>(work.bytes));
  }
  if (work.shape == kNoRow) return;
  const LaunchShape& shape = timeline_.shapes[work.shape];
  member("registers per thread", shape.registers_per_thread);
  member("shared memory",
         std::int64_t{shape.static_shared_bytes} + std::int64_t{shape.dynamic_shared_bytes});
  triple("grid", shape.grid);
  triple("block", shape.block);
}

/// Kernels of one stream overlap if one begins before the last has ended (programmatic dependent
/// launch). Viewers draw overlaps in one lane wrongly or not at all, so they get another lane.
std::int64_t Writer::lane_of(const DeviceWork& work, const Stream& stream) {
  std::vector<std::int64_t>& ends = lane_ends_[work.stream];
  const auto free = std::find_if(ends.begin(), ends.end(),
                                 [&](std::int64_t end_ns) { return end_ns <= work.start_ns; });
  const std::int64_t lane = stream.stream + kLaneStep * (free - ends.begin());
  if (free != ends.end()) {
    *free = work.end_ns;
    return lane;
  }
  ends.push_back(work.end_ns);
  if (ends.size() > 1) {
    const std::int64_t process = device_process(stream);
    lane_name("thread_name", process, lane,
              "stream " + std::to_string(stream.stream) + ", what overlaps");
    lane_order("thread_sort_index", process, lane, stream.stream);
  }
  return lane;
}

Result<void> Writer::write_work() {
  constexpr std::array<std::string_view, 4> kCategories = {"kernel", "gpu_memcpy", "gpu_memset",
                                                           "kernel"};
  for (const DeviceWork& work : timeline_.work) {
    const Stream stream = stream_of(work);
    const std::int64_t lane = lane_of(work, stream);
    complete(kCategories[static_cast<std::size_t>(work.kind)], work.name, work.start_ns,
             work.end_ns, device_process(stream), lane);
    write_work_args(work, stream);
    end_args();
    if (work.launch != kNoRow) {
      write_arrow('f', static_cast<std::uint64_t>(arrow_of(work.launch)), work.start_ns,
                  device_process(stream), lane);
    }
    PL_TRY(flush_if_full());
  }
  return {};
}

Result<void> Writer::run() {
  write_head();
  write_thread_lanes();
  write_device_lanes();
  PL_TRY(write_ranges());
  PL_TRY(write_operators());
  PL_TRY(write_calls());
  PL_TRY(write_work());
  out_ += "\n],\"traceName\":\"profline\"}\n";
  return flush();
}

}  // namespace

Result<void> write_chrome_trace(const Timeline& timeline, const TextSink& sink) {
  return Writer(timeline, sink).run();
}

}  // namespace profline::torch_profiler
