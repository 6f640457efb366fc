#include "summary/torch_trace.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/operators/operator_table.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/device_account.h"
#include "summary/operator_flops.h"

namespace profline::summary {
namespace {

using timeline::Attribution;

class Kernels {
 public:
  explicit Kernels(const Timeline& trace) : trace_(trace), attribution_(Attribution::of(trace)) {}

  std::vector<TracedKernel> run() {
    for (RowIndex i = 0; i < trace_.work.size(); ++i) {
      if (trace_.work[i].kind == WorkKind::Kernel) add(i);
    }
    for (const auto& [op, longest] : longest_) add_flops(op, longest);
    std::sort(kernels_.begin(), kernels_.end(), [](const TracedKernel& a, const TracedKernel& b) {
      return std::tie(b.total_ns, a.name, a.grid, a.block) <
             std::tie(a.total_ns, b.name, b.grid, b.block);
    });
    return std::move(kernels_);
  }

 private:
  struct Longest {
    std::int64_t duration_ns = -1;
    std::size_t kernel = 0;
  };

  void add(RowIndex index) {
    const DeviceWork& work = trace_.work[index];
    const std::size_t place = place_of(work);
    TracedKernel& kernel = kernels_[place];
    const std::int64_t duration = work.duration_ns();
    if (kernel.launches == 0 || duration < kernel.min_ns) kernel.min_ns = duration;
    kernel.max_ns = std::max(kernel.max_ns, duration);
    ++kernel.launches;
    kernel.total_ns += duration;
    count(kernel.stages[stage_of_work(work)], duration);
    const RowIndex op = work.launch == kNoRow ? kNoRow : trace_.calls[work.launch].op;
    if (op == kNoRow) return;
    count(kernel.operators[trace_.names.text(trace_.operators[op].name)], duration);
    Longest& longest = longest_[op];
    if (duration > longest.duration_ns) longest = {duration, place};
  }

  static void count(TracedKernel::Part& part, std::int64_t duration) {
    ++part.launches;
    part.total_ns += duration;
  }

  std::size_t place_of(const DeviceWork& work) {
    const LaunchShape shape = work.shape == kNoRow ? LaunchShape() : trace_.shapes[work.shape];
    const auto [place, is_new] =
        places_.try_emplace(std::tuple(work.name, shape.grid, shape.block), kernels_.size());
    if (is_new) {
      TracedKernel kernel;
      kernel.name = trace_.names.text(work.name);
      kernel.grid = shape.grid;
      kernel.block = shape.block;
      kernels_.push_back(std::move(kernel));
    }
    return place->second;
  }

  const std::string& stage_of_work(const DeviceWork& work) {
    const timeline::ContextId context = attribution_.of_work(work);
    const auto [known, is_new] = stages_.try_emplace(context);
    if (is_new) {
      std::vector<std::string> ranges;
      attribution_.each(context, [&](RowIndex range) {
        ranges.push_back(trace_.names.text(trace_.ranges[range].name));
      });
      std::reverse(ranges.begin(), ranges.end());
      known->second = stage_of(ranges);
    }
    return known->second;
  }

  void add_flops(RowIndex op, const Longest& longest) {
    const Operator& call = trace_.operators[op];
    const auto [known, is_new] = flops_.try_emplace(std::pair(call.name, call.input_shapes));
    if (is_new) {
      known->second =
          operator_flops(trace_.names.text(call.name), trace_.names.text(call.input_shapes));
    }
    if (!known->second) return;
    kernels_[longest.kernel].flops += *known->second;
    ++kernels_[longest.kernel].launches_with_flops;
  }

  using Key = std::tuple<Names::Id, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
  const Timeline& trace_;
  Attribution attribution_;
  std::vector<TracedKernel> kernels_;
  std::map<Key, std::size_t> places_;
  std::map<RowIndex, Longest> longest_;  // by operator, in order: sums are the same each time
  std::unordered_map<timeline::ContextId, std::string> stages_;
  std::map<std::pair<Names::Id, Names::Id>, std::optional<double>> flops_;
};

}  // namespace

std::optional<double> TracedKernel::flops_per_launch() const {
  if (launches == 0 || launches_with_flops != launches) return std::nullopt;
  return flops / static_cast<double>(launches);
}

std::vector<TracedKernel> traced_kernels(const Timeline& trace) {
  return Kernels(trace).run();
}

std::vector<NsysRange> traced_ranges(const Timeline& trace) {
  const timeline::Accounting accounting = timeline::account(trace, Attribution::of(trace));
  std::vector<NsysRange> rows;
  for (const timeline::RangeAccount& range : accounting.ranges) {
    NsysRange row;
    row.name = range.label;
    row.domain = trace.names.text(range.domain);
    row.instances = range.instances;
    row.still_open = range.still_open;
    row.wall_ns = range.wall_ns;
    row.launch.launches = range.launch.launches;
    row.launch.copy_calls = range.launch.copy_calls;
    row.launch.gaps = range.launch.gap.count;
    row.launch.gap_sum_ns = range.launch.gap.sum_ns;
    row.work = range.work.count;
    row.work_sum_ns = range.work.sum_ns;
    for (std::size_t i = 0; i < range.time.size(); ++i) {
      row.devices.push_back(timeline::device_account(accounting.devices[i], range.time[i],
                                                     range.wall_ns, range.own[i]));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

StageOperators stage_operators(const Timeline& trace, const std::string& range, double short_ns) {
  const operators::OperatorTable table = operators::operator_table(trace, {.inside = range});
  StageOperators result;
  result.calls = table.calls;
  if (table.self_ns <= 0 || table.rows.empty()) return result;
  const auto all = static_cast<double>(table.self_ns);
  for (const operators::OperatorRow& row : table.rows) {
    const auto self = static_cast<double>(row.self_ns);
    if (self < short_ns * static_cast<double>(row.calls)) result.short_share += self / all;
  }
  result.largest = trace.names.text(table.rows.front().name);
  result.largest_share = static_cast<double>(table.rows.front().self_ns) / all;
  return result;
}

std::string stage_of(const std::vector<std::string>& ranges) {
  static constexpr std::string_view kStages[] = {"sam", "clip", "projector", "lm", "decode"};
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    if (std::find(std::begin(kStages), std::end(kStages), *range) != std::end(kStages)) {
      return *range;
    }
  }
  return ranges.empty() ? "" : ranges.front();
}

}  // namespace profline::summary
