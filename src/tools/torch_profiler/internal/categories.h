#pragma once

#include <cstdint>
#include <string_view>

#include "records/timeline.h"

namespace profline::torch_profiler::internal {

/// What the category of an event says that it is.
enum class EventClass : std::uint8_t {
  Operator,
  Range,
  Kernel,
  Copy,
  Fill,
  Call,
  Cuda,  ///< a kernel, copy, fill or call: the name tells, see class_by_name
  // Known and not used:
  GpuRange,
  PythonFrame,
  Overhead,
  DeviceSync,
  ProfilerSpan,
  CounterRange,
  OsCall,
  ForeignDevice,  ///< work of a device that is not supported, see device_of
  None,           ///< the event has no category
  Unknown,        ///< a category that we have not met
};

EventClass event_class(std::string_view category);

/// Whether converters from nsys write this category, and Kineto does not.
bool is_of_converter(std::string_view category);

/// What an event of class Cuda is.
EventClass class_by_name(std::string_view name);

/// The devices whose work is in events of this category: `MTIA`. Empty unless the class is
/// ForeignDevice.
std::string_view device_of(std::string_view category);

/// Why events of this class are skipped; empty when they are not, or when the class does not say.
std::string_view skip_reason(EventClass event_class);

/// What a call of CUDA, HIP or another runtime does, by its name: `cudaLaunchKernel`,
/// `hipModuleLaunchKernel`, `cuGraphLaunch`, `cudaMemcpyAsync`.
CallKind call_kind(std::string_view name);

/// From where to where, by the name of the event: `Memcpy DtoH (Device -> Pinned)`.
CopyKind copy_kind(std::string_view name);

/// The kinds of memory that the name of a copy or fill ends in: `(Device -> Pinned)`, `(Device)`.
struct MemoryKinds {
  MemoryKind from = MemoryKind::Unknown;
  MemoryKind to = MemoryKind::Unknown;
};
MemoryKinds memory_kinds(std::string_view name);

}  // namespace profline::torch_profiler::internal
