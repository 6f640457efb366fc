#include "summary/device_activity.h"

#include <algorithm>

#include "records/region_folder.h"
#include "summary/overhead.h"
#include "summary/torch_trace.h"

namespace profline::summary {
namespace {

/// `decode@*` is the range decode in any domain.
std::string range_of_gate(const std::string& gate) {
  return gate.substr(0, gate.find('@'));
}

void add(LaunchAccount& sum, const LaunchAccount& more) {
  sum.launches += more.launches;
  sum.copy_calls += more.copy_calls;
  sum.gaps += more.gaps;
  sum.gap_sum_ns += more.gap_sum_ns;
}

void add(IdleTime& sum, const IdleTime& more) {
  sum.queued_ns += more.queued_ns;
  sum.launching_ns += more.launching_ns;
  sum.copy_wait_ns += more.copy_wait_ns;
  sum.synchronizing_ns += more.synchronizing_ns;
  sum.allocating_ns += more.allocating_ns;
  sum.host_between_ns += more.host_between_ns;
  sum.nothing_queued_ns += more.nothing_queued_ns;
}

void add(NsysRange& sum, const NsysRange& more) {
  sum.instances += more.instances;
  sum.still_open += more.still_open;
  sum.wall_ns += more.wall_ns;
  add(sum.launch, more.launch);
  sum.work += more.work;
  sum.work_sum_ns += more.work_sum_ns;
  if (more.tokens) sum.tokens = sum.tokens.value_or(0) + *more.tokens;
  for (const DeviceAccount& device : more.devices) {
    const auto known =
        std::find_if(sum.devices.begin(), sum.devices.end(),
                     [&](const DeviceAccount& d) { return d.device == device.device; });
    if (known == sum.devices.end()) {
      sum.devices.push_back(device);
      continue;
    }
    known->busy_ns += device.busy_ns;
    known->own_busy_ns += device.own_busy_ns;
    add(known->idle, device.idle);
  }
}

bool is_part_of_prefill(std::string_view stage) {
  return stage == "sam" || stage == "clip" || stage == "projector" || stage == "lm";
}

std::vector<DeviceAccount>::const_iterator busiest_of(const NsysRange& row) {
  return std::max_element(
      row.devices.begin(), row.devices.end(),
      [](const DeviceAccount& a, const DeviceAccount& b) { return a.busy_ns < b.busy_ns; });
}

/// By the time under the profiler. Of several devices the busiest.
std::optional<judgement::DeviceActivity> plain_activity(const NsysRange& row,
                                                        const std::string& file) {
  const auto busiest = busiest_of(row);
  if (busiest == row.devices.end() || row.wall_ns <= 0) return std::nullopt;
  judgement::DeviceActivity activity;
  activity.captured_ns = static_cast<double>(row.wall_ns);
  activity.busy_ns = static_cast<double>(busiest->busy_ns);
  if (row.devices.size() == 1 && busiest->own_busy_ns > 0) {  // the sum is over all devices
    activity.concurrency =
        static_cast<double>(row.work_sum_ns) / static_cast<double>(busiest->own_busy_ns);
  }
  activity.launches = static_cast<double>(row.launch.launches);
  activity.gap_mean_ns = row.launch.mean_gap_ns();
  activity.idle = busiest->idle;
  activity.source = file;
  return activity;
}

}  // namespace

int gate_rank(const std::string& gate, const std::string& stage) {
  const std::string range = range_of_gate(gate);
  if (range == stage) return 0;
  if (range.empty()) return 1;
  return is_part_of_prefill(stage) && range == "prefill" ? 2 : 3;
}

std::string gate_of(const RunArtifacts& run, const std::string& capture) {
  if (!run.nsys_ranges) return "";
  for (const NsysCapture& known : run.nsys_ranges->captures) {
    if (known.name == capture) return known.range;
  }
  return "";
}

DeviceActivities::DeviceActivities(const RunArtifacts& run) : run_(run) {
  if (run.trace && !run.trace->work.empty()) traced_ = traced_ranges(*run.trace);
}

std::optional<DeviceActivities::Rows> DeviceActivities::nsys_rows(const std::string& stage) const {
  if (!run_.nsys_ranges) return std::nullopt;
  std::optional<Rows> best;
  for (const NsysRange& row : run_.nsys_ranges->ranges) {
    if (row.name != stage) continue;
    const std::string gate = gate_of(run_, row.capture);
    if (!best || gate_rank(gate, stage) < gate_rank(best->gate, stage)) {
      best = Rows{};
      best->gate = gate;
    }
    if (gate == best->gate) add(best->sum, row);
  }
  if (!best) return std::nullopt;
  for (const NsysRange& row : run_.nsys_ranges->ranges) {
    if (row.name == "prefill" && gate_of(run_, row.capture) == best->gate)
      best->prefills += row.instances;
  }
  return best;
}

std::optional<DeviceActivities::Rows> DeviceActivities::traced_rows(
    const std::string& stage) const {
  std::optional<Rows> rows;
  std::uint64_t prefills = 0;
  for (const NsysRange& row : traced_) {
    if (row.name == "prefill") prefills += row.instances;
    if (row.name != stage) continue;
    if (!rows) rows = Rows{};
    add(rows->sum, row);
  }
  if (rows) rows->prefills = prefills;
  return rows;
}

const Samples* DeviceActivities::samples_of(const std::string& tool,
                                            const std::string& gate) const {
  const ProfiledSamples* found = nullptr;
  for (const ProfiledSamples& profiled : run_.profiled) {
    if (profiled.stage != tool || !profiled.samples) continue;
    if (profiled.gate == region_folder(range_of_gate(gate))) return &*profiled.samples;
    if (profiled.gate.empty()) found = &profiled;
  }
  return found == nullptr ? nullptr : &*found->samples;
}

std::optional<judgement::DeviceActivity> DeviceActivities::of_capture(const NsysCapture& capture,
                                                                      const std::string& file) {
  NsysRange all;
  all.wall_ns = capture.wall_ns;
  all.launch = capture.launch;
  all.devices = capture.devices;
  return plain_activity(all, file);
}

std::optional<judgement::DeviceActivity> DeviceActivities::activity(const std::string& stage,
                                                                    const Rows& rows,
                                                                    const std::string& tool,
                                                                    const std::string& file) const {
  const NsysRange& row = rows.sum;
  auto found = plain_activity(row, file);
  if (!found) return found;
  judgement::DeviceActivity& activity = *found;
  activity.units = static_cast<double>(row.tokens.value_or(row.instances));
  // A part opens once a batch of views: images are counted by the prefill around it.
  const std::uint64_t images = is_part_of_prefill(stage) ? rows.prefills : row.instances;
  if (images == 0) return found;
  if (is_part_of_prefill(stage)) activity.units = static_cast<double>(images);
  const Samples* const samples = samples_of(tool, rows.gate);
  if (samples == nullptr || !run_.baseline || row.still_open > 0) return found;
  const auto times = paired_time(*run_.baseline, *samples, images, stage);
  if (!times || samples->size() < images) return found;
  activity.units = times->units;
  activity.unprofiled_ns = times->baseline_ns;
  // The baseline times parts of prefill on the device, while a range ends when the host is through:
  // what was launched in it counts, whenever it ran.
  const auto own = static_cast<double>(busiest_of(row)->own_busy_ns);
  if (own > 0) activity.busy_ns = own;
  return found;
}

std::optional<judgement::DeviceActivity> DeviceActivities::find(const std::string& stage) const {
  if (const auto rows = nsys_rows(stage)) {
    if (auto found = activity(stage, *rows, "nsys", run_.nsys_ranges.file)) return found;
  }
  if (const auto rows = traced_rows(stage)) {
    return activity(stage, *rows, "torch_profiler", run_.trace.file);
  }
  return std::nullopt;
}

std::vector<std::string> DeviceActivities::range_names() const {
  std::vector<std::string> names;
  if (!run_.nsys_ranges) return names;
  for (const NsysRange& row : run_.nsys_ranges->ranges) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  }
  return names;
}

}  // namespace profline::summary
