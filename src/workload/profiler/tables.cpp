#include <algorithm>
#include <map>
#include <unordered_map>

#include "workload/profiler/call_tree.h"

namespace profline::workload {
namespace {

/// The row that each call belongs to.
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

  std::vector<TorchOperator> rows;
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

/// Whether a call is nested in another one of its row.
bool is_recursive(const CallTree& tree, const std::vector<std::size_t>& row_of, std::size_t call) {
  for (auto above = tree.calls[call].parent; above; above = tree.calls[*above].parent) {
    if (row_of[*above] == row_of[call]) return true;
  }
  return false;
}

std::vector<TorchOperator>& list_of(TraceEvent::Kind kind, TorchOperators& table) {
  if (kind == TraceEvent::Kind::Range) return table.ranges;
  return kind == TraceEvent::Kind::Runtime ? table.runtime_calls : table.operators;
}

struct Account {
  std::int64_t allocations = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t frees = 0;
  std::int64_t freed_bytes = 0;
  std::int64_t peak_bytes = 0;

  std::int64_t held() const { return allocated_bytes - freed_bytes; }
  void add(std::int64_t bytes) {
    if (bytes >= 0) {
      ++allocations;
      allocated_bytes += bytes;
    } else {
      ++frees;
      freed_bytes -= bytes;
    }
    peak_bytes = std::max(peak_bytes, held());
  }
};

std::string device_text(int device) {
  return device == TraceEvent::kHost ? "cpu" : "cuda:" + std::to_string(device);
}

NodeMap account_map(const Account& account) {
  NodeMap map;
  map.set("allocations", Node::integer(account.allocations));
  map.set("allocated_bytes", Node::integer(account.allocated_bytes));
  map.set("frees", Node::integer(account.frees));
  map.set("freed_bytes", Node::integer(account.freed_bytes));
  return map;
}

std::vector<const TraceEvent*> memory_events(const Recording& recording) {
  std::vector<const TraceEvent*> events;
  for (const TraceEvent& event : recording.events) {
    if (event.kind == TraceEvent::Kind::Memory) events.push_back(&event);
  }
  std::stable_sort(events.begin(), events.end(), [](const TraceEvent* a, const TraceEvent* b) {
    return a->start_ns < b->start_ns;
  });
  return events;
}

Node change_node(const TraceEvent& event, std::int64_t begin_ns, std::int64_t held) {
  NodeMap map;
  map.set("at_ns", Node::integer(event.start_ns - begin_ns));
  map.set("device", Node::string(device_text(event.device)));
  map.set("bytes", Node::integer(event.bytes));
  map.set("held_bytes", Node::integer(held));
  return Node::map(std::move(map));
}

}  // namespace

TorchOperators operator_table(const Recording& recording, const CallTree& tree, bool by_shape) {
  Rows rows;
  std::vector<std::size_t> row_of(tree.calls.size());
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    const Call& call = tree.calls[i];
    row_of[i] = rows.index_of(recording.events[call.event], by_shape);
    TorchOperator& row = rows.rows[row_of[i]];
    ++row.calls;
    row.self_cpu_ns += call.self_ns;
    row.self_device_ns += call.self_device_ns;
    if (is_recursive(tree, row_of, i)) continue;
    row.total_cpu_ns += call.end_ns - call.begin_ns;
    row.total_device_ns += call.total_device_ns;
  }
  TorchOperators table;
  table.duration_ns = recording.end_ns - recording.begin_ns;
  table.resolution_ns = recording.resolution_ns;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    list_of(rows.kinds[i], table).push_back(std::move(rows.rows[i]));
  }
  sort_operators(table.operators);
  sort_operators(table.runtime_calls);
  return table;
}

std::vector<TorchKernel> kernel_table(const Recording& recording) {
  std::map<std::pair<std::string, int>, TorchKernel> rows;
  for (const TraceEvent& event : recording.events) {
    if (!event.is_on_device()) continue;
    TorchKernel& row = rows[{event.name, event.device}];
    if (row.calls == 0)
      row = {.name = event.name, .device = event.device, .min_ns = event.duration_ns};
    ++row.calls;
    row.total_ns += event.duration_ns;
    row.min_ns = std::min(row.min_ns, event.duration_ns);
    row.max_ns = std::max(row.max_ns, event.duration_ns);
  }
  std::vector<TorchKernel> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [](const TorchKernel& a, const TorchKernel& b) {
    return a.total_ns > b.total_ns;
  });
  return sorted;
}

Node memory_document(const Recording& recording, const CallTree& tree) {
  std::map<int, Account> by_device;
  std::map<std::pair<std::string, int>, Account> by_operator;
  Node changes = Node::list();
  for (const TraceEvent* event : memory_events(recording)) {
    Account& account = by_device[event->device];
    account.add(event->bytes);
    const auto call = tree.innermost(event->thread, event->start_ns);
    const std::string who =
        call ? recording.events[tree.calls[*call].event].name : "outside operators";
    by_operator[{who, event->device}].add(event->bytes);
    changes.as_list().push_back(change_node(*event, recording.begin_ns, account.held()));
  }
  Node devices = Node::list();
  for (const auto& [device, account] : by_device) {
    NodeMap map;
    map.set("device", Node::string(device_text(device)));
    for (auto& entry : account_map(account)) map.set(entry.key, entry.value);
    map.set("peak_bytes", Node::integer(account.peak_bytes));
    map.set("held_at_end_bytes", Node::integer(account.held()));
    devices.as_list().push_back(Node::map(std::move(map)));
  }
  Node operators = Node::list();
  for (const auto& [key, account] : by_operator) {
    NodeMap map;
    map.set("name", Node::string(key.first));
    map.set("device", Node::string(device_text(key.second)));
    for (auto& entry : account_map(account)) map.set(entry.key, entry.value);
    operators.as_list().push_back(Node::map(std::move(map)));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.memory/1"));
  document.set("devices", std::move(devices));
  document.set("operators", std::move(operators));
  document.set("changes", std::move(changes));
  return Node::map(std::move(document));
}

}  // namespace profline::workload
