#include "analysis/timeline/accounting.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/timeline/attribution.h"
#include "analysis/timeline/internal/device_sweep.h"

namespace profline::timeline {
namespace {

using internal::DeviceIndex;
using internal::kNoDevice;

RangeAccount empty_account(std::string label, std::size_t devices) {
  RangeAccount account;
  account.label = std::move(label);
  account.time.resize(devices);
  account.own.resize(devices);
  return account;
}

/// The accounts that a range contributes to: that of its label, and its own if requested.
class RangeAccounts {
 public:
  RangeAccounts(const Timeline& timeline, std::size_t devices, const AccountingOptions& options) {
    const RangeLabels labels(timeline);
    std::unordered_map<std::uint64_t, RowIndex> groups;
    std::unordered_set<std::uint64_t> names;  // of ranges, including domains
    for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
      const Range& range = timeline.ranges[row];
      const std::uint64_t domain = std::uint64_t{range.domain} << 32U;
      const std::uint32_t label = labels.of(range.name);
      const auto [entry, is_new] =
          groups.try_emplace(domain | label, static_cast<RowIndex>(by_label.size()));
      if (is_new) {
        by_label.push_back(empty_account(labels.text(label), devices));
        by_label.back().name = range.name;
        by_label.back().domain = range.domain;
      }
      if (names.insert(domain | range.name).second) ++by_label[entry->second].names;
      group_of_.push_back(entry->second);
      if (options.instances_of && timeline.names.text(range.name) == *options.instances_of) {
        instance_of_.emplace(row, static_cast<RowIndex>(instances.size()));
        instances.push_back(empty_account(*options.instances_of, devices));
        instances.back().name = range.name;
        instances.back().names = 1;
        instances.back().domain = range.domain;
        instances.back().range = row;
      }
    }
  }

  template <typename Change>
  void change(RowIndex range, Change&& change) {
    change(by_label[group_of_[range]]);
    if (instance_of_.empty()) return;
    const auto instance = instance_of_.find(range);
    if (instance != instance_of_.end()) change(instances[instance->second]);
  }

  std::vector<RangeAccount> by_label;
  std::vector<RangeAccount> instances;

 private:
  std::vector<RowIndex> group_of_;
  std::unordered_map<RowIndex, RowIndex> instance_of_;
};

/// Calls a function with a length, for each length of a set.
using EachLength = std::function<void(const std::function<void(std::int64_t length_ns)>& add)>;

/// `Offset` holds how much a length exceeds the shortest.
template <typename Offset>
Quantiles quantiles_with(const Spread& spread, const EachLength& each) {
  std::vector<Offset> offsets;
  offsets.reserve(spread.count);
  each([&](std::int64_t length_ns) {
    offsets.push_back(static_cast<Offset>(length_ns - spread.min_ns));
  });
  const auto at = [&](std::size_t percent) {
    // Nearest rank: the smallest value such that at least this percentage of values is no larger.
    const std::size_t rank = (offsets.size() * percent + 99) / 100;
    const auto place =
        offsets.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(offsets.begin(), place, offsets.end());
    return spread.min_ns + static_cast<std::int64_t>(*place);
  };
  return {at(50), at(90), at(99)};
}

/// Of the lengths that `spread` sums up. They are listed a second time because that takes less
/// memory than keeping them in the meantime: the difference of most is less than four seconds.
Quantiles quantiles(const Spread& spread, const EachLength& each) {
  if (spread.count == 0) return {};
  const std::uint64_t width =
      static_cast<std::uint64_t>(spread.max_ns) - static_cast<std::uint64_t>(spread.min_ns);
  return width <= std::numeric_limits<std::uint32_t>::max()
             ? quantiles_with<std::uint32_t>(spread, each)
             : quantiles_with<std::int64_t>(spread, each);
}

class Accountant {
 public:
  Accountant(const Timeline& timeline, const Attribution& attribution,
             const AccountingOptions& options)
      : timeline_(timeline),
        attribution_(attribution),
        options_(options),
        placement_(internal::place(timeline, options.is_collective)),
        ranges_(timeline, placement_.devices.size(), options) {
    if (options.focus) open_focus(*options.focus);
  }

