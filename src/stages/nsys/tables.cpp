#include "stages/nsys/internal/tables.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/device_account.h"
#include "analysis/timeline/range_names.h"

namespace profline::stages::internal {
namespace {

using timeline::Attribution;
using timeline::ContextId;

/// `decode`, `domain:decode`: what NsysRange::label makes of it.
std::string label_of(const Timeline& timeline, const Range& range) {
  const std::string& domain = timeline.names.text(range.domain);
  const std::string name = timeline::range_label(timeline.names.text(range.name));
  return domain.empty() ? name : domain + ":" + name;
}

/// Stacks of ranges by their labels: thousands of instances of one range are one stack.
class Stacks {
 public:
  Stacks(const Timeline& timeline, const Attribution& attribution)
      : stack_of_(attribution.context_count()), stacks_(1) {
    std::map<std::pair<std::size_t, std::string>, std::size_t> known;
    for (ContextId id = 1; id < stack_of_.size(); ++id) {
      // What is below a context came before it.
      const std::size_t below = stack_of_[attribution.context(id).below];
      std::string label = label_of(timeline, timeline.ranges[attribution.context(id).range]);
      const auto [entry, is_new] = known.try_emplace({below, label}, stacks_.size());
      if (is_new) {
        std::vector<std::string> stack = stacks_[below];
        stack.push_back(std::move(label));
        stacks_.push_back(std::move(stack));
      }
      stack_of_[id] = entry->second;
    }
  }

  /// 0: outside of every range.
  std::size_t of(ContextId context) const { return stack_of_[context]; }
  const std::vector<std::string>& labels(std::size_t stack) const { return stacks_[stack]; }

 private:
  std::vector<std::size_t> stack_of_;
  std::vector<std::vector<std::string>> stacks_;
};

/// What makes launches one row.
struct RowKey {
  Names::Id name = 0;
  RowIndex shape = kNoRow;
  std::size_t stack = 0;
  std::int32_t device = 0;
  bool launched = true;

  bool operator<(const RowKey& other) const {
    return std::tie(name, shape, stack, device, launched) <
           std::tie(other.name, other.shape, other.stack, other.device, other.launched);
  }
};

double median_of(std::vector<std::int64_t>& durations) {
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  const auto upper = static_cast<double>(*middle);
  if (durations.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(durations.begin(), middle)) + upper) / 2;
}

std::vector<std::uint32_t> numbers(const std::array<std::uint32_t, 3>& three) {
  return {three.begin(), three.end()};
}

/// Names are taken apart once each.
class NamedKernels {
 public:
  NamedKernels(const Timeline& timeline, const kernels::Classifier& classifier)
      : timeline_(timeline), classifier_(classifier) {}

  void name(Names::Id id, NsysKernel& row) {
    auto [entry, is_new] = known_.try_emplace(id);
    if (is_new) {
      const kernels::CanonicalName canonical = kernels::canonical_name(timeline_.names.text(id));
      entry->second = {canonical.full, canonical.short_name, classifier_.class_of(canonical)};
    }
    row.printed_name = timeline_.names.text(id);
    row.name = entry->second.full;
    row.short_name = entry->second.short_name;
    row.kernel_class = entry->second.kernel_class;
  }

 private:
  struct Known {
    std::string full, short_name, kernel_class;
  };
  const Timeline& timeline_;
  const kernels::Classifier& classifier_;
  std::unordered_map<Names::Id, Known> known_;
};

void add_kernels(const ReadCapture& capture, const Attribution& attribution,
                 const kernels::Classifier& classifier, NsysKernels& table) {
  const Timeline& timeline = capture.timeline;
  const Stacks stacks(timeline, attribution);
  std::map<RowKey, std::vector<std::int64_t>> rows;
  for (const DeviceWork& work : timeline.work) {
    if (work.kind != WorkKind::Kernel) continue;
    const ContextId context = attribution.of_work(work);
    RowKey key{.name = work.name, .shape = work.shape};
    key.launched = context != timeline::kNoLaunch;
    if (key.launched) key.stack = stacks.of(context);
    if (work.stream != kNoRow) key.device = timeline.streams[work.stream].device;
    rows[key].push_back(work.duration_ns());
  }
  NamedKernels named(timeline, classifier);
  for (auto& [key, durations] : rows) {
    NsysKernel row;
    named.name(key.name, row);
    if (key.shape != kNoRow) {
      row.grid = numbers(timeline.shapes[key.shape].grid);
      row.block = numbers(timeline.shapes[key.shape].block);
    }
    row.ranges = stacks.labels(key.stack);
    row.launch_recorded = key.launched;
    row.capture = capture.about.name;
    row.device = key.device;
    row.calls = durations.size();
    for (const std::int64_t duration : durations) row.total_ns += duration;
    const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
    row.min_ns = *least;
    row.max_ns = *most;
    row.median_ns = median_of(durations);
    table.kernels.push_back(std::move(row));
  }
}

LaunchAccount launch_account(const timeline::LaunchFigures& figures) {
  return {.launches = figures.launches,
          .copy_calls = figures.copy_calls,
          .gaps = figures.gap.count,
          .gap_sum_ns = figures.gap.sum_ns,
          .delays = figures.delay_from_start.count,
          .delay_sum_ns = figures.delay_from_start.sum_ns};
}

/// The ranges around the first instance of a name, outermost first.
std::vector<std::string> around(const Timeline& timeline, const Attribution& attribution,
                                const timeline::RangeAccount& account) {
  for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
    const Range& range = timeline.ranges[row];
    if (range.name != account.name || range.domain != account.domain) continue;
    std::vector<std::string> labels;
    attribution.each(attribution.around(row), [&](RowIndex outer) {
      labels.push_back(label_of(timeline, timeline.ranges[outer]));
    });
    std::reverse(labels.begin(), labels.end());
    return labels;
  }
  return {};
}

