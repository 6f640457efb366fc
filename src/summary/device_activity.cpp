#include <algorithm>

#include "records/range_use.h"
#include "summary/internal/parts.h"
#include "summary/torch_trace.h"

namespace profline::summary {
namespace {

/// `decode@*` means the range decode in any domain.
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

/// Means over both times.
void add(std::optional<DeviceMetrics>& sum, const std::optional<DeviceMetrics>& more) {
  if (!more || !sum) {
    if (more) sum = more;
    return;
  }
  const auto before = static_cast<double>(sum->covered_ns);
  const auto after = static_cast<double>(more->covered_ns);
  for (const auto member :
       {&DeviceMetrics::sm_active, &DeviceMetrics::sm_issue, &DeviceMetrics::tensor_active,
        &DeviceMetrics::dram_read, &DeviceMetrics::dram_write, &DeviceMetrics::pcie_receive,
        &DeviceMetrics::pcie_send, &DeviceMetrics::nvlink_receive, &DeviceMetrics::nvlink_send}) {
    std::optional<double>& mean = (*sum).*member;
    if (!mean || !((*more).*member) || before + after <= 0) continue;
    mean = (*mean * before + *((*more).*member) * after) / (before + after);
  }
  sum->samples += more->samples;
  sum->covered_ns += more->covered_ns;
  sum->gap_ns += more->gap_ns;
  if (sum->dram_bytes && more->dram_bytes) *sum->dram_bytes += *more->dram_bytes;
}

void add(RangeUse& sum, const RangeUse& more) {
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
    add(known->metrics, device.metrics);
  }
}

double units_of(const RangeUse& row) {
  return static_cast<double>(row.tokens.value_or(row.instances));
}

std::vector<DeviceAccount>::const_iterator busiest_of(const RangeUse& row) {
  return std::max_element(
      row.devices.begin(), row.devices.end(),
      [](const DeviceAccount& a, const DeviceAccount& b) { return a.busy_ns < b.busy_ns; });
}

/// Busy share relative to the time under the profiler. Of several devices, the busiest.
std::optional<judgement::DeviceActivity> plain_activity(const RangeUse& row,
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
  activity.metrics = busiest->metrics;
  activity.source = file;
  return activity;
}

}  // namespace

int gate_rank(const requests::PhaseTree& tree, const std::string& gate, const std::string& phase) {
  const std::string range = range_of_gate(gate);
  if (range == phase) return 0;
  if (range.empty()) return 1;
  const requests::PhaseInfo* const inner = tree.find(phase);
  const requests::PhaseInfo* const outer = tree.find(range);
  const bool is_around = inner != nullptr && outer != nullptr && tree.is_inside(*inner, *outer);
  return is_around ? 2 : 3;
}

std::string gate_of(const run::Run& run, const std::string& capture) {
  const auto& nsys_ranges = run.get(run::kNsysRanges);
  if (!nsys_ranges) return "";
  for (const NsysCapture& known : nsys_ranges->captures) {
    if (known.name == capture) return known.range;
  }
  return "";
}

DeviceActivities::DeviceActivities(const run::Run& run, const requests::PhaseTree& tree,
                                   const requests::SteadyPart& steady)
    : run_(run), tree_(tree), steady_(steady) {
  const auto& trace = run.get(run::kTorchTrace);
  if (trace && !trace->work.empty()) traced_ = traced_ranges(*trace);
}

std::string DeviceActivities::range_around(const std::string& phase) const {
  const requests::PhaseInfo* const known = tree_.find(phase);
  if (known == nullptr || known->is_outermost()) return "";
  return tree_.outermost(*known).name;
}

std::optional<DeviceActivities::Rows> DeviceActivities::nsys_rows(const std::string& phase) const {
  if (!nsys_ranges_) return std::nullopt;
  std::optional<Rows> best;
  for (const RangeUse& row : nsys_ranges_->ranges) {
    if (row.name != phase) continue;
    const std::string gate = gate_of(run_, row.capture);
    if (!best || gate_rank(tree_, gate, phase) < gate_rank(tree_, best->gate, phase)) {
      best = Rows{};
      best->gate = gate;
    }
    if (gate != best->gate) continue;
    add(best->sum, row);
    for (const DeviceAccount& device : row.devices) {
      if (device.metrics) best->sampled_units[device.device] += units_of(row);
    }
  }
  if (!best) return std::nullopt;
  const std::string around = range_around(phase);
  for (const RangeUse& row : nsys_ranges_->ranges) {
    if (row.name == around && gate_of(run_, row.capture) == best->gate) {
      best->requests += row.instances;
    }
  }
  return best;
}

