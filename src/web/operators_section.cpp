#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/internal/markup.h"
#include "web/internal/sections.h"

namespace profline::web {
namespace {

constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostBytes = 2 << 20;

double as_double(std::int64_t ns) {
  return static_cast<double>(ns);
}

struct Sums {
  double self_cpu_ns = 0;
  double self_device_ns = 0;
};

Sums sums_of(const TorchOperators& operators) {
  Sums sums;
  for (const TorchOperator& row : operators.operators) {
    sums.self_cpu_ns += as_double(row.self_cpu_ns);
    sums.self_device_ns += as_double(row.self_device_ns);
  }
  return sums;
}

bool has_shapes(const TorchOperators& operators) {
  return std::any_of(operators.operators.begin(), operators.operators.end(),
                     [](const TorchOperator& row) { return !row.shapes.empty(); });
}

std::vector<Table::Column> columns(bool with_shapes, bool with_device) {
  using Align = Table::Align;
  std::vector<Table::Column> all = {{"operator", Align::Left}};
  if (with_shapes) all.push_back({"shapes", Align::Text, "of its inputs"});
  all.insert(all.end(), {{"calls"},
                         {"self CPU", Align::Right, "without operators inside it"},
                         {"share", Align::Right, "of all self time on the CPU"},
                         {"per call", Align::Right, "self time on the CPU"},
                         {"total CPU", Align::Right, "with operators inside it"}});
  if (with_device) {
    all.insert(all.end(), {{"self device", Align::Right, "of work that it launched itself"},
                           {"device share", Align::Right, "of all device time"},
                           {"total device"}});
  }
  return all;
}

Table table_of(const TorchOperators& operators) {
  const Sums sums = sums_of(operators);
  const bool with_shapes = has_shapes(operators);
  const bool with_device = sums.self_device_ns > 0;
  const auto share = [](double part, double all) {
    return all > 0 ? std::optional<double>(part / all) : std::nullopt;
  };
  Table table("operators-table", "operators under the torch profiler",
              columns(with_shapes, with_device));
  table.with_search();
  for (const TorchOperator& row : operators.operators) {
    if (table.rows() >= kMostRows || table.bytes() >= kMostBytes) break;
    const double self = as_double(row.self_cpu_ns);
    std::vector<Cell> cells = {{long_name("", row.name), {}, {}}};
    if (with_shapes)
      cells.push_back({row.shapes.empty() ? text("–") : long_name("", row.shapes), {}, {}});
    cells.push_back(number_cell(row.calls));
    cells.push_back(duration_cell(self));
    cells.push_back(bar_cell(share(self, sums.self_cpu_ns)));
    cells.push_back(duration_cell(row.calls > 0
                                      ? std::optional<double>(self / static_cast<double>(row.calls))
                                      : std::nullopt));
    cells.push_back(duration_cell(as_double(row.total_cpu_ns)));
    if (with_device) {
      cells.push_back(duration_cell(as_double(row.self_device_ns)));
      cells.push_back(bar_cell(share(as_double(row.self_device_ns), sums.self_device_ns)));
      cells.push_back(duration_cell(as_double(row.total_device_ns)));
    }
    table.add(cells);
  }
  return table;
}

}  // namespace

Section operators_section(const PageSource& source) {
  Section section{"operators", "Operators"};
  const auto& operators = source.run.get(run::kTorchOperators);
  if (!operators || operators->operators.empty()) {
    section.add_nothing("The torch profiler recorded no operators: " + operators.file + " " +
                        (operators ? "has none" : operators.why_not) + ".");
    return section;
  }
  const Table table = table_of(*operators);
  const Sums sums = sums_of(*operators);
  std::string what =
      fmt::format("{}, {} of self time on the CPU",
                  counted(operators->operators.size(), "operator"), duration(sums.self_cpu_ns));
  if (sums.self_device_ns > 0) what += ", " + duration(sums.self_device_ns) + " on the device";
  what += ", under the torch profiler, which lengthens all times but hardly changes shares.";
  if (table.rows() < operators->operators.size()) {
    what += fmt::format(" The first {} are shown; the file has all of them.", table.rows());
  }
  section.body += table.markup() + source_line(what, {operators.file});
  return section;
}

}  // namespace profline::web
