#include <algorithm>
#include <map>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/internal/device_sweep.h"

namespace profline::timeline::internal {
namespace {

std::vector<std::int32_t> devices_at_work(const Timeline& timeline) {
  std::vector<bool> used(timeline.streams.size());
  for (const DeviceWork& work : timeline.work) {
    if (work.stream != kNoRow) used[work.stream] = true;
  }
  std::vector<std::int32_t> devices;
  for (std::size_t stream = 0; stream < used.size(); ++stream) {
    if (used[stream]) devices.push_back(timeline.streams[stream].device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

/// The only device of each process that launched anything; kNoDevice for one that uses several.
std::map<std::int64_t, DeviceIndex> only_devices(const Timeline& timeline,
                                                 const std::vector<DeviceIndex>& of_call) {
  std::map<std::int64_t, DeviceIndex> only;
  for (std::size_t call = 0; call < of_call.size(); ++call) {
    const RowIndex thread = timeline.calls[call].thread;
    if (of_call[call] == kNoDevice || thread == kNoRow) continue;
    const auto [entry, is_new] = only.try_emplace(timeline.threads[thread].process, of_call[call]);
    if (!is_new && entry->second != of_call[call]) entry->second = kNoDevice;
  }
  return only;
}

/// Extends devices from calls that launched something to all other calls of their threads; see
/// IdleCause.
void spread_over_threads(const Timeline& timeline, std::vector<DeviceIndex>& of_call) {
  const auto only = only_devices(timeline, of_call);
  std::vector<DeviceIndex> first(timeline.threads.size(), kNoDevice);
  for (std::size_t call = 0; call < of_call.size(); ++call) {
    const RowIndex thread = timeline.calls[call].thread;
    if (thread != kNoRow && first[thread] == kNoDevice) first[thread] = of_call[call];
  }
  for (std::size_t thread = 0; thread < first.size(); ++thread) {
    if (first[thread] != kNoDevice) continue;
    const auto entry = only.find(timeline.threads[thread].process);
    if (entry != only.end()) first[thread] = entry->second;
  }
  std::vector<DeviceIndex> current = first;
  for (std::size_t call = 0; call < of_call.size(); ++call) {
    const RowIndex thread = timeline.calls[call].thread;
    if (thread == kNoRow) continue;
    if (of_call[call] == kNoDevice) of_call[call] = current[thread];
    current[thread] = of_call[call];
  }
}

}  // namespace

bool launches_work(CallKind kind) {
  return kind == CallKind::Launch || kind == CallKind::GraphLaunch || kind == CallKind::Copy ||
         kind == CallKind::Fill;
}

unsigned Placement::kind_of(const DeviceWork& work) const {
  switch (work.kind) {
    case WorkKind::Copy:
    case WorkKind::Fill:
      return kCopy;
    case WorkKind::Graph:
      return kCompute;
    case WorkKind::Kernel:
      return kinds_of_name[work.name];
  }
  return kCompute;
}

Placement place(const Timeline& timeline,
                const std::function<bool(std::string_view kernel_name)>& is_collective) {
  Placement placement;
  placement.devices = devices_at_work(timeline);
  for (const Stream& stream : timeline.streams) {
    const auto at =
        std::lower_bound(placement.devices.begin(), placement.devices.end(), stream.device);
    const bool works = at != placement.devices.end() && *at == stream.device;
    placement.of_stream.push_back(works ? static_cast<DeviceIndex>(at - placement.devices.begin())
                                        : kNoDevice);
  }
  placement.of_call.assign(timeline.calls.size(), kNoDevice);
  std::vector<bool> asked(timeline.names.size());
  placement.kinds_of_name.assign(timeline.names.size(), kCompute);
  for (const DeviceWork& work : timeline.work) {
    if (work.launch != kNoRow && placement.of_call[work.launch] == kNoDevice) {
      placement.of_call[work.launch] = placement.of_work(work);
    }
    if (work.kind != WorkKind::Kernel || !is_collective || asked[work.name]) continue;
    asked[work.name] = true;
    if (is_collective(timeline.names.text(work.name))) {
      placement.kinds_of_name[work.name] = kCommunication;
    }
  }
  spread_over_threads(timeline, placement.of_call);
  return placement;
}

}  // namespace profline::timeline::internal