  Accounting run() {
    result_.devices = placement_.devices;
    result_.begin_ns = timeline_.begin_ns;
    result_.end_ns = timeline_.end_ns;
    sweep_and_add();
    add_tokens();
    find_active_spans();
    result_.ranges = std::move(ranges_.by_label);
    result_.instances = std::move(ranges_.instances);
    std::stable_sort(
        result_.ranges.begin(), result_.ranges.end(),
        [](const RangeAccount& a, const RangeAccount& b) { return a.wall_ns > b.wall_ns; });
    return std::move(result_);
  }

 private:
  void open_focus(const std::string& pattern) {
    focus_.emplace(timeline_, pattern);
    if (focus_->instances() == 0) return;
    RangeAccount& account =
        result_.focus.emplace(empty_account(pattern, placement_.devices.size()));
    account.instances = focus_->instances();
    account.still_open = focus_->still_open();
  }

  /// The windows of the ranges, then those of the focus.
  std::vector<internal::Window> windows() const {
    std::vector<internal::Window> windows;
    windows.reserve(timeline_.ranges.size());
    for (const Range& range : timeline_.ranges) windows.push_back({range.start_ns, range.end_ns});
    if (focus_) {
      windows.insert(windows.end(), focus_->windows().begin(), focus_->windows().end());
    }
    return windows;
  }

  /// The two halves of the work, neither of which uses or writes a figure of the other.
  void sweep_and_add() {
    if (timeline_.work.size() + timeline_.calls.size() < options_.rows_for_threads) {
      sweep();
      add_launches();
      return add_work();
    }
    const std::jthread other([this] {
      add_launches();
      add_work();
    });
    sweep();
  }

  void sweep() {
    result_.time = internal::sweep_devices(
        timeline_, placement_, windows(),
        [&](std::size_t window, std::span<const DeviceTime> time) { close_window(window, time); });
  }

  void close_window(std::size_t window, std::span<const DeviceTime> time) {
    if (window >= timeline_.ranges.size()) {
      const internal::Window& of_focus = focus_->windows()[window - timeline_.ranges.size()];
      return add_time(of_focus.end_ns - of_focus.start_ns, time, *result_.focus);
    }
    const Range& range = timeline_.ranges[window];
    ranges_.change(static_cast<RowIndex>(window), [&](RangeAccount& account) {
      ++account.instances;
      if (!range.closed) ++account.still_open;
      add_time(range.duration_ns(), time, account);
    });
  }

  static void add_time(std::int64_t wall_ns, std::span<const DeviceTime> time,
                       RangeAccount& account) {
    account.wall_ns += wall_ns;
    for (std::size_t device = 0; device < time.size(); ++device) {
      account.time[device] += time[device];
    }
  }

  void find_active_spans() {
    result_.active.resize(placement_.devices.size());
    std::vector<bool> found(placement_.devices.size());
    for (const DeviceWork& work : timeline_.work) {
      const DeviceIndex device = placement_.of_work(work);
      if (device == kNoDevice) continue;
      ActiveSpan& span = result_.active[device];
      // Work is in order of its beginning.
      if (!found[device]) span = {work.start_ns, work.end_ns};
      found[device] = true;
      span.end_ns = std::max(span.end_ns, work.end_ns);
    }
  }

  /// Calls `visit(row, previous)` for each call that launches work, with the thread's previous one.
  template <typename Visit>
  void each_launch(Visit&& visit) const {
    std::vector<RowIndex> last(timeline_.threads.size(), kNoRow);
    for (RowIndex row = 0; row < timeline_.calls.size(); ++row) {
      const HostCall& call = timeline_.calls[row];
      if (!internal::launches_work(call.kind)) continue;
      const HostCall* previous = nullptr;
      if (call.thread != kNoRow) {
        if (last[call.thread] != kNoRow) previous = &timeline_.calls[last[call.thread]];
        last[call.thread] = row;
      }
      visit(row, previous);
    }
  }

  void add_launches() {
    each_launch([&](RowIndex row, const HostCall* previous) { add_launch(row, previous); });
    result_.gap = quantiles(result_.launch.gap, [&](const auto& add) {
      each_launch([&](RowIndex row, const HostCall* previous) {
        if (previous != nullptr) add(timeline_.calls[row].start_ns - previous->end_ns);
      });
    });
  }