std::optional<DeviceActivities::Rows> DeviceActivities::traced_rows(
    const std::string& phase) const {
  std::optional<Rows> rows;
  const std::string around = range_around(phase);
  std::uint64_t requests = 0;
  for (const RangeUse& row : traced_) {
    if (row.name == around) requests += row.instances;
    if (row.name != phase) continue;
    if (!rows) rows = Rows{};
    add(rows->sum, row);
  }
  if (rows) rows->requests = requests;
  return rows;
}

const run::Requests* DeviceActivities::requests_of(const std::string& tool,
                                                   const std::string& gate) const {
  const run::Requests* found = nullptr;
  for (const run::ProfiledRequests& profiled : run_.profiled()) {
    if (profiled.stage != tool || !profiled.requests) continue;
    if (profiled.gate == folder_name(range_of_gate(gate))) return &*profiled.requests;
    if (profiled.gate.empty()) found = &*profiled.requests;
  }
  return found;
}

std::optional<judgement::DeviceActivity> DeviceActivities::of_capture(const NsysCapture& capture,
                                                                      const std::string& file) {
  RangeUse all;
  all.wall_ns = capture.wall_ns;
  all.launch = capture.launch;
  all.devices = capture.devices;
  return plain_activity(all, file);
}

std::optional<judgement::DeviceActivity> DeviceActivities::activity(const std::string& phase,
                                                                    const Rows& rows,
                                                                    const std::string& tool,
                                                                    const std::string& file) const {
  const RangeUse& row = rows.sum;
  auto found = plain_activity(row, file);
  if (!found) return found;
  judgement::DeviceActivity& activity = *found;
  const auto sampled = rows.sampled_units.find(busiest_of(row)->device);
  if (sampled != rows.sampled_units.end() && units_of(row) > 0) {
    activity.sampled_share = std::min(sampled->second / units_of(row), 1.0);
  }
  activity.units = static_cast<double>(row.tokens.value_or(row.instances));
  // A part may open several times per request, so requests are counted by the enclosing phase.
  const bool is_part = !range_around(phase).empty();
  const std::uint64_t count = is_part ? rows.requests : row.instances;
  if (count == 0) return found;
  if (is_part) activity.units = static_cast<double>(count);
  const run::Requests* const profiled = requests_of(tool, rows.gate);
  const requests::PhaseInfo* const known = tree_.find(phase);
  if (profiled == nullptr || known == nullptr || !baseline_ || row.still_open > 0) return found;
  const auto times = paired_time(*baseline_, steady_, *profiled, count, known->path);
  if (!times || profiled->size() < count) return found;
  activity.units = times->units;
  activity.unprofiled_ns = times->baseline_ns;
  // The baseline times parts of a phase on the device, whereas a range ends when the host is done:
  // work launched in it counts, whenever it ran.
  const auto own = static_cast<double>(busiest_of(row)->own_busy_ns);
  if (own > 0) activity.busy_ns = own;
  return found;
}

std::optional<judgement::DeviceActivity> DeviceActivities::find(const std::string& phase) const {
  if (const auto rows = nsys_rows(phase)) {
    if (auto found = activity(phase, *rows, "nsys", nsys_ranges_.file)) return found;
  }
  if (const auto rows = traced_rows(phase)) {
    return activity(phase, *rows, "torch_profiler", trace_.file);
  }
  return std::nullopt;
}

std::vector<std::string> DeviceActivities::range_names() const {
  std::vector<std::string> names;
  if (!nsys_ranges_) return names;
  for (const RangeUse& row : nsys_ranges_->ranges) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  }
  return names;
}

}  // namespace profline::summary
