#include "analysis/timeline/accounting.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/timeline/internal/device_sweep.h"
#include "analysis/timeline/internal/placement.h"

namespace profline::timeline {
namespace {

using internal::DeviceIndex;
using internal::kNoDevice;

/// The accounts that a range adds to: that of its name, and its own where that was asked for.
class RangeAccounts {
 public:
  RangeAccounts(const Timeline& timeline, std::size_t devices, const AccountingOptions& options) {
    std::unordered_map<std::uint64_t, RowIndex> groups;
    for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
      const Range& range = timeline.ranges[row];
      const std::uint64_t key = std::uint64_t{range.domain} << 32U | range.name;
      const auto [entry, is_new] = groups.try_emplace(key, static_cast<RowIndex>(by_name.size()));
      if (is_new) by_name.push_back(empty_account(range, devices));
      group_of_.push_back(entry->second);
      if (options.instances_of && timeline.names.text(range.name) == *options.instances_of) {
        instance_of_.emplace(row, static_cast<RowIndex>(instances.size()));
        instances.push_back(empty_account(range, devices));
        instances.back().range = row;
      }
    }
  }

  template <typename Change>
  void change(RowIndex range, Change&& change) {
    change(by_name[group_of_[range]]);
    if (instance_of_.empty()) return;
    const auto instance = instance_of_.find(range);
    if (instance != instance_of_.end()) change(instances[instance->second]);
  }

  std::vector<RangeAccount> by_name;
  std::vector<RangeAccount> instances;

 private:
  static RangeAccount empty_account(const Range& range, std::size_t devices) {
    RangeAccount account;
    account.name = range.name;
    account.domain = range.domain;
    account.time.resize(devices);
    account.own.resize(devices);
    return account;
  }

  std::vector<RowIndex> group_of_;
  std::unordered_map<RowIndex, RowIndex> instance_of_;
};

Quantiles quantiles(std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return {};
  const auto at = [&](std::size_t percent) {
    // Nearest rank: the smallest length that at least so many percent do not exceed.
    const std::size_t rank = (lengths.size() * percent + 99) / 100;
    const auto place =
        lengths.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(lengths.begin(), place, lengths.end());
    return *place;
  };
  return {at(50), at(90), at(99)};
}

class Accountant {
 public:
  Accountant(const Timeline& timeline, const Attribution& attribution,
             const AccountingOptions& options)
      : timeline_(timeline),
        attribution_(attribution),
        options_(options),
        placement_(internal::place(timeline, options.is_collective)),
        ranges_(timeline, placement_.devices.size(), options) {}

  Accounting run() {
    result_.devices = placement_.devices;
    result_.begin_ns = timeline_.begin_ns;
    result_.end_ns = timeline_.end_ns;
    result_.time = internal::sweep_devices(
        timeline_, placement_, [&](RowIndex range, std::span<const DeviceTime> time) {
          ranges_.change(range, [&](RangeAccount& account) { add_window(range, time, account); });
        });
    add_launches();
    add_work();
    add_tokens();
    result_.ranges = std::move(ranges_.by_name);
    result_.instances = std::move(ranges_.instances);
    std::stable_sort(
        result_.ranges.begin(), result_.ranges.end(),
        [](const RangeAccount& a, const RangeAccount& b) { return a.wall_ns > b.wall_ns; });
    return std::move(result_);
  }

 private:
  void add_window(RowIndex row, std::span<const DeviceTime> time, RangeAccount& account) const {
    const Range& range = timeline_.ranges[row];
    ++account.instances;
    if (!range.closed) ++account.still_open;
    account.wall_ns += range.duration_ns();
    for (std::size_t device = 0; device < time.size(); ++device) {
      account.time[device] += time[device];
    }
  }

  void add_launches() {
    std::vector<RowIndex> last(timeline_.threads.size(), kNoRow);
    std::vector<std::int64_t> gaps;
    for (RowIndex row = 0; row < timeline_.calls.size(); ++row) {
      const HostCall& call = timeline_.calls[row];
      if (!internal::launches_work(call.kind)) continue;
      count_launch(call, result_.launch);
      const HostCall* previous = nullptr;
      if (call.thread != kNoRow) {
        if (last[call.thread] != kNoRow) previous = &timeline_.calls[last[call.thread]];
        last[call.thread] = row;
      }
      if (previous != nullptr) {
        result_.launch.gap.add(call.start_ns - previous->end_ns);
        gaps.push_back(call.start_ns - previous->end_ns);
      }
      attribution_.each(attribution_.of_call(row), [&](RowIndex range) {
        const bool both =
            previous != nullptr && timeline_.ranges[range].start_ns <= previous->start_ns;
        ranges_.change(range, [&](RangeAccount& account) {
          count_launch(call, account.launch);
          if (both) account.launch.gap.add(call.start_ns - previous->end_ns);
        });
      });
    }
    result_.gap = quantiles(gaps);
  }

