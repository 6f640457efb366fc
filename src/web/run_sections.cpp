#include <functional>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/json.h"
#include "formats/node.h"
#include "process/runner.h"
#include "run/names/artifact_names.h"
#include "web/internal/sections.h"
#include "web/markup.h"

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
               {"children", Align::Right, "time in which a child process ran"},
               {"why", Align::Text},
               {"limits", Align::Text, "what was not covered"}});
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
  if (items.empty()) {
    return element(
        "p", text(run.stages.empty() ? "Nothing was reported." : "No stage reported a problem."));
  }
  return element("ul", {{"class", "findings"}}, items);
}

Markup changes_of(const RunRecord& run) {
  using Align = Table::Align;
  Table table(
      "changes", "settings of profiled runs that differ from the baseline",
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

constexpr std::size_t kMostArtifacts = 2000;

/// Without secrets, which runs of older versions may contain.
std::optional<Node> shown(const run::Artifact<Node>& tree) {
  if (!tree) return std::nullopt;
  return redacted(*tree, Redactor());
}

std::string as_text(const Node& value) {
  if (value.is_string()) return value.as_string();
  const auto json = write_json(value, {0, true, true});
  return json ? *json : "?";
}

/// Every value that is not a map, under its dotted key. A list is one value.
void each_value(const Node& tree, const std::string& prefix,
                const std::function<void(const std::string&, const Node&)>& visit) {
  if (!tree.is_map() || tree.as_map().empty()) return visit(prefix, tree);
  for (const NodeMap::Entry& entry : tree.as_map()) {
    const std::string key = as_text(entry.key);
    if (prefix.empty() && key == "schema") continue;
    each_value(entry.value, prefix.empty() ? key : prefix + "." + key, visit);
  }
}

/// `conf/config.yaml:12:5`, or the override itself.
std::string origin_of(const Node* origins, const std::string& key) {
  const Node* const all = origins != nullptr ? origins->find("origins") : nullptr;
  const Node* const origin = all != nullptr ? all->find(key) : nullptr;
  const Node* const source = origin != nullptr ? origin->find("source") : nullptr;
  if (source == nullptr || !source->is_string()) return "";
  const Node* const line = origin->find("line");
  const Node* const column = origin->find("column");
  const Node* const is_override = origin->find("is_override");
  if (is_override != nullptr && is_override->is_bool() && is_override->as_bool())
    return source->as_string();
  std::string place = source->as_string();
  if (line != nullptr && line->is_int() && line->as_int() > 0) place += ":" + as_text(*line);
  if (column != nullptr && column->is_int() && column->as_int() > 0)
    place += ":" + as_text(*column);
  return place;
}

bool is_override(const Node* origins, const std::string& key) {
  const Node* const all = origins != nullptr ? origins->find("origins") : nullptr;
  const Node* const origin = all != nullptr ? all->find(key) : nullptr;
  const Node* const flag = origin != nullptr ? origin->find("is_override") : nullptr;
  return flag != nullptr && flag->is_bool() && flag->as_bool();
}

Markup command_of(const std::string& stage, const CommandRecord& record) {
  Command command{record.argv};
  command.env = record.env;
  command.unset_env = record.unset_env;
  command.cwd = record.cwd;
  const bool has_failed = record.code.value_or(1) != 0;
  const std::string took =
      human_elapsed(FractionalNanoseconds(static_cast<double>(record.wall_ns)));
  const Markup head =
      code(stage + " / " + record.name) +
      element("span", {{"class", "tag"}, {"data-state", has_failed ? "failed" : "ok"}},
              text(record.end.empty() ? "did not end" : record.end)) +
      element("span", {{"class", "time"}},
              text(fmt::format("{} · {} peak memory", took, human_bytes(record.max_rss_bytes)))) +
      (record.log.empty() ? Markup() : element("span", text("log ") + code(record.log)));
  return element(
      "div", {{"class", "command"}},
      element("p", head) + element("pre", {{"tabindex", "0"}},
                                   element("code", {{"class", "whole"}}, text(display(command)))));
}

/// A link only if the target is inside the run's folder; anything else is plain text.
Markup file_link(const std::filesystem::path& path) {
  const std::string name = path.generic_string();
  const bool is_plain = !name.empty() && name.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789._-/") == std::string::npos;
  if (!is_plain || path.is_absolute() || name.find("..") != std::string::npos)
    return code(name, 200);
  return element("a", {{"href", "./" + name}}, code(name, 200));
}

}  // namespace

Section run_section(const PageSource& source) {
  const RunRecord& run = source.run.record();
  Section section{"run", "Warnings and what was not captured"};
  section.body += element("h3", text("Findings")) + findings_of(run) +
                  element("h3", text("Not captured")) + missing(source.summary);
  if (!run.stages.empty()) {
    section.body += element("h3", text("Stages of the run")) + stage_table(run) + changes_of(run);
  }
  section.body += source_line(fmt::format("The whole run took {}.", elapsed(run.timing.total_ns)),
                              {run::files::kRecord, run::files::kSummary});
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
               {text(factor(row.slowdown)), row.slowdown, {}},
               code_cell(row.source)});
  }
  section.body +=
      table.markup() +
      (source.summary.program
           ? source_line("Wall times of the program's process, with the profiler and without.",
                         {source.summary.program->source, run::files::kRecord})
           : source_line("The workload's own times for the same requests, with the profiler and "
                         "without.",
                         {source.run.baseline().file}));
  return section;
}

