#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/ranks/capture.h"
#include "base/figures.h"

namespace profline::ranks {
namespace {

constexpr std::int64_t kNobody = -1;

/// The process of each piece of work.
std::vector<std::int64_t> owners(const Timeline& timeline) {
  std::vector<std::int64_t> owners(timeline.work.size(), kNobody);
  std::map<std::int32_t, std::set<std::int64_t>> of_device;
  const auto device = [&](const DeviceWork& work) {
    return work.stream == kNoRow ? -1 : timeline.streams[work.stream].device;
  };
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const DeviceWork& work = timeline.work[i];
    if (work.launch == kNoRow) continue;
    owners[i] = timeline.threads[timeline.calls[work.launch].thread].process;
    of_device[device(work)].insert(owners[i]);
  }
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] != kNobody) continue;
    const auto users = of_device.find(device(timeline.work[i]));
    if (users != of_device.end() && users->second.size() == 1) owners[i] = *users->second.begin();
  }
  return owners;
}

/// Copies the rows for which `wanted`, and where they moved to.
template <typename Row, typename Wanted>
std::vector<RowIndex> copy_rows(const std::vector<Row>& from, std::vector<Row>& to,
                                Wanted&& wanted) {
  std::vector<RowIndex> moved(from.size(), kNoRow);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!wanted(from[i], i)) continue;
    moved[i] = static_cast<RowIndex>(to.size());
    to.push_back(from[i]);
  }
  return moved;
}

Timeline part_of(const Timeline& all, const std::vector<std::int64_t>& owners,
                 std::int64_t process) {
  Timeline part;
  part.source = all.source;
  part.tool = all.tool;
  part.begin_ns = all.begin_ns;
  part.end_ns = all.end_ns;
  part.unix_origin_ns = all.unix_origin_ns;
  // Each text gets the id that it had.
  for (Names::Id id = 0; id < all.names.size(); ++id) part.names.id_of(all.names.text(id));
  part.shapes = all.shapes;
  part.streams = all.streams;
  part.gpus = all.gpus;
  part.collectives = all.collectives;
  const auto threads = copy_rows(all.threads, part.threads, [&](const Thread& thread, std::size_t) {
    return thread.process == process;
  });
  const auto on_thread = [&](const auto& row, std::size_t) {
    return row.thread != kNoRow && threads[row.thread] != kNoRow;
  };
  const auto operators = copy_rows(all.operators, part.operators, on_thread);
  const auto calls = copy_rows(all.calls, part.calls, on_thread);
  copy_rows(all.ranges, part.ranges, on_thread);
  copy_rows(all.work, part.work,
            [&](const DeviceWork&, std::size_t row) { return owners[row] == process; });
  for (Operator& op : part.operators) op.thread = threads[op.thread];
  for (HostCall& call : part.calls) {
    call.thread = threads[call.thread];
    if (call.op != kNoRow) call.op = operators[call.op];
  }
  for (Range& range : part.ranges) {
    range.thread = threads[range.thread];
    const RowIndex end = range.end_thread == kNoRow ? kNoRow : threads[range.end_thread];
    range.end_thread = end == kNoRow ? range.thread : end;
  }
  for (DeviceWork& work : part.work) {
    if (work.launch != kNoRow) work.launch = calls[work.launch];
  }
  return part;
}

}  // namespace

std::vector<Timeline> by_process(const Timeline& timeline) {
  const std::vector<std::int64_t> owners = ranks::owners(timeline);
  // Ranks count as their devices do: the process of the first device is the first rank.
  std::map<std::int64_t, std::int32_t> first_device;
  std::uint64_t unassigned = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == kNobody) {
      ++unassigned;
      continue;
    }
    const RowIndex stream = timeline.work[i].stream;
    const std::int32_t device = stream == kNoRow ? 0 : timeline.streams[stream].device;
    const auto [known, is_new] = first_device.try_emplace(owners[i], device);
    if (!is_new) known->second = std::min(known->second, device);
  }
  std::vector<Timeline> parts;
  if (first_device.size() < 2) return parts;
  std::vector<std::pair<std::int32_t, std::int64_t>> order;
  for (const auto& [process, device] : first_device) order.emplace_back(device, process);
  std::sort(order.begin(), order.end());
  for (const auto& [device, process] : order) parts.push_back(part_of(timeline, owners, process));
  parts.front().reading = timeline.reading;
  if (unassigned > 0) {
    parts.front().reading.losses.push_back(
        counted(unassigned, "piece", "pieces") + " of device work in " + timeline.source +
        " could not be assigned to a process: no launch is recorded, and several processes used "
        "the device");
  }
  return parts;
}

}  // namespace profline::ranks
