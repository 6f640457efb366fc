#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

/// Names may be kilobytes long.
constexpr std::size_t kMostKernelBytes = 3 << 20;

std::string shape(const std::vector<std::uint32_t>& sizes) {
  std::string shown;
  for (const std::uint32_t size : sizes) shown += (shown.empty() ? "" : "×") + std::to_string(size);
  return shown;
}

std::string first_phase(const SummaryKernel& kernel) {
  const auto most = std::max_element(kernel.phases.begin(), kernel.phases.end(),
                                     [](const SummaryKernelPart& a, const SummaryKernelPart& b) {
                                       return a.total_ns < b.total_ns;
                                     });
  return most == kernel.phases.end() ? "" : most->name;
}

Markup parts(const std::vector<SummaryKernelPart>& all) {
  if (all.empty()) return text("–");
  Markup html = code(all.front().name, 26);
  if (all.size() > 1) html += text(fmt::format(" +{}", all.size() - 1));
  return html;
}

/// The share of the nearer ceiling that was reached.
std::optional<double> of_roof(const SummaryKernel& kernel) {
  if (!kernel.counters) return std::nullopt;
  const NcuRoofline& roof = kernel.counters->roofline;
  if (!roof.compute_share && !roof.memory_share) return std::nullopt;
  return std::max(roof.compute_share.value_or(0), roof.memory_share.value_or(0));
}

std::vector<Cell> cells_of(const SummaryKernel& kernel, KernelRanking ranking) {
  using Figure = std::optional<double>;
  const auto& time = kernel.time;
  const Figure mean = time && time->launches > 0
                          ? Figure(time->total_ns / static_cast<double>(time->launches))
                          : std::nullopt;
  return {{long_name(kernel.short_name, kernel.name), {}, {}},
          text_cell(kernel.kernel_class),
          text_cell(first_phase(kernel)),
          duration_cell(time ? Figure(ranking.ns(*time)) : Figure()),
          bar_cell(time ? Figure(time->share) : Figure()),
          time ? number_cell(time->launches) : text_cell(""),
          duration_cell(mean),
          {parts(kernel.operators), {}, {}},
          text_cell(kernel.counters ? kernel.counters->bound : ""),
          share_cell(of_roof(kernel)),
          duration_cell(time ? Figure(time->min_ns) : Figure()),
          duration_cell(time ? Figure(time->max_ns) : Figure()),
          text_cell(shape(kernel.grid)),
          text_cell(shape(kernel.block))};
}

Table kernel_table(const RunSummary& summary, double& left_out_ns) {
  using Align = Table::Align;
  const KernelRanking ranking = summary.join.ranking();
  const Table::Column time = ranking.by_exclusive
                                 ? Table::Column{"exclusive", Align::Right,
                                                 "its part of the time in which the GPU was busy"}
                                 : Table::Column{"total"};
  Table table("kernels-table", "kernels, most time first",
              {{"kernel", Align::Left, "its short name; open it for the whole one"},
               {"class", Align::Left, "", true},
               {"phase", Align::Left, "of the model, in which it ran longest", true},
               time,
               {"share", Align::Right, "of all kernel time"},
               {"launches"},
               {"mean", Align::Right, "duration of a launch"},
               {"operator", Align::Left, "that launched it, the one with the most time"},
               {"bound", Align::Left, "from its counters", true},
               {"of roof", Align::Right, "share of the nearer ceiling, from its counters"},
               {"min"},
               {"max"},
               {"grid", Align::Left},
               {"block", Align::Left}});
  table.with_search();
  for (const SummaryKernel& kernel : summary.kernels) {
    if (table.rows() >= kMostRows || table.bytes() >= kMostKernelBytes) {
      left_out_ns += kernel.time ? ranking.ns(*kernel.time) : 0;
      continue;
    }
    table.add(cells_of(kernel, ranking));
  }
  return table;
}

