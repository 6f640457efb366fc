#include <algorithm>

#include <fmt/format.h>

#include "analysis/operators/operator_table.h"
#include "base/figures.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "run/names/artifact_names.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using Align = markdown::Table::Align;

constexpr std::size_t kTopOperators = 20;
constexpr std::size_t kTopOfPhase = 5;

double ns(std::int64_t value) {
  return static_cast<double>(value);
}

/// Sorted by self time on the device if there is any, else on the CPU.
std::vector<const TorchOperator*> ordered(const TorchOperators& table, bool by_device) {
  std::vector<const TorchOperator*> rows;
  rows.reserve(table.operators.size());
  for (const TorchOperator& row : table.operators) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const TorchOperator* a, const TorchOperator* b) {
    return by_device ? a->self_device_ns > b->self_device_ns : a->self_cpu_ns > b->self_cpu_ns;
  });
  return rows;
}

std::string operator_table(const TorchOperators& operators, bool by_device) {
  std::int64_t self = 0;
  std::int64_t device = 0;
  bool has_shapes = false;
  for (const TorchOperator& row : operators.operators) {
    self += row.self_cpu_ns;
    device += row.self_device_ns;
    has_shapes = has_shapes || !row.shapes.empty();
  }
  std::vector<markdown::Table::Column> columns = {{"#"}, {"operator", Align::Left}};
  if (has_shapes) columns.push_back({"shapes", Align::Left});
  for (const char* title : {"calls", "self CPU", "share", "total CPU", "mean CPU"}) {
    columns.push_back({title});
  }
  if (device > 0) {
    for (const char* title : {"self device", "share", "total device"}) columns.push_back({title});
  }
  markdown::Table table(columns);
  const auto share = [](std::int64_t part, std::int64_t all) {
    return all > 0 ? percent(ns(part) / ns(all)) : std::string("–");
  };
  std::size_t number = 0;
  for (const TorchOperator* row : ordered(operators, by_device)) {
    if (++number > kTopOperators) break;
    std::vector<std::string> cells = {std::to_string(number), code(row->name)};
    if (has_shapes) cells.push_back(code(row->shapes, 60));
    cells.push_back(std::to_string(row->calls));
    cells.push_back(duration(ns(row->self_cpu_ns)));
    cells.push_back(share(row->self_cpu_ns, self));
    cells.push_back(duration(ns(row->total_cpu_ns)));
    cells.push_back(
        row->calls > 0 ? duration(ns(row->total_cpu_ns) / static_cast<double>(row->calls)) : "–");
    if (device > 0) {
      cells.push_back(duration(ns(row->self_device_ns)));
      cells.push_back(share(row->self_device_ns, device));
      cells.push_back(duration(ns(row->total_device_ns)));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string rest_words(const TorchOperators& operators, bool by_device) {
  const auto rows = ordered(operators, by_device);
  if (rows.size() <= kTopOperators) return "";
  std::uint64_t calls = 0;
  std::int64_t self = 0;
  for (std::size_t i = kTopOperators; i < rows.size(); ++i) {
    calls += rows[i]->calls;
    self += rows[i]->self_cpu_ns;
  }
  return fmt::format("\n{}, {}, {} of self CPU time: all of them are in {}.\n",
                     counted(rows.size() - kTopOperators, "more row"), counted(calls, "call"),
                     duration(ns(self)), code(run::paths::kTorchOperators));
}

std::string phase_tables(const Timeline& trace, const requests::PhaseTree& tree) {
  std::string text;
  for (const requests::PhaseInfo& phase : tree.phases()) {
    if (phase.has_parts) continue;
    const operators::OperatorTable table = operators::operator_table(trace, {.inside = phase.name});
    if (table.calls == 0) continue;
    text += fmt::format("\n### {}\n\n{}, {} of self CPU time\n\n", plain(phase.name),
                        counted(table.calls, "call"), duration(ns(table.self_ns)));
    markdown::Table rows(
        {{"operator", Align::Left}, {"calls"}, {"self CPU"}, {"of the phase"}, {"self device"}});
    for (std::size_t i = 0; i < std::min(kTopOfPhase, table.rows.size()); ++i) {
      const operators::OperatorRow& row = table.rows[i];
      rows.add({code(trace.names.text(row.name)), std::to_string(row.calls),
                duration(ns(row.self_ns)),
                table.self_ns > 0 ? percent(ns(row.self_ns) / ns(table.self_ns)) : "–",
                table.self_device_ns > 0 ? duration(ns(row.self_device_ns)) : "–"});
    }
    text += rows.text();
  }
  return text;
}

}  // namespace

std::string operators_page(const ReportModel& model) {
  const auto& operators = model.run.get(run::kTorchOperators);
  const auto& trace = model.run.get(run::kTorchTrace);
  std::string text = "# Operators of " + plain(model.summary.run) + "\n\n";
  if (!operators) {
    const auto absent =
        std::find_if(model.summary.absent.begin(), model.summary.absent.end(),
                     [&](const SummaryAbsent& one) { return one.file == operators.file; });
    return text + "No operators: " + plain(operators.file) + ": " +
           plain(absent == model.summary.absent.end() ? operators.why_not : absent->why) + ".\n";
  }
  const bool by_device =
      std::any_of(operators->operators.begin(), operators->operators.end(),
                  [](const TorchOperator& row) { return row.self_device_ns > 0; });
  text += fmt::format(
      "Under the torch profiler, which slows the host down (see {}): {} recorded, sorted by self "
      "time on the {}. From {}.\n",
      code(run::files::kReport), duration(ns(operators->duration_ns)), by_device ? "device" : "CPU",
      code(operators.file));
  if (operators->resolution_ns > 1) {
    text += fmt::format("This libtorch reports times in steps of {}.\n",
                        duration(ns(operators->resolution_ns)));
  }
  text += "\n## Top " + counted(std::min(kTopOperators, operators->operators.size()), "operator") +
          "\n\n";
  text += operator_table(*operators, by_device) + rest_words(*operators, by_device);
  if (!trace) return text;
  const std::string phases = phase_tables(*trace, summary::phase_tree(model.run));
  if (!phases.empty()) {
    text += "\n## By phase\n\nThe largest five each, from " + code(trace.file) + ".\n" + phases;
  }
  return text;
}

}  // namespace profline::report
