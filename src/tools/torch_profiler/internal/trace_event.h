#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/json_stream.h"
#include "records/timeline.h"

namespace profline::torch_profiler::internal {

/// A value as written in the text of an event; valid as long as that text.
class RawValue {
 public:
  enum class Kind : std::uint8_t { Absent, String, Bare, Container };

  RawValue() = default;
  RawValue(Kind kind, const char* begin, const char* end)
      : begin_(begin), size_(static_cast<std::uint32_t>(end - begin)), kind_(kind) {}

  Kind kind() const { return kind_; }
  bool is_present() const { return kind_ != Kind::Absent; }
  /// Strings without their quotes and with their escapes; containers with their brackets.
  std::string_view text() const { return {begin_, size_}; }

 private:
  const char* begin_ = nullptr;
  std::uint32_t size_ = 0;
  Kind kind_ = Kind::Absent;
};

/// The parts of an event that the tables are built from, not yet interpreted.
struct RawEvent {
  char phase = '\0';
  bool has_duplicates = false;  ///< a relevant key occurs twice: the last one counts
  RawValue category, name, process, thread, time, duration, id;
  // From its args:
  RawValue correlation, external_id, device, context, stream, grid, block, registers, shared_bytes,
      bytes, graph_node, input_shapes, input_types, args_name;
  // From its args, about a collective:
  RawValue collective, in_elements, out_elements, dtype, group_size, group_name, group_description,
      group_ranks, sequence;
};

/// Reads the event at the start of the text. Lenient: what is between the separators of JSON's
/// grammar is checked no more than the tables need (`NaN`, bad escapes, broken UTF-8). Refused:
/// anything but a map, and a map with wrong separators. Iterative, in one pass.
JsonTaken scan_event(std::string_view text, RawEvent& event);

// The value, or nothing if it is absent or of another type. Numbers may be in quotes.
std::optional<std::uint64_t> unsigned_of(const RawValue& value);  // also `0x1f`, and `7.0`
std::optional<std::int64_t> signed_of(const RawValue& value);
/// The number at the end of a text: 7 for "stream 7 ".
std::optional<std::int64_t> trailing_number(const RawValue& value);

/// The unit of an event's times.
enum class ClockUnit : std::uint8_t { Microseconds, Nanoseconds };

struct RawTime {
  enum class State : std::uint8_t { Absent, NotANumber, TooLarge, Good };
  State state = State::Absent;
  bool has_fraction = false;
  std::int64_t ns = 0;  ///< exact with up to three decimals, else rounded
};
RawTime time_of(const RawValue& value, ClockUnit unit);

/// The characters that a string of the text represents. An invalid escape stays as it is and sets
/// `bad_escape`.
std::string unescaped(std::string_view text, bool& bad_escape);

/// What an event is, according to its category.
enum class EventClass : std::uint8_t {
  Operator,
  Range,
  Kernel,
  Copy,
  Fill,
  Call,
  Cuda,  ///< a kernel, copy, fill or call, decided by class_by_name
  // Known but not used:
  GpuRange,
  PythonFrame,
  Overhead,
  DeviceSync,
  ProfilerSpan,
  CounterRange,
  OsCall,
  ForeignDevice,  ///< work of an unsupported device, see device_of
  None,           ///< the event has no category
  Unknown,        ///< a category that we do not know
};

EventClass event_class(std::string_view category);

/// Whether this category is written by converters of nsys files, and not by Kineto.
bool is_of_converter(std::string_view category);

/// The class of an event of class Cuda, from its name.
EventClass class_by_name(std::string_view name);

/// The devices whose work is in events of this category: `MTIA`. Empty unless the class is
/// ForeignDevice.
std::string_view device_of(std::string_view category);

/// Why events of this class are skipped; empty if they are not, or if the class does not decide it.
std::string_view skip_reason(EventClass event_class);

/// What a call of CUDA, HIP or another runtime does, from its name: `cudaLaunchKernel`,
/// `hipModuleLaunchKernel`, `cuGraphLaunch`, `cudaMemcpyAsync`.
CallKind call_kind(std::string_view name);

/// The direction, from the name of the event: `Memcpy DtoH (Device -> Pinned)`.
CopyKind copy_kind(std::string_view name);

/// The kinds of memory at the end of the name of a copy or fill: `(Device -> Pinned)`, `(Device)`.
struct MemoryKinds {
  MemoryKind from = MemoryKind::Unknown;
  MemoryKind to = MemoryKind::Unknown;
};
MemoryKinds memory_kinds(std::string_view name);

}  // namespace profline::torch_profiler::internal