/// The time of each class in each phase.
Node classes(const RunSummary& summary) {
  const KernelRanking ranking = summary.join.ranking();
  std::map<std::string, std::map<std::string, double>> by_class;
  std::vector<std::string> phases;
  for (const SummaryKernel& kernel : summary.kernels) {
    const std::string kind = kernel.kernel_class.empty() ? "no class" : kernel.kernel_class;
    for (const SummaryKernelPart& part : kernel.phases) {
      by_class[kind][part.name] += ranking.ns(part);
      if (std::find(phases.begin(), phases.end(), part.name) == phases.end()) {
        phases.push_back(part.name);
      }
    }
  }
  Node rows = Node::list();
  for (const auto& [kind, times] : by_class) {
    std::vector<double> of_phase;
    for (const std::string& phase : phases) {
      const auto found = times.find(phase);
      of_phase.push_back(found == times.end() ? 0 : found->second);
    }
    rows.as_list().push_back(
        object({{"name", Node::string(kind)}, {"times_ns", numbers(of_phase)}}));
  }
  return object({{"phases", texts(phases)}, {"classes", std::move(rows)}});
}

Markup table_notes(const RunSummary& summary, const Table& table, double left_out_ns) {
  const SummaryJoin& join = summary.join;
  std::string what = fmt::format("{} and launch shape, {}, {} in total.",
                                 counted(summary.kernels.size(), "row by kernel", "rows by kernel"),
                                 counted(join.launches, "launch"), duration(join.total_ns));
  const KernelRanking ranking = join.ranking();
  if (ranking.by_exclusive) {
    what += fmt::format(
        " Kernels overlap: together they kept the GPU busy for only {}. Times and shares are of "
        "that exclusive time.",
        duration(join.exclusive_ns));
  }
  if (table.rows() < summary.kernels.size()) {
    what += fmt::format(
        " The first {} are shown; the other {} took {} ({} of kernel time) and are in "
        "summary.json.",
        table.rows(), summary.kernels.size() - table.rows(), duration(left_out_ns),
        percent(ranking.ns(join) > 0 ? left_out_ns / ranking.ns(join) : 0));
  }
  if (join.with_counters)
    what += " With counters: " + percent(*join.with_counters) + " of kernel time.";
  if (join.with_operators) what += " With a known operator: " + percent(*join.with_operators) + ".";
  return source_line(what, {join.time_source});
}

constexpr std::size_t kMostKernels = 200;
constexpr std::size_t kMostCounterBytes = 2 << 20;

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : " / ") + part;
  return all;
}

