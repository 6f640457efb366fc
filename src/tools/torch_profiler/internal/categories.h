#pragma once

#include <cstdint>
#include <string_view>

#include "records/timeline.h"

namespace profline::torch_profiler::internal {

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
