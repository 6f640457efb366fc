#include <algorithm>
#include <map>
#include <unordered_map>

#include "workload/profiler/tables.h"

namespace profline::workload {
namespace {

/// Which row each call belongs to.
class Rows {
 public:
  std::size_t index_of(const TraceEvent& event, bool by_shape) {
    const bool is_operator = event.kind == TraceEvent::Kind::Operator;
    std::string shapes =
        by_shape && event.has_shapes && is_operator ? shapes_text(event.shapes) : std::string();
    const auto [entry, is_new] =
        found_.try_emplace(Key{event.kind, event.name, std::move(shapes)}, rows.size());
    if (is_new) {
      rows.push_back({.name = event.name, .shapes = entry->first.shapes});
      kinds.push_back(event.kind);
    }
    return entry->second;
  }

  std::vector<OperatorRow> rows;
  std::vector<TraceEvent::Kind> kinds;  // of each row

 private:
  struct Key {
    TraceEvent::Kind kind;
    std::string name;
    std::string shapes;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::size_t> found_;
};

/// Whether a call lies inside another one of its row.
bool is_recursive(const CallTree& tree, const std::vector<std::size_t>& row_of, std::size_t call) {
  for (auto above = tree.calls[call].parent; above; above = tree.calls[*above].parent) {
    if (row_of[*above] == row_of[call]) return true;
  }
  return false;
}

/// On a GPU the device's time decides what matters; a run on a CPU has no device time.
void order_rows(std::vector<OperatorRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
    if (a.self_device_ns != b.self_device_ns) return a.self_device_ns > b.self_device_ns;
    if (a.self_cpu_ns != b.self_cpu_ns) return a.self_cpu_ns > b.self_cpu_ns;
    return std::tie(a.name, a.shapes) < std::tie(b.name, b.shapes);
  });
}

std::vector<OperatorRow>& list_of(TraceEvent::Kind kind, OperatorTable& table) {
  if (kind == TraceEvent::Kind::Range) return table.ranges;
  return kind == TraceEvent::Kind::Runtime ? table.calls : table.operators;
}

}  // namespace

OperatorTable operator_table(const Recording& recording, const CallTree& tree, bool by_shape) {
  Rows rows;
  std::vector<std::size_t> row_of(tree.calls.size());
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    const Call& call = tree.calls[i];
    row_of[i] = rows.index_of(recording.events[call.event], by_shape);
    OperatorRow& row = rows.rows[row_of[i]];
    ++row.calls;
    row.self_cpu_ns += call.self_ns;
    row.self_device_ns += call.self_device_ns;
    if (is_recursive(tree, row_of, i)) continue;
    row.total_cpu_ns += call.end_ns - call.begin_ns;
    row.total_device_ns += call.total_device_ns;
  }
  OperatorTable table;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    list_of(rows.kinds[i], table).push_back(std::move(rows.rows[i]));
  }
  order_rows(table.operators);
  order_rows(table.calls);
  return table;
}

std::vector<KernelRow> kernel_table(const Recording& recording) {
  std::map<std::pair<std::string, int>, KernelRow> rows;
  for (const TraceEvent& event : recording.events) {
    if (!event.is_on_device()) continue;
    KernelRow& row = rows[{event.name, event.device}];
    if (row.calls == 0)
      row = {.name = event.name, .device = event.device, .min_ns = event.duration_ns};
    ++row.calls;
    row.total_ns += event.duration_ns;
    row.min_ns = std::min(row.min_ns, event.duration_ns);
    row.max_ns = std::max(row.max_ns, event.duration_ns);
  }
  std::vector<KernelRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.total_ns > b.total_ns; });
  return sorted;
}

}  // namespace profline::workload
