#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "workload/profiler/internal/documents.h"

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

/// Whether a call is nested in another one of its row.
bool is_recursive(const CallTree& tree, const std::vector<std::size_t>& row_of, std::size_t call) {
  for (auto above = tree.calls[call].parent; above; above = tree.calls[*above].parent) {
    if (row_of[*above] == row_of[call]) return true;
  }
  return false;
}

/// On a GPU, rows are sorted by device time; a run on a CPU has none.
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

constexpr std::size_t kShownRows = 50;
constexpr double kNsPerMs = 1e6;

/// Names are untrusted text: nothing in them may end a cell or begin markup.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '`' || c == '<' || c == '*' || c == '_' || c == '[') {
      safe += '\\';
    }
    safe += c;
  }
  return safe;
}

std::string ms(std::int64_t ns) {
  return fmt::format("{:.3f}", static_cast<double>(ns) / kNsPerMs);
}

std::int64_t mean_ns(std::int64_t total_ns, std::uint64_t calls) {
  return calls == 0 ? 0 : total_ns / static_cast<std::int64_t>(calls);
}

Node operator_node(const OperatorRow& row) {
  NodeMap map;
  map.set("name", Node::string(row.name));
  if (!row.shapes.empty()) map.set("shapes", Node::string(row.shapes));
  map.set("calls", Node::integer(static_cast<std::int64_t>(row.calls)));
  map.set("self_cpu_ns", Node::integer(row.self_cpu_ns));
  map.set("total_cpu_ns", Node::integer(row.total_cpu_ns));
  map.set("self_device_ns", Node::integer(row.self_device_ns));
  map.set("total_device_ns", Node::integer(row.total_device_ns));
  return Node::map(std::move(map));
}

Node operator_nodes(const std::vector<OperatorRow>& rows) {
  Node list = Node::list();
  for (const OperatorRow& row : rows) list.as_list().push_back(operator_node(row));
  return list;
}

std::string operator_rows(const std::vector<OperatorRow>& rows, std::size_t at_most) {
  bool shapes = false;
  for (const OperatorRow& row : rows) shapes = shapes || !row.shapes.empty();
  std::string text = fmt::format(
      "| name | {}calls | self CPU ms | total CPU ms | self device ms | total device ms | mean CPU "
      "ms |\n"
      "|:--|{}--:|--:|--:|--:|--:|--:|\n",
      shapes ? "shapes | " : "", shapes ? ":--|" : "");
  for (std::size_t i = 0; i < rows.size() && i < at_most; ++i) {
    const OperatorRow& row = rows[i];
    text += fmt::format("| {} | {}{} | {} | {} | {} | {} | {} |\n", cell(row.name),
                        shapes ? cell(row.shapes) + " | " : "", row.calls, ms(row.self_cpu_ns),
                        ms(row.total_cpu_ns), ms(row.self_device_ns), ms(row.total_device_ns),
                        ms(mean_ns(row.total_cpu_ns, row.calls)));
  }
  return text;
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

std::vector<DeviceRow> kernel_table(const Recording& recording) {
  std::map<std::pair<std::string, int>, DeviceRow> rows;
  for (const TraceEvent& event : recording.events) {
    if (!event.is_on_device()) continue;
    DeviceRow& row = rows[{event.name, event.device}];
    if (row.calls == 0)
      row = {.name = event.name, .device = event.device, .min_ns = event.duration_ns};
    ++row.calls;
    row.total_ns += event.duration_ns;
    row.min_ns = std::min(row.min_ns, event.duration_ns);
    row.max_ns = std::max(row.max_ns, event.duration_ns);
  }
  std::vector<DeviceRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const DeviceRow& a, const DeviceRow& b) { return a.total_ns > b.total_ns; });
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

Node operators_document(const OperatorTable& table, const Recording& recording) {
  NodeMap map;
  map.set("schema", Node::string("profline.operators/1"));
  map.set("duration_ns", Node::integer(recording.end_ns - recording.begin_ns));
  map.set("resolution_ns", Node::integer(recording.resolution_ns));
  map.set("operators", operator_nodes(table.operators));
  map.set("runtime_calls", operator_nodes(table.calls));
  map.set("ranges", operator_nodes(table.ranges));
  return Node::map(std::move(map));
}

std::string operators_markdown(const OperatorTable& table, const Recording& recording) {
  const std::size_t shown = std::min(kShownRows, table.operators.size());
  std::string text = fmt::format(
      "# Operator summary\n\n{} of {} rows, most self time first; all of them are in "
      "operators.json. "
      "Recorded: {}.\n",
      shown, table.operators.size(), duration(recording.end_ns - recording.begin_ns));
  if (recording.resolution_ns > 1) {
    text +=
        fmt::format("This libtorch records times in steps of {} ns.\n", recording.resolution_ns);
  }
  text += '\n' + operator_rows(table.operators, kShownRows);
  if (!table.calls.empty()) {
    text +=
        "\n## Calls of the CUDA runtime and driver\n\n" + operator_rows(table.calls, kShownRows);
  }
  if (!table.ranges.empty()) text += "\n## Ranges\n\n" + operator_rows(table.ranges, kShownRows);
  return text;
}

Node kernels_document(const std::vector<DeviceRow>& rows, const std::string& why_none) {
  NodeMap map;
  map.set("schema", Node::string("profline.kernels/1"));
  Node list = Node::list();
  for (const DeviceRow& row : rows) {
    NodeMap entry;
    entry.set("name", Node::string(row.name));
    entry.set("device", Node::integer(row.device));
    entry.set("calls", Node::integer(static_cast<std::int64_t>(row.calls)));
    entry.set("total_ns", Node::integer(row.total_ns));
    entry.set("mean_ns", Node::integer(mean_ns(row.total_ns, row.calls)));
    entry.set("min_ns", Node::integer(row.min_ns));
    entry.set("max_ns", Node::integer(row.max_ns));
    list.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("kernels", std::move(list));
  if (rows.empty()) map.set("why_none", Node::string(why_none));
  return Node::map(std::move(map));
}

std::string kernels_markdown(const std::vector<DeviceRow>& rows, const std::string& why_none) {
  if (rows.empty()) return fmt::format("# Kernel summary\n\nNo kernels: {}.\n", why_none);
  std::string text = fmt::format(
      "# Kernel summary\n\n{} of {} rows, most total time first; all of them are in "
      "kernels.json.\n\n"
      "| name | device | calls | total ms | mean ms | min ms | max ms |\n"
      "|:--|--:|--:|--:|--:|--:|--:|\n",
      std::min(kShownRows, rows.size()), rows.size());
  for (std::size_t i = 0; i < rows.size() && i < kShownRows; ++i) {
    const DeviceRow& row = rows[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(row.name), row.device,
                        row.calls, ms(row.total_ns), ms(mean_ns(row.total_ns, row.calls)),
                        ms(row.min_ns), ms(row.max_ns));
  }
  return text;
}

}  // namespace profline::workload
