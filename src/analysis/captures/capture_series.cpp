#include "analysis/captures/capture_series.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "analysis/kernels/canonical_name.h"

namespace profline::captures {
namespace {

std::string extent(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," + std::to_string(size[2]);
}

std::string shape_text(const Timeline& timeline, RowIndex shape) {
  if (shape == kNoRow) return "";
  const LaunchShape& found = timeline.shapes[shape];
  return "grid " + extent(found.grid) + " block " + extent(found.block);
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

/// Rows of kernels: names that differ in spelling only share one, as do shapes that differ in what
/// is not told of them.
class KernelRows {
 public:
  explicit KernelRows(const Timeline& timeline) : timeline_(timeline) {}

  CallTimes& row_of(const DeviceWork& work) {
    const std::uint64_t key = (std::uint64_t{work.name} << 32U) | work.shape;
    const auto known = by_id_.find(key);
    if (known != by_id_.end()) return rows_[known->second];
    const kernels::CanonicalName name = kernels::canonical_name(timeline_.names.text(work.name));
    CallTimes row{name.full, name.short_name, shape_text(timeline_, work.shape), {}};
    const auto [place, is_new] = by_text_.try_emplace(std::pair(row.name, row.shape), rows_.size());
    if (is_new) rows_.push_back(std::move(row));
    by_id_.emplace(key, place->second);
    return rows_[place->second];
  }

  std::vector<CallTimes> take() && { return std::move(rows_); }

 private:
  const Timeline& timeline_;
  std::vector<CallTimes> rows_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::map<std::pair<std::string, std::string>, std::size_t> by_text_;
};

/// Each operator's own time: its length less what operators directly inside it cover. One that
/// outlasts the one around it counts there only as long as that lasted.
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
  KernelRows rows(timeline);
  for (const DeviceWork& work : timeline.work) {
    if (work.kind != WorkKind::Kernel) continue;
    rows.row_of(work).ns.push_back(static_cast<double>(work.duration_ns()));
  }
  std::vector<CallTimes> kernels = std::move(rows).take();
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