  static void count_launch(const HostCall& call, LaunchFigures& figures) {
    const bool copies = call.kind == CallKind::Copy || call.kind == CallKind::Fill;
    ++(copies ? figures.copy_calls : figures.launches);
  }

  void add_work() {
    // Work is in order of its beginning, so that a union needs only its end so far.
    std::vector<std::int64_t> covered_ns(timeline_.ranges.size() * placement_.devices.size(),
                                         std::numeric_limits<std::int64_t>::min());
    std::vector<bool> has_work(timeline_.calls.size());
    std::vector<std::int64_t> delays;
    for (const DeviceWork& work : timeline_.work) {
      result_.work.add(work);
      if (work.kind == WorkKind::Kernel) result_.kernels.add(work);
      if (placement_.of_work(work) == kNoDevice) result_.without_device.add(work);
      if (work.launch == kNoRow) {
        result_.without_launch.add(work);
        continue;
      }
      has_work[work.launch] = true;
      const HostCall& launch = timeline_.calls[work.launch];
      delays.push_back(work.start_ns - launch.start_ns);
      add_delay(work, launch, result_.launch);
      add_to_ranges(work, launch, covered_ns);
    }
    result_.delay = quantiles(delays);
    for (std::size_t call = 0; call < has_work.size(); ++call) {
      const bool lost = internal::launches_work(timeline_.calls[call].kind) && !has_work[call];
      if (lost) ++result_.launches_without_work;
    }
  }

  static void add_delay(const DeviceWork& work, const HostCall& launch, LaunchFigures& figures) {
    figures.delay_from_start.add(work.start_ns - launch.start_ns);
    figures.delay_from_end.add(work.start_ns - launch.end_ns);
  }

  void add_to_ranges(const DeviceWork& work, const HostCall& launch,
                     std::vector<std::int64_t>& covered_ns) {
    const ContextId context = attribution_.of_work(work);
    const RowIndex innermost = attribution_.innermost(context);
    if (innermost == kNoRow) return result_.outside_ranges.add(work);
    const DeviceIndex device = placement_.of_work(work);
    attribution_.each(context, [&](RowIndex range) {
      OwnTime own;
      if (device != kNoDevice) {
        own = new_time(work, timeline_.ranges[range],
                       covered_ns[std::size_t{range} * placement_.devices.size() + device]);
      }
      ranges_.change(range, [&](RangeAccount& account) {
        account.work.add(work);
        if (range == innermost) account.direct_work.add(work);
        add_delay(work, launch, account.launch);
        if (device == kNoDevice) return;
        account.own[device].busy_ns += own.busy_ns;
        account.own[device].inside_ns += own.inside_ns;
      });
    });
  }

  /// What the work adds to the union of the range's work, which so far reaches to `covered_ns`.
  static OwnTime new_time(const DeviceWork& work, const Range& range, std::int64_t& covered_ns) {
    const std::int64_t begin_ns = std::max(work.start_ns, covered_ns);
    if (begin_ns >= work.end_ns) return {};
    covered_ns = work.end_ns;
    const std::int64_t inside_ns =
        std::min(work.end_ns, range.end_ns) - std::max(begin_ns, range.start_ns);
    return {work.end_ns - begin_ns, std::max<std::int64_t>(inside_ns, 0)};
  }

  void add_tokens() {
    std::uint64_t tokens = 0;
    for (RowIndex row = 0; row < timeline_.ranges.size(); ++row) {
      if (timeline_.names.text(timeline_.ranges[row].name) != options_.token_range) continue;
      ++tokens;
      const auto count = [&](RowIndex range) {
        ranges_.change(range, [](RangeAccount& account) { ++account.tokens; });
      };
      count(row);
      attribution_.each(attribution_.around(row), count);
    }
    result_.tokens = options_.tokens.value_or(tokens);
  }

  const Timeline& timeline_;
  const Attribution& attribution_;
  const AccountingOptions& options_;
  const internal::Placement placement_;
  RangeAccounts ranges_;
  Accounting result_;
};

}  // namespace

Accounting account(const Timeline& timeline, const Attribution& attribution,
                   const AccountingOptions& options) {
  return Accountant(timeline, attribution, options).run();
}

}  // namespace profline::timeline
