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
  // Known and not used:
  GpuRange,
  PythonFrame,
  Overhead,
  DeviceSync,
  ProfilerSpan,
  CounterRange,
  None,     ///< the event has no category
  Unknown,  ///< a category that we have not met
};

EventClass event_class(std::string_view category);

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
