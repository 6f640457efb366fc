#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

/// Of a table: more rows are nobody's reading, and names may be kilobytes long.
constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostBytes = 3 << 20;

std::string shape(const std::vector<std::uint32_t>& sizes) {
  std::string shown;
  for (const std::uint32_t size : sizes) shown += (shown.empty() ? "" : "×") + std::to_string(size);
  return shown;
}

std::string first_stage(const SummaryKernel& kernel) {
  const auto most = std::max_element(kernel.stages.begin(), kernel.stages.end(),
                                     [](const SummaryKernelPart& a, const SummaryKernelPart& b) {
                                       return a.total_ns < b.total_ns;
                                     });
  return most == kernel.stages.end() ? "" : most->name;
}

Markup parts(const std::vector<SummaryKernelPart>& all) {
  if (all.empty()) return text("–");
  Markup html = code(all.front().name, 26);
  if (all.size() > 1) html += text(fmt::format(" +{}", all.size() - 1));
  return html;
}

/// The nearer ceiling, as a share of it.
std::optional<double> of_roof(const SummaryKernel& kernel) {
  if (!kernel.counters) return std::nullopt;
  const NcuRoofline& roof = kernel.counters->roofline;
  if (!roof.compute_share && !roof.memory_share) return std::nullopt;
  return std::max(roof.compute_share.value_or(0), roof.memory_share.value_or(0));
}

std::vector<Cell> cells_of(const SummaryKernel& kernel) {
  using Figure = std::optional<double>;
  const auto& time = kernel.time;
  const Figure mean = time && time->launches > 0
                          ? Figure(time->total_ns / static_cast<double>(time->launches))
                          : std::nullopt;
  return {{long_name(kernel.short_name, kernel.name), {}, {}},
          text_cell(kernel.kernel_class),
          text_cell(first_stage(kernel)),
          duration_cell(time ? Figure(time->total_ns) : Figure()),
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
  Table table("kernels-table", "kernels, most time first",
              {{"kernel", Align::Left, "its short name; open it for the whole one"},
               {"class", Align::Left, "", true},
               {"stage", Align::Left, "of the model, in which it ran longest", true},
               {"total"},
               {"share", Align::Right, "of all kernel time"},
               {"launches"},
               {"mean"},
               {"operator", Align::Left, "that launched it, the one with the most time"},
               {"bound", Align::Left, "by its counters", true},
               {"of roof", Align::Right, "of the nearer ceiling, by its counters"},
               {"min"},
               {"max"},
               {"grid", Align::Left},
               {"block", Align::Left}});
  table.with_search();
  for (const SummaryKernel& kernel : summary.kernels) {
    if (table.rows() >= kMostRows || table.bytes() >= kMostBytes) {
      left_out_ns += kernel.time ? kernel.time->total_ns : 0;
      continue;
    }
    table.add(cells_of(kernel));
  }
  return table;
}

/// Time of each class in each stage.
Node classes(const RunSummary& summary) {
  std::map<std::string, std::map<std::string, double>> by_class;
  std::vector<std::string> stages;
  for (const SummaryKernel& kernel : summary.kernels) {
    const std::string kind = kernel.kernel_class.empty() ? "no class" : kernel.kernel_class;
    for (const SummaryKernelPart& part : kernel.stages) {
      by_class[kind][part.name] += part.total_ns;
      if (std::find(stages.begin(), stages.end(), part.name) == stages.end()) {
        stages.push_back(part.name);
      }
    }
  }
  Node rows = Node::list();
  for (const auto& [kind, times] : by_class) {
    std::vector<double> of_stage;
    for (const std::string& stage : stages) {
      const auto found = times.find(stage);
      of_stage.push_back(found == times.end() ? 0 : found->second);
    }
    rows.as_list().push_back(
        object({{"name", Node::string(kind)}, {"times_ns", numbers(of_stage)}}));
  }
  return object({{"stages", texts(stages)}, {"classes", std::move(rows)}});
}

Markup told(const RunSummary& summary, const Table& table, double left_out_ns) {
  const SummaryJoin& join = summary.join;
  std::string what = fmt::format("{} and launch shape, {}, {} in total.",
                                 counted(summary.kernels.size(), "row by kernel", "rows by kernel"),
                                 counted(join.launches, "launch"), duration(join.total_ns));
  if (table.rows() < summary.kernels.size()) {
    what += fmt::format(
        " Shown are the first {}; the other {} took {} ({} of kernel time) and are in "
        "summary.json.",
        table.rows(), summary.kernels.size() - table.rows(), duration(left_out_ns),
        percent(join.total_ns > 0 ? left_out_ns / join.total_ns : 0));
  }
  if (join.with_counters)
    what += " With counters: " + percent(*join.with_counters) + " of kernel time.";
  if (join.with_operators) what += " With a known operator: " + percent(*join.with_operators) + ".";
  return source_line(what, {join.time_source});
}

}  // namespace

Section kernels_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"kernels", "Kernels"};
  if (summary.kernels.empty()) {
    section.add_nothing(summary.device == "cpu"
                            ? "The model ran on the CPU: there are no kernels. Operators are below."
                            : "No tool recorded a kernel; see what was not captured below.");
    return section;
  }
  double left_out_ns = 0;
  const Table table = kernel_table(summary, left_out_ns);
  section.add_chart("classes", "kernel time by class and stage",
                    text("Kernel time by class, for each stage of the model."), classes(summary));
  section.body += table.markup() + told(summary, table, left_out_ns);
  if (!summary.join.apart.empty()) {
    Markup items;
    for (std::size_t i = 0; i < std::min<std::size_t>(summary.join.apart.size(), 100); ++i) {
      items += element("li", text(summary.join.apart[i]));
    }
    section.body +=
        element("details", {{"class", "more"}},
                element("summary", text(fmt::format("What did not join between the tools ({})",
                                                    summary.join.apart.size()))) +
                    element("ul", {{"class", "notes"}}, items));
  }
  return section;
}

}  // namespace profline::web