/// Decode steps are what tokens are counted by; where they have no ranges, the samples know.
void count_tokens(const timeline::RangeAccount& account, std::span<const Sample> samples,
                  NsysRange& range) {
  if (account.tokens > 0) {
    range.tokens = account.tokens;
    range.tokens_from = "decode_step";
    return;
  }
  if (range.name != "decode" || samples.size() < account.instances) return;
  std::uint64_t tokens = 0;
  for (const Sample& sample : samples.first(account.instances)) tokens += sample.token_ns.size();
  range.tokens = tokens;
  range.tokens_from = "samples.jsonl";
}

void add_ranges(const ReadCapture& capture, const Attribution& attribution,
                const timeline::Accounting& accounts, NsysRanges& table) {
  const Timeline& timeline = capture.timeline;
  for (const timeline::RangeAccount& account : accounts.ranges) {
    NsysRange range;
    range.capture = capture.about.name;
    range.name = account.label;
    range.domain = timeline.names.text(account.domain);
    range.around = around(timeline, attribution, account);
    range.instances = account.instances;
    range.still_open = account.still_open;
    range.wall_ns = account.wall_ns;
    range.launch = launch_account(account.launch);
    for (std::size_t i = 0; i < accounts.devices.size(); ++i) {
      range.devices.push_back(timeline::device_account(accounts.devices[i], account.time[i],
                                                       account.wall_ns, account.own[i]));
    }
    range.work = account.work.count;
    range.work_sum_ns = account.work.sum_ns;
    count_tokens(account, capture.samples, range);
    table.ranges.push_back(std::move(range));
  }
}

NsysCapture about(const ReadCapture& capture, const timeline::Accounting& accounts) {
  const Timeline& timeline = capture.timeline;
  NsysCapture about = capture.about;
  about.wall_ns = accounts.wall_ns();
  about.kernels = accounts.kernels.count;
  about.calls = timeline.calls.size();
  about.ranges = timeline.ranges.size();
  about.launch = launch_account(accounts.launch);
  for (std::size_t i = 0; i < accounts.devices.size(); ++i) {
    about.devices.push_back(
        timeline::device_account(accounts.devices[i], accounts.time[i], accounts.wall_ns()));
    // All work of a capture is its own.
    about.devices.back().own_busy_ns = about.devices.back().busy_ns;
    about.devices.back().own_inside_ns = about.devices.back().busy_ns;
    about.gpu_spans.push_back({.device = accounts.devices[i],
                               .begin_ns = accounts.active[i].begin_ns - accounts.begin_ns,
                               .end_ns = accounts.active[i].end_ns - accounts.begin_ns,
                               .busy_ns = accounts.time[i].busy_ns()});
  }
  for (const Gpu& gpu : timeline.gpus) about.gpus.push_back(gpu.name);
  about.unplaced = {.outside_ranges = accounts.outside_ranges.count,
                    .outside_ranges_ns = accounts.outside_ranges.sum_ns,
                    .without_launch = accounts.without_launch.count,
                    .without_launch_ns = accounts.without_launch.sum_ns,
                    .without_device = accounts.without_device.count,
                    .without_device_ns = accounts.without_device.sum_ns,
                    .launches_without_work = accounts.launches_without_work};
  about.losses = timeline.reading.losses;
  about.notes = timeline.reading.notes;
  about.events_used = timeline.reading.used;
  about.events_skipped = timeline.reading.events() - timeline.reading.used;
  return about;
}

}  // namespace

void add_capture(const ReadCapture& capture, const kernels::Classifier& classifier,
                 NsysTables& tables) {
  const Timeline& timeline = capture.timeline;
  const Attribution attribution = Attribution::of(timeline);
  timeline::AccountingOptions options;
  options.is_collective = [&](std::string_view name) {
    return classifier.class_of(kernels::canonical_name(name)) == "collective";
  };
  const timeline::Accounting accounts = account(timeline, attribution, options);
  add_kernels(capture, attribution, classifier, tables.kernels);
  add_ranges(capture, attribution, accounts, tables.ranges);
  tables.ranges.captures.push_back(about(capture, accounts));
}

void finish(NsysTables& tables) {
  std::stable_sort(tables.kernels.kernels.begin(), tables.kernels.kernels.end(),
                   [](const NsysKernel& a, const NsysKernel& b) {
                     if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
                     return std::tie(a.name, a.capture, a.ranges, a.grid, a.block, a.device) <
                            std::tie(b.name, b.capture, b.ranges, b.grid, b.block, b.device);
                   });
  for (const NsysKernel& kernel : tables.kernels.kernels) {
    tables.kernels.launches += kernel.calls;
    tables.kernels.total_ns += kernel.total_ns;
  }
  tables.kernels.tool = tables.ranges.tool;
}

}  // namespace profline::stages::internal
