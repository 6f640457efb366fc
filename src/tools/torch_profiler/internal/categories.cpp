#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/strings.h"
#include "records/timeline.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {
namespace {

using Category = std::pair<std::string_view, EventClass>;

// Kineto's, from PyTorch 1.8 (capitals) to today.
constexpr auto kCategories = std::to_array<Category>({
    {"kernel", EventClass::Kernel},
    {"cpu_op", EventClass::Operator},
    {"cuda_runtime", EventClass::Call},
    {"cuda_driver", EventClass::Call},
    {"gpu_memcpy", EventClass::Copy},
    {"gpu_memset", EventClass::Fill},
    {"user_annotation", EventClass::Range},
    {"python_function", EventClass::PythonFrame},
    {"gpu_user_annotation", EventClass::GpuRange},
    {"overhead", EventClass::Overhead},
    {"cuda_sync", EventClass::DeviceSync},
    {"Trace", EventClass::ProfilerSpan},
    // From converters of nsys files (nsys2json and its relatives):
    {"cuda", EventClass::Cuda},
    {"cuda_api", EventClass::Call},
    {"nvtx", EventClass::Range},
    {"nvtx-kernel", EventClass::GpuRange},
    {"osrt", EventClass::OsCall},
    {"hip_runtime", EventClass::Call},
    {"xpu_runtime", EventClass::Call},
    {"xpu_driver", EventClass::Call},
    {"mtia_runtime", EventClass::Call},
    {"privateuse1_runtime", EventClass::Call},
    {"privateuse1_driver", EventClass::Call},
    {"concurrent_kernel", EventClass::Kernel},
    {"privateuse1_kernel", EventClass::Kernel},
    {"cuda_profiler_range", EventClass::CounterRange},
    {"Operator", EventClass::Operator},
    {"Kernel", EventClass::Kernel},
    {"Memcpy", EventClass::Copy},
    {"Memset", EventClass::Fill},
    {"Runtime", EventClass::Call},
    {"Driver", EventClass::Call},
    {"Overhead", EventClass::Overhead},
    {"Python", EventClass::PythonFrame},
    {"User Annotation", EventClass::Range},
});

/// Categories for the work of unsupported devices.
constexpr auto kForeignDevices = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"mtia_ccp_events", "MTIA"},
    {"mtia_workloadd", "MTIA"},
    {"hpu_op", "HPU"},
});

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_memory_call(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister", "MemCreate",
       "MemMap", "MemUnmap", "MemRelease", "MemSetAccess", "MemAddressReserve", "MemAddressFree"});
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return contains(name, word); });
}

}  // namespace

EventClass event_class(std::string_view category) {
  if (category.empty()) return EventClass::None;
  const auto* found = std::find_if(kCategories.begin(), kCategories.end(),
                                   [&](const Category& known) { return known.first == category; });
  if (found != kCategories.end()) return found->second;
  return device_of(category).empty() ? EventClass::Unknown : EventClass::ForeignDevice;
}

bool is_of_converter(std::string_view category) {
  return category == "cuda" || category == "cuda_api" || category == "nvtx";
}

EventClass class_by_name(std::string_view name) {
  if (is_call_name(name)) return EventClass::Call;
  const std::string lower = profline::lower(name.substr(0, 32));
  if (contains(lower, "memcpy")) return EventClass::Copy;
  return contains(lower, "memset") ? EventClass::Fill : EventClass::Kernel;
}

std::string_view device_of(std::string_view category) {
  const auto* found = std::find_if(kForeignDevices.begin(), kForeignDevices.end(),
                                   [&](const auto& known) { return known.first == category; });
  return found == kForeignDevices.end() ? std::string_view() : found->second;
}

std::string_view skip_reason(EventClass event_class) {
  switch (event_class) {
    case EventClass::GpuRange:
      return "a range's shadow on the device";
    case EventClass::PythonFrame:
      return "Python frame";
    case EventClass::Overhead:
      return "the profiler's own overhead";
    case EventClass::DeviceSync:
      return "synchronisation shown on the device: its call is read";
    case EventClass::ProfilerSpan:
      return "the profiler's own span";
    case EventClass::CounterRange:
      return "counters of a range";
    case EventClass::OsCall:
      return "call of the operating system's runtime";
    case EventClass::ForeignDevice:
      return "work of a device that is not supported";
    default:
      return {};
  }
}

CallKind call_kind(std::string_view name) {
  if (contains(name, "GraphLaunch")) return CallKind::GraphLaunch;
  if (contains(name, "Launch") && !contains(name, "LaunchHostFunc") &&
      !contains(name, "LaunchAttribute")) {
    return CallKind::Launch;
  }
  if (contains(name, "Memcpy")) return CallKind::Copy;
  if (contains(name, "Memset")) return CallKind::Fill;
  if (contains(name, "Synchronize")) return CallKind::Synchronize;
  if (is_memory_call(name)) return CallKind::Memory;
  // SYCL and Level Zero: urEnqueueKernelLaunch is recognised as a launch by its name; these are the
  // rest.
  if (contains(name, "EnqueueMemcpy") || contains(name, "EnqueueUSMMemcpy")) return CallKind::Copy;
  return CallKind::Other;
}

CopyKind copy_kind(std::string_view name) {
  constexpr auto kSpellings = std::to_array<std::pair<std::string_view, CopyKind>>({
      {"htod", CopyKind::HostToDevice},
      {"dtoh", CopyKind::DeviceToHost},
      {"dtod", CopyKind::DeviceToDevice},
      {"ptop", CopyKind::PeerToPeer},
      {"htoh", CopyKind::HostToHost},
      {"hosttodevice", CopyKind::HostToDevice},
      {"devicetohost", CopyKind::DeviceToHost},
      {"devicetodevice", CopyKind::DeviceToDevice},
      {"peertopeer", CopyKind::PeerToPeer},
      {"hosttohost", CopyKind::HostToHost},
      {"htoa", CopyKind::HostToDevice},
      {"atoh", CopyKind::DeviceToHost},
      {"atod", CopyKind::DeviceToDevice},
      {"dtoa", CopyKind::DeviceToDevice},
      {"atoa", CopyKind::DeviceToDevice},
  });
  const std::string lower = profline::lower(name);
  for (const auto& [spelling, kind] : kSpellings) {
    if (contains(lower, spelling)) return kind;
  }
  return CopyKind::Other;
}

MemoryKinds memory_kinds(std::string_view name) {
  constexpr auto kKinds = std::to_array<std::pair<std::string_view, MemoryKind>>({
      {"Pageable", MemoryKind::Pageable},
      {"Pinned", MemoryKind::Pinned},
      {"Device", MemoryKind::Device},
      {"Array", MemoryKind::Array},
      {"Managed", MemoryKind::Managed},
  });
  const auto kind_of = [&](std::string_view text) {
    for (const auto& [word, kind] : kKinds) {
      if (text == word) return kind;
    }
    return MemoryKind::Unknown;
  };
  constexpr std::string_view kArrow = " -> ";
  const std::size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return {};
  const std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  const std::size_t arrow = inside.find(kArrow);
  if (arrow == std::string_view::npos) return {MemoryKind::Unknown, kind_of(inside)};
  return {kind_of(inside.substr(0, arrow)), kind_of(inside.substr(arrow + kArrow.size()))};
}

}  // namespace profline::torch_profiler::internal
