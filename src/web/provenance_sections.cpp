#include <functional>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/json_write.h"
#include "process/command.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

constexpr std::size_t kMostArtifacts = 2000;

std::string as_text(const Node& value) {
  if (value.is_string()) return value.as_string();
  const auto json = write_json(value, {0, true, true});
  return json ? *json : "?";
}

/// Every value that is not a map, under its dotted key. Lists are values.
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

/// A link that stays below the run's folder; anything else is text.
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

Section config_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"config", "Config"};
  if (!source.config) {
    section.add_nothing("The config cannot be shown: " + source.config.file + " " +
                        source.config.why_not + ".");
    return section;
  }
  const Node* const origins = source.origins ? &*source.origins : nullptr;
  Table table("config-table", "every value of the config with its origin",
              {{"key", Align::Left},
               {"value", Align::Text},
               {"origin", Align::Text},
               {"set by", Align::Left, "", true}});
  table.with_search();
  each_value(*source.config, "", [&](const std::string& key, const Node& value) {
    const std::string origin = origin_of(origins, key);
    table.add({code_cell(key),
               {long_name("", as_text(value)), {}, {}},
               code_cell(origin),
               text_cell(is_override(origins, key) ? "override"
                         : origin.empty()          ? "profline"
                                                   : "file")});
  });
  section.body += table.markup() + source_line("", {source.config.file, source.origins.file});
  return section;
}

Section environment_section(const PageSource& source) {
  using Align = Table::Align;
  Section section{"environment", "Environment"};
  const auto& environment = source.environment;
  if (!environment) {
    section.add_nothing("The environment was not recorded: " + environment.file + " " +
                        environment.why_not + ".");
    return section;
  }
  Table table("environment-table", "the machine and its programs",
              {{"what", Align::Left}, {"value", Align::Text}});
  each_value(*environment, "", [&](const std::string& key, const Node& value) {
    table.add({code_cell(key), {long_name("", as_text(value)), {}, {}}});
  });
  section.body += table.markup() + source_line("", {environment.file});
  return section;
}

Section commands_section(const PageSource& source) {
  Section section{"commands", "Commands"};
  const RunRecord& run = source.run.run;
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
      source_line("As they were run, quoted for a shell; none was run by one.", {"run.json"});
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
  const RunRecord& run = source.run.run;
  for (const ArtifactRecord& artifact : run.artifacts) add("run", artifact);
  for (const StageRecord& stage : run.stages) {
    for (const ArtifactRecord& artifact : stage.artifacts) add(stage.name, artifact);
  }
  std::string what = "Sizes and checksums are of when the files were complete.";
  if (all > kMostArtifacts)
    what += fmt::format(" Shown are the first {} of {}.", kMostArtifacts, all);
  // The reports are written before the run has ended.
  if (run.artifacts.empty()) what += " Those of the run itself are in run.json once it has ended.";
  section.body += table.markup() + source_line(what, {"run.json"});
  return section;
}

}  // namespace profline::web