Section config_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"config", "Config"};
  const auto& config = source.run.get(run::kConfig);
  const auto& origins_file = source.run.get(run::kConfigOrigins);
  if (!config) {
    section.add_nothing("The config cannot be shown: " + config.file + " " + config.why_not + ".");
    return section;
  }
  const std::optional<Node> shown_origins = shown(origins_file);
  const Node* const origins = shown_origins ? &*shown_origins : nullptr;
  Table table("config-table", "every value of the config with its origin",
              {{"key", Align::Left},
               {"value", Align::Text},
               {"origin", Align::Text},
               {"set by", Align::Left, "", true}});
  table.with_search();
  each_value(*shown(config), "", [&](const std::string& key, const Node& value) {
    const std::string origin = origin_of(origins, key);
    table.add({code_cell(key),
               {long_name("", as_text(value)), {}, {}},
               code_cell(origin),
               text_cell(is_override(origins, key) ? "override"
                         : origin.empty()          ? "profline"
                                                   : "file")});
  });
  section.body += table.markup() + source_line("", {config.file, origins_file.file});
  return section;
}

Section environment_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"environment", "Environment"};
  const auto& environment = source.run.get(run::kEnvironmentTree);
  if (!environment) {
    section.add_nothing("The environment was not recorded: " + environment.file + " " +
                        environment.why_not + ".");
    return section;
  }
  Table table("environment-table", "the machine and its programs",
              {{"what", Align::Left}, {"value", Align::Text}});
  each_value(*shown(environment), "", [&](const std::string& key, const Node& value) {
    table.add({code_cell(key), {long_name("", as_text(value)), {}, {}}});
  });
  section.body += table.markup() + source_line("", {environment.file});
  return section;
}

Section commands_section(const PageSource& source) {
  Section section{"commands", "Commands"};
  const RunRecord& run = source.run.record();
  Command again{run.command_line.argv};
  again.cwd = run.command_line.cwd;
  if (!again.argv.empty()) {
    section.body +=
        element("div", {{"class", "command"}},
                element("p", text("This run")) +
                    element("pre", {{"tabindex", "0"}},
                            element("code", {{"class", "whole"}}, text(display(again)))));
  }
  for (const StageRecord& stage : run.stages) {
    for (const CommandRecord& command : stage.commands)
      section.body += command_of(stage.name, command);
  }
  section.body +=
      source_line("Quoted for a shell; profline starts programs directly, without a shell.",
                  {run::files::kRecord});
  return section;
}

Section artifacts_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"artifacts", "Artifacts"};
  Table table("artifacts-table", "files of the run",
              {{"file", Align::Text},
               {"stage", Align::Left, "", true},
               {"size"},
               {"SHA-256", Align::Left}});
  table.with_search();
  std::size_t all = 0;
  const auto add = [&](const std::string& stage, const ArtifactRecord& artifact) {
    if (++all > kMostArtifacts) return;
    table.add({{file_link(artifact.path), {}, {}},
               text_cell(stage),
               {text(human_bytes(artifact.bytes)), static_cast<double>(artifact.bytes), {}},
               {code(artifact.sha256, 64), {}, {}}});
  };
  const RunRecord& run = source.run.record();
  for (const ArtifactRecord& artifact : run.artifacts) add("run", artifact);
  for (const StageRecord& stage : run.stages) {
    for (const ArtifactRecord& artifact : stage.artifacts) add(stage.name, artifact);
  }
  std::string what = "Sizes and checksums were taken when each file was complete.";
  if (all > kMostArtifacts)
    what += fmt::format(" The first {} of {} are shown.", kMostArtifacts, all);
  // The reports are written before the run has ended.
  if (run.artifacts.empty())
    what += " Files of the run itself are listed in run.json once it has ended.";
  section.body += table.markup() + source_line(what, {run::files::kRecord});
  return section;
}

}  // namespace profline::web