  void add_launch(RowIndex row, const HostCall* previous) {
    const HostCall& call = timeline_.calls[row];
    count_launch(call, result_.launch);
    if (previous != nullptr) result_.launch.gap.add(call.start_ns - previous->end_ns);
    attribution_.each(attribution_.of_call(row), [&](RowIndex range) {
      const bool both =
          previous != nullptr && timeline_.ranges[range].start_ns <= previous->start_ns;
      ranges_.change(range, [&](RangeAccount& account) {
        count_launch(call, account.launch);
        if (both) account.launch.gap.add(call.start_ns - previous->end_ns);
      });
    });
    add_launch_to_focus(call, previous);
  }

  void add_launch_to_focus(const HostCall& call, const HostCall* previous) {
    if (!result_.focus) return;
    const auto window = focus_->find(call.thread, call.start_ns);
    if (!window) return;
    count_launch(call, result_.focus->launch);
    if (previous != nullptr && focus_->windows()[*window].start_ns <= previous->start_ns) {
      result_.focus->launch.gap.add(call.start_ns - previous->end_ns);
    }
  }

  static void count_launch(const HostCall& call, LaunchFigures& figures) {
    const bool copies = call.kind == CallKind::Copy || call.kind == CallKind::Fill;
    ++(copies ? figures.copy_calls : figures.launches);
  }

  void add_work() {
    // Work is in order of its beginning, so that a union needs only its end so far.
    constexpr std::int64_t kNothingYet = std::numeric_limits<std::int64_t>::min();
    const std::size_t devices = placement_.devices.size();
    std::vector<std::int64_t> covered_ns(timeline_.ranges.size() * devices, kNothingYet);
    std::vector<std::int64_t> focus_covered_ns;
    if (result_.focus) focus_covered_ns.assign(focus_->windows().size() * devices, kNothingYet);
    std::vector<bool> has_work(timeline_.calls.size());
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
      add_delay(work, launch, result_.launch);
      add_to_ranges(work, launch, covered_ns);
      add_to_focus(work, launch, focus_covered_ns);
    }
    result_.delay = quantiles(result_.launch.delay_from_start, [&](const auto& add) {
      for (const DeviceWork& work : timeline_.work) {
        if (work.launch == kNoRow) continue;
        add(work.start_ns - timeline_.calls[work.launch].start_ns);
      }
    });
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
        const Range& row = timeline_.ranges[range];
        own = new_time(work, {row.start_ns, row.end_ns},
                       covered_ns[std::size_t{range} * placement_.devices.size() + device]);
      }
      ranges_.change(range, [&](RangeAccount& account) {
        account.work.add(work);
        if (range == innermost) account.direct_work.add(work);
        add_delay(work, launch, account.launch);
        if (device != kNoDevice) add_own(own, account.own[device]);
      });
    });
  }

  void add_to_focus(const DeviceWork& work, const HostCall& launch,
                    std::vector<std::int64_t>& covered_ns) {
    if (!result_.focus) return;
    const auto window = focus_->find(launch.thread, launch.start_ns);
    if (!window) return;
    result_.focus->work.add(work);
    add_delay(work, launch, result_.focus->launch);
    const DeviceIndex device = placement_.of_work(work);
    if (device == kNoDevice) return;
    add_own(new_time(work, focus_->windows()[*window],
                     covered_ns[*window * placement_.devices.size() + device]),
            result_.focus->own[device]);
  }

  static void add_own(const OwnTime& more, OwnTime& sum) {
    sum.busy_ns += more.busy_ns;
    sum.inside_ns += more.inside_ns;
  }

  /// What the work adds to the union of the window's work, which so far extends to `covered_ns`.
  static OwnTime new_time(const DeviceWork& work, const internal::Window& range,
                          std::int64_t& covered_ns) {
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
      const Range& range = timeline_.ranges[row];
      if (result_.focus && focus_->find(range.thread, range.start_ns)) ++result_.focus->tokens;
    }
    result_.tokens = options_.tokens.value_or(tokens);
  }

  const Timeline& timeline_;
  const Attribution& attribution_;
  const AccountingOptions& options_;
  const internal::Placement placement_;
  RangeAccounts ranges_;
  std::optional<internal::Focus> focus_;
  Accounting result_;
};

}  // namespace

Accounting account(const Timeline& timeline, const Attribution& attribution,
                   const AccountingOptions& options) {
  return Accountant(timeline, attribution, options).run();
}

}  // namespace profline::timeline
