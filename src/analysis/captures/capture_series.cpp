#include "analysis/captures/capture_series.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analysis/timeline/group_kernels.h"

namespace profline::captures {
namespace {

std::string extent(const std::vector<std::uint32_t>& size) {
  return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," + std::to_string(size[2]);
}

std::string shape_text(const KernelUse& use) {
  if (use.grid.empty()) return "";
  return "grid " + extent(use.grid) + " block " + extent(use.block);
}

void order(std::vector<CallTimes>& rows) {
  std::vector<std::pair<double, std::size_t>> by_time;
  for (std::size_t i = 0; i < rows.size(); ++i) by_time.emplace_back(-rows[i].total_ns(), i);
  std::sort(by_time.begin(), by_time.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return std::tie(rows[a.second].name, rows[a.second].shape) <
           std::tie(rows[b.second].name, rows[b.second].shape);
  });
  std::vector<CallTimes> ordered;
  ordered.reserve(rows.size());
  for (const auto& [time, row] : by_time) ordered.push_back(std::move(rows[row]));
  rows = std::move(ordered);
}

/// Each operator's self time: its length minus what directly nested operators cover. One that
/// outlasts its parent counts there only until the parent ends.
std::vector<std::int64_t> own_times(const Timeline& timeline) {
  std::vector<std::int64_t> own(timeline.operators.size());
  std::vector<std::vector<RowIndex>> open(timeline.threads.size());
  for (RowIndex i = 0; i < timeline.operators.size(); ++i) {
    const Operator& op = timeline.operators[i];
    own[i] = op.duration_ns();
    if (op.thread == kNoRow) continue;
    std::vector<RowIndex>& stack = open[op.thread];
    while (!stack.empty() && timeline.operators[stack.back()].end_ns <= op.start_ns) {
      stack.pop_back();
    }
    if (!stack.empty()) {
      const std::int64_t end = std::min(op.end_ns, timeline.operators[stack.back()].end_ns);
      own[stack.back()] -= end - op.start_ns;
    }
    stack.push_back(i);
  }
  return own;
}

}  // namespace

double CallTimes::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), 0.0);
}

std::vector<CallTimes> kernel_times(const Timeline& timeline) {
  using timeline::KernelKeys;
  const timeline::KernelUses uses =
      timeline::group_kernels(timeline, {.shape = KernelKeys::Shape::GridAndBlock});
  std::vector<CallTimes> kernels;
  for (const KernelUse& use : uses.rows) {
    kernels.push_back({use.name, use.short_name, shape_text(use), {}});
    kernels.back().ns.reserve(use.launches);
  }
  for (RowIndex i = 0; i < timeline.work.size(); ++i) {
    if (uses.row_of[i] == kNoRow) continue;
    kernels[uses.row_of[i]].ns.push_back(static_cast<double>(timeline.work[i].duration_ns()));
  }
  order(kernels);
  return kernels;
}

std::vector<CallTimes> operator_times(const Timeline& timeline) {
  const std::vector<std::int64_t> own = own_times(timeline);
  std::vector<CallTimes> rows;
  std::unordered_map<Names::Id, std::size_t> by_name;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Names::Id id = timeline.operators[i].name;
    const auto [place, is_new] = by_name.try_emplace(id, rows.size());
    if (is_new) {
      const std::string name(timeline.names.text(id));
      rows.push_back({name, name, "", {}});
    }
    rows[place->second].ns.push_back(static_cast<double>(std::max<std::int64_t>(own[i], 0)));
  }
  order(rows);
  return rows;
}

}  // namespace profline::captures