std::optional<double> counter(const NcuKernel& kernel, std::string_view name) {
  for (const NcuCounter& one : kernel.counters) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

std::optional<double> percent_counter(const NcuKernel& kernel, std::string_view name) {
  const auto value = counter(kernel, name);
  return value ? std::optional<double>(*value / 100) : std::nullopt;
}

Table overview(const NcuKernels& ncu) {
  using Align = Table::Align;
  Table table("counters-table", "counters of each kernel",
              {{"kernel", Align::Left},
               {"range", Align::Left, "NVTX ranges around the launch", true},
               {"bound", Align::Left, "from the share of each ceiling that it reached", true},
               {"launches", Align::Right, "that were profiled"},
               {"duration", Align::Right, "mean per launch, at the clocks that ncu sets"},
               {"FLOP", Align::Right, "per launch; a multiply-add counts as two"},
               {"DRAM", Align::Right, "bytes read and written per launch"},
               {"FLOP/B", Align::Right, "operations per byte of DRAM"},
               {"of compute", Align::Right, "of the compute ceiling"},
               {"of memory", Align::Right, "of the memory ceiling"},
               {"SM", Align::Right, "sm__throughput, as a share of its peak"},
               {"occupancy", Align::Right, "active warps, as a share of the maximum"},
               {"floor", Align::Right, "minimum time per launch under the roofline"}});
  table.with_search();
  for (const NcuKernel& kernel : ncu.kernels) {
    if (table.rows() >= kMostKernels || table.bytes() >= kMostCounterBytes) break;
    const NcuRoofline& at = kernel.roofline;
    std::optional<double> intensity = at.intensity;
    if (!intensity && at.operations && at.dram_bytes && *at.dram_bytes > 0) {
      intensity = *at.operations / *at.dram_bytes;
    }
    table.add(
        {{long_name(kernel.short_name, kernel.name), {}, {}},
         text_cell(joined(kernel.ranges)),
         text_cell(kernel.bound),
         number_cell(kernel.launches),
         duration_cell(kernel.duration_ns),
         count_cell(at.operations),
         {at.dram_bytes
              ? text(human_bytes(static_cast<std::uint64_t>(std::max(*at.dram_bytes, 0.0))))
              : text("–"),
          at.dram_bytes,
          {}},
         count_cell(intensity),
         bar_cell(at.compute_share),
         bar_cell(at.memory_share),
         share_cell(percent_counter(kernel, "sm__throughput.avg.pct_of_peak_sustained_elapsed")),
         share_cell(percent_counter(kernel, "sm__warps_active.avg.pct_of_peak_sustained_active")),
         duration_cell(at.floor_ns)});
  }
  return table;
}

Markup counters_of(const NcuKernel& kernel) {
  Markup evidence;
  for (const std::string& reason : kernel.evidence) evidence += element("li", text(reason));
  Markup rows;
  for (const NcuCounter& one : kernel.counters) {
    rows +=
        element("tr", element("th", {{"scope", "row"}}, code(one.name)) +
                          element("td", {{"class", "n"}}, text(fmt::format("{:.6g}", one.value))) +
                          element("td", text(one.unit)));
  }
  const std::string where = kernel.ranges.empty() ? "" : " in " + joined(kernel.ranges);
  return element("details", {{"class", "kernel"}},
                 element("summary", code(kernel.short_name, 80) +
                                        text(fmt::format("{} · {} · {}", where, kernel.bound,
                                                         duration(kernel.duration_ns)))) +
                     element("p", element("code", {{"class", "whole"}}, text(kernel.name))) +
                     (evidence.empty() ? evidence : element("ul", evidence)) +
                     element("table", {{"class", "plain"}}, element("tbody", rows)));
}

constexpr std::size_t kMostOperatorBytes = 2 << 20;

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
    if (table.rows() >= kMostRows || table.bytes() >= kMostOperatorBytes) break;
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

Section kernels_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"kernels", "Kernels"};
  if (summary.kernels.empty()) {
    section.add_nothing(summary.device == "cpu"
                            ? "The model ran on the CPU: there are no kernels. Operators are below."
                            : "No tool recorded a kernel; see below what was not captured.");
    return section;
  }
  double left_out_ns = 0;
  const Table table = kernel_table(summary, left_out_ns);
  section.add_chart("classes", "kernel time by class and phase",
                    text("Kernel time by class, for each phase of the model."), classes(summary));
  section.body += table.markup() + table_notes(summary, table, left_out_ns);
  if (!summary.join.apart.empty()) {
    Markup items;
    for (std::size_t i = 0; i < std::min<std::size_t>(summary.join.apart.size(), 100); ++i) {
      items += element("li", text(summary.join.apart[i]));
    }
    section.body +=
        element("details", {{"class", "more"}},
                element("summary", text(fmt::format("Kernels not matched between tools ({})",
                                                    summary.join.apart.size()))) +
                    element("ul", {{"class", "notes"}}, items));
  }
  return section;
}

Section counters_section(const PageSource& source) {
  Section section{"counters", "Counters per kernel"};
  const auto& ncu = source.run.get(run::kNcuKernels);
  if (!ncu || ncu->kernels.empty()) {
    const std::string why = ncu ? ncu->why_none.value_or("it has no rows") : ncu.why_not;
    const StageRecord* const stage = source.run.record().find_stage(run::stages::kNcu);
    section.add_nothing(
        stage != nullptr && stage->state == StageState::Off
            ? "ncu was not enabled; pipeline.ncu.enable=true collects hardware counters per kernel."
            : "ncu counted nothing: " + ncu.file + " " + why + ".");
    return section;
  }
  const Table table = overview(*ncu);
  section.body += table.markup();
  std::string what = fmt::format("{}: {} profiled.", ncu->tool.empty() ? "ncu" : ncu->tool,
                                 counted(ncu->launches, "launch"));
  if (table.rows() < ncu->kernels.size()) {
    what += fmt::format(" The first {} of {} are shown, by launches times duration.", table.rows(),
                        counted(ncu->kernels.size(), "row"));
  }
  section.body += source_line(what, {ncu.file});
  Markup each;
  std::size_t shown = 0;
  for (const NcuKernel& kernel : ncu->kernels) {
    if (shown == kMostKernels || each.html().size() > kMostCounterBytes) break;
    each += counters_of(kernel);
    ++shown;
  }
  section.body += element(
      "details", {{"class", "more"}},
      element("summary", text(fmt::format("Every counter, kernel by kernel ({})", shown))) + each);
  return section;
}

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
