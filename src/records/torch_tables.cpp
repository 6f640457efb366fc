#include "records/torch_tables.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

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

Node operator_node(const TorchOperator& row) {
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

Node operator_nodes(const std::vector<TorchOperator>& rows) {
  Node list = Node::list();
  for (const TorchOperator& row : rows) list.as_list().push_back(operator_node(row));
  return list;
}

std::string operator_rows(const std::vector<TorchOperator>& rows, std::size_t at_most) {
  bool shapes = false;
  for (const TorchOperator& row : rows) shapes = shapes || !row.shapes.empty();
  std::string text = fmt::format(
      "| name | {}calls | self CPU ms | total CPU ms | self device ms | total device ms | mean CPU "
      "ms |\n"
      "|:--|{}--:|--:|--:|--:|--:|--:|\n",
      shapes ? "shapes | " : "", shapes ? ":--|" : "");
  for (std::size_t i = 0; i < rows.size() && i < at_most; ++i) {
    const TorchOperator& row = rows[i];
    text += fmt::format("| {} | {}{} | {} | {} | {} | {} | {} |\n", cell(row.name),
                        shapes ? cell(row.shapes) + " | " : "", row.calls, ms(row.self_cpu_ns),
                        ms(row.total_cpu_ns), ms(row.self_device_ns), ms(row.total_device_ns),
                        ms(mean_ns(row.total_cpu_ns, row.calls)));
  }
  return text;
}

}  // namespace

void sort_operators(std::vector<TorchOperator>& rows) {
  std::sort(rows.begin(), rows.end(), [](const TorchOperator& a, const TorchOperator& b) {
    if (a.self_device_ns != b.self_device_ns) return a.self_device_ns > b.self_device_ns;
    if (a.self_cpu_ns != b.self_cpu_ns) return a.self_cpu_ns > b.self_cpu_ns;
    return std::tie(a.name, a.shapes) < std::tie(b.name, b.shapes);
  });
}

Node operators_document(const TorchOperators& table) {
  NodeMap map;
  map.set("schema", Node::string("profline.operators/1"));
  map.set("duration_ns", Node::integer(table.duration_ns));
  map.set("resolution_ns", Node::integer(table.resolution_ns));
  map.set("operators", operator_nodes(table.operators));
  map.set("runtime_calls", operator_nodes(table.runtime_calls));
  map.set("ranges", operator_nodes(table.ranges));
  return Node::map(std::move(map));
}

std::string operators_markdown(const TorchOperators& table) {
  const std::size_t shown = std::min(kShownRows, table.operators.size());
  std::string text = fmt::format(
      "# Operator summary\n\n{} of {} rows, most self time first; all of them are in "
      "operators.json. "
      "Recorded: {}.\n",
      shown, table.operators.size(), duration(table.duration_ns));
  if (table.resolution_ns > 1) {
    text += fmt::format("This libtorch records times in steps of {} ns.\n", table.resolution_ns);
  }
  text += '\n' + operator_rows(table.operators, kShownRows);
  if (!table.runtime_calls.empty()) {
    text += "\n## Calls of the CUDA runtime and driver\n\n" +
            operator_rows(table.runtime_calls, kShownRows);
  }
  if (!table.ranges.empty()) text += "\n## Ranges\n\n" + operator_rows(table.ranges, kShownRows);
  return text;
}

Node kernels_document(const std::vector<TorchKernel>& rows, const std::string& why_none) {
  NodeMap map;
  map.set("schema", Node::string("profline.kernels/1"));
  Node list = Node::list();
  for (const TorchKernel& row : rows) {
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

std::string kernels_markdown(const std::vector<TorchKernel>& rows, const std::string& why_none) {
  if (rows.empty()) return fmt::format("# Kernel summary\n\nNo kernels: {}.\n", why_none);
  std::string text = fmt::format(
      "# Kernel summary\n\n{} of {} rows, most total time first; all of them are in "
      "kernels.json.\n\n"
      "| name | device | calls | total ms | mean ms | min ms | max ms |\n"
      "|:--|--:|--:|--:|--:|--:|--:|\n",
      std::min(kShownRows, rows.size()), rows.size());
  for (std::size_t i = 0; i < rows.size() && i < kShownRows; ++i) {
    const TorchKernel& row = rows[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(row.name), row.device,
                        row.calls, ms(row.total_ns), ms(mean_ns(row.total_ns, row.calls)),
                        ms(row.min_ns), ms(row.max_ns));
  }
  return text;
}

}  // namespace profline
