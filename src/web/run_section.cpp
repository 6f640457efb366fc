#include <fmt/format.h>

#include "base/figures.h"
#include "formats/json_write.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

std::string elapsed(std::int64_t ns) {
  return human_elapsed(FractionalNanoseconds(static_cast<double>(ns)));
}

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Warning:
      return "warning";
    case Severity::Problem:
      return "problem";
  }
  return "";
}

Markup finding(const std::string& stage, const Finding& one) {
  Markup html =
      element("span", {{"class", "tag"}, {"data-severity", std::string(word(one.severity))}},
              text(word(one.severity)));
  html += text(" " + (stage.empty() ? "" : stage + ": ") + one.text);
  if (!one.fix.empty()) html += element("span", {{"class", "fix"}}, text(" Fix: " + one.fix));
  return element("li", html);
}

Markup stage_table(const RunRecord& run) {
  using Align = Table::Align;
  Table table("run-stages-table", "stages of the run",
              {{"stage", Align::Left},
               {"state", Align::Left},
               {"time"},
               {"children", Align::Right, "while a child ran"},
               {"why", Align::Text},
               {"limits", Align::Text, "what it did not look at"}});
  for (const StageRecord& stage : run.stages) {
    std::string limits;
    for (const std::string& limit : stage.limits) limits += (limits.empty() ? "" : "; ") + limit;
    const bool has_run = stage.timing.total_ns > 0;
    const std::string state(to_text(stage.state));
    table.add({code_cell(stage.name),
               {element("span", {{"class", "tag"}, {"data-state", state}}, text(state)), {}, {}},
               {text(has_run ? elapsed(stage.timing.total_ns) : "–"),
                static_cast<double>(stage.timing.total_ns),
                {}},
               {text(has_run ? elapsed(stage.timing.children_ns) : "–"),
                static_cast<double>(stage.timing.children_ns),
                {}},
               text_cell(stage.why),
               text_cell(limits)});
  }
  return table.markup();
}

Markup findings_of(const RunRecord& run) {
  Markup items;
  for (const Finding& one : run.findings) items += finding("", one);
  for (const StageRecord& stage : run.stages) {
    for (const Finding& one : stage.findings) items += finding(stage.name, one);
  }
  if (items.empty()) return element("p", text("No stage reported a problem."));
  return element("ul", {{"class", "findings"}}, items);
}

Markup changes_of(const RunRecord& run) {
  using Align = Table::Align;
  Table table(
      "changes", "what profiled runs were given otherwise than the baseline",
      {{"stage", Align::Left}, {"key", Align::Left}, {"given", Align::Text}, {"why", Align::Text}});
  for (const StageRecord& stage : run.stages) {
    for (const ChangeRecord& change : stage.changes) {
      const auto value = write_json(change.value, {0, true, true});
      table.add({code_cell(stage.name), code_cell(change.key), code_cell(value ? *value : "?"),
                 text_cell(change.why)});
    }
  }
  if (table.empty()) return {};
  return element("h3", text("Settings that differ from the baseline")) + table.markup();
}

Markup missing(const RunSummary& summary) {
  Markup items;
  for (const SummaryAbsent& absent : summary.absent) {
    items += element("li", code(absent.file) + text(": " + absent.why));
  }
  for (const std::string& note : summary.notes) items += element("li", text(note));
  if (items.empty())
    return element("p", text("Every file that the report uses is there and complete."));
  return element("ul", {{"class", "notes"}}, items);
}

}  // namespace

Section run_section(const PageSource& source) {
  const RunRecord& run = source.run.run;
  Section section{"run", "Warnings and what was not captured"};
  section.body += element("h3", text("Findings")) + findings_of(run) +
                  element("h3", text("Not captured")) + missing(source.summary) +
                  element("h3", text("Stages of the run")) + stage_table(run) + changes_of(run) +
                  source_line(fmt::format("The whole run took {}.", elapsed(run.timing.total_ns)),
                              {"run.json", "summary.json"});
  return section;
}

Section overhead_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"overhead", "What each profiler cost"};
  if (source.summary.overhead.empty()) {
    section.add_nothing("No profiled run can be compared with one without a profiler.");
    return section;
  }
  Table table("overhead-table", "slow-down by each profiler",
              {{"profiler", Align::Left},
               {"phase", Align::Left},
               {"units", Align::Right, "that both runs have"},
               {"without"},
               {"with"},
               {"slow-down"},
               {"from", Align::Left}});
  for (const SummaryOverhead& row : source.summary.overhead) {
    table.add({code_cell(row.stage),
               text_cell(row.phase),
               {text(counted(static_cast<std::uint64_t>(row.units), row.unit)), row.units, {}},
               duration_cell(row.baseline_ns),
               duration_cell(row.profiled_ns),
               {text(fmt::format("{:.2f}x", row.slowdown)), row.slowdown, {}},
               code_cell(row.source)});
  }
  section.body +=
      table.markup() +
      (source.summary.program
           ? source_line("Wall times of the program's process, with the profiler and without.",
                         {source.summary.program->source, "run.json"})
           : source_line("The workload's own times for the same images, with the profiler and "
                         "without.",
                         {"baseline/samples.jsonl"}));
  return section;
}

}  // namespace profline::web
