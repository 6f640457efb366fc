#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.h"
#include "formats/json.h"
#include "mcp/internal/answers.h"
#include "records/document.h"
#include "records/run_record.h"
#include "records/run_summary.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "schema/read.h"

namespace profline::mcp {
namespace {

namespace fs = std::filesystem;

/// Parts of summary.json besides its phases.
constexpr std::array<std::string_view, 7> kParts = {"request",  "program",     "load", "one_time",
                                                    "overhead", "memory_roof", "join"};

bool is_empty(const Node* node) {
  if (node == nullptr || node->is_null()) return true;
  return node->is_list() ? node->as_list().empty() : node->is_map() && node->as_map().empty();
}

/// Why a part of the summary is empty, in words.
std::string why_empty(std::string_view part) {
  if (part == "request") return "the run recorded no requests without a profiler";
  if (part == "program") return "the run did not run a user's program";
  if (part == "load") return "the run is not a load on a server";
  if (part == "one_time") return "no one-time costs were found";
  if (part == "overhead") return "no profiler ran on requests that the baseline has too";
  if (part == "memory_roof") return "the device's bandwidth is not known";
  return "no tool recorded kernels";
}

/// The file, if it has the form of a summary.
Result<Document> valid_summary(const fs::path& file) {
  Document document = PL_TRY(read_document(file));
  const Node body = PL_TRY(document_body(*document.tree, RunSummary::kKind, file.string()));
  PL_TRY(schema::read<RunSummary>(body));
  return document;
}

void add_overview(const OpenRun& run, std::size_t summary, Answer& answer) {
  const Node& tree = answer.tree(summary);
  answer.fact(summary, "/verdict", "verdict");
  answer.facts(summary, "", run.name(), {"experiment", "device", "device_name", "dtype", "engine"});
  answer.facts(summary, "/request", text_of(*at_pointer(tree, ""), "run") + " per request",
               {"requests", "unit", "mean_ns", "tokens_per_second", "prompt_tokens", "new_tokens",
                "mfu", "dominant"});
  answer.fact(summary, "/request/ttft/median_ns", "time to first token: median_ns");
  answer.fact(summary, "/request/steady/state", "steady: state");
  answer.facts(summary, "/program", "program",
               {"wall_ns", "cpu_user_ns", "cpu_system_ns", "max_rss_bytes", "processes", "end"});
  const Node* phases = tree.find("phases");
  for (std::size_t i = 0; phases != nullptr && i < phases->as_list().size(); ++i) {
    const Node& phase = phases->as_list()[i];
    answer.facts(summary, below("/phases", i),
                 text_of(phase, "name") + " per " + text_of(phase, "unit"),
                 {"mean_ns", "share", "class"});
  }
  const Node* load = tree.find("load");
  if (!is_empty(load)) answer.every_fact(summary, "/load/metrics", "load: ");
  const Node* notes = tree.find("notes");
  for (std::size_t i = 0; notes != nullptr && i < notes->as_list().size(); ++i) {
    answer.fact(summary, below("/notes", i), "note");
  }
  add_absent_files(summary, answer);
}

Result<void> add_part(const std::string& part, std::size_t summary, Answer& answer) {
  const Node& tree = answer.tree(summary);
  if (std::find(kParts.begin(), kParts.end(), part) != kParts.end()) {
    if (is_empty(tree.find(part))) {
      answer.missing(part, why_empty(part));
    } else {
      answer.every_fact(summary, below("", part), part + ": ");
    }
    return {};
  }
  if (const auto phase = phase_called(tree, part)) {
    const std::string name = text_of(*phase->row, "name");
    answer.every_fact(summary, below("/phases", phase->index),
                      name + " per " + text_of(*phase->row, "unit") + ": ");
    if (const Node* lacks = phase->row->find("lacks")) {
      for (const Node& lack : lacks->as_list()) answer.missing(name, lack.as_string());
    }
    return {};
  }
  answer.missing("a phase or part called '" + part + "'",
                 "the phases of this run are: " + phase_names(tree) +
                     "; the parts are: request, program, load, one_time, overhead, memory_roof, "
                     "join");
  return {};
}

}  // namespace

bool contains_text(std::string_view text, std::string_view part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

std::string text_of(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Result<OpenRun> open_run(const Sources& sources, const std::string& wanted) {
  return OpenRun{PL_TRY(sources.catalog.find(wanted))};
}

std::optional<std::size_t> add_summary(const OpenRun& run, Answer& answer) {
  const auto document = valid_summary(run.file(run::files::kSummary));
  if (document) return answer.add(*document);
  std::string why = document.error().to_string();
  if (run.known.row.state == "running") {
    why = "the run is still going, and its summary is written at the end";
  } else if (document.error().kind() == ErrorKind::NotFound) {
    why = "the run has no summary.json; 'profline report " + run.known.folder.string() +
          "' writes it";
  }
  answer.say("This run has no summary.");
  answer.missing(run::files::kSummary, std::move(why));
  add_stages_without_result(run, answer);
  return std::nullopt;
}

void add_stages_without_result(const OpenRun& run, Answer& answer) {
  const auto record = run::read_record(run.known.folder);
  if (!record) return;
  for (const StageRecord& stage : record->stages) {
    if (stage.state == StageState::Ok) continue;
    std::string why = std::string(to_text(stage.state));
    if (!stage.why.empty()) why += ": " + stage.why;
    for (const Finding& finding : stage.findings) {
      if (finding.severity == Severity::Problem) why += "; " + finding.text;
    }
    answer.missing("stage " + stage.name, why);
  }
}

void add_absent_files(std::size_t summary, Answer& answer) {
  const Node* absent = answer.tree(summary).find("absent");
  if (absent == nullptr) return;
  for (const Node& file : absent->as_list()) {
    answer.missing(text_of(file, "file"), text_of(file, "why"));
  }
}

std::optional<PhaseRow> phase_called(const Node& summary, const std::string& name) {
  const Node* phases = summary.find("phases");
  if (phases == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < phases->as_list().size(); ++i) {
    const Node& phase = phases->as_list()[i];
    if (text_of(phase, "name") == name || text_of(phase, "path") == name) {
      return PhaseRow{i, &phase};
    }
  }
  return std::nullopt;
}

std::string phase_names(const Node& summary) {
  std::vector<std::string> names;
  if (const Node* phases = summary.find("phases")) {
    for (const Node& phase : phases->as_list()) names.push_back(text_of(phase, "name"));
  }
  return names.empty() ? "none" : join(names, ", ");
}

Result<Answer> answer_summary(const Sources& sources, const SummaryArguments& asked) {
  const OpenRun run = PL_TRY(open_run(sources, asked.run));
  Answer answer;
  std::size_t document = 0;
  if (asked.file) {
    const fs::path file = PL_TRY(sources.catalog.inside((run.known.folder / *asked.file).string()));
    document = answer.add(PL_TRY(read_document(file)));
  } else {
    const auto summary = add_summary(run, answer);
    if (!summary) return answer;
    document = *summary;
  }
  const std::string where = asked.file.value_or(run::files::kSummary);
  if (asked.figure) {
    const auto is_wanted = [&](std::string_view what) {
      return contains_text(what, *asked.figure);
    };
    answer.every_fact(document, "", "", is_wanted);
    if (answer.fact_count() == 0) {
      answer.say("It was not captured.");
      answer.missing(*asked.figure, "nothing in " + where + " of this run has such a name");
      if (!asked.file) add_absent_files(document, answer);
    } else {
      answer.say("What " + where + " has under such a name.");
    }
    return answer;
  }
  if (asked.file) {
    answer.say("What " + where + " has.");
    answer.every_fact(document, "", "");
  } else if (asked.part) {
    PL_TRY(add_part(*asked.part, document, answer));
    answer.say(answer.fact_count() > 0 ? "What the summary has about " + *asked.part + "."
                                       : "It was not captured.");
  } else {
    const Node* verdict = answer.tree(document).find("verdict");
    if (verdict != nullptr && verdict->is_string()) answer.say(verdict->as_string() + ".");
    add_overview(run, document, answer);
  }
  return answer;
}

Result<Answer> answer_verdict(const Sources& sources, const VerdictArguments& asked) {
  const OpenRun run = PL_TRY(open_run(sources, asked.run));
  Answer answer;
  const auto summary = add_summary(run, answer);
  if (!summary) return answer;
  const Node& tree = answer.tree(*summary);
  const Node* phases = tree.find("phases");
  const auto only = asked.phase ? phase_called(tree, *asked.phase) : std::nullopt;
  if (asked.phase && !only) {
    answer.say("It was not captured.");
    answer.missing("phase '" + *asked.phase + "'",
                   "the phases of this run are: " + phase_names(tree));
    return answer;
  }
  if (!only) {
    answer.say(text_of(tree, "verdict") + ".");
    answer.fact(*summary, "/verdict", "verdict");
  }
  for (std::size_t i = 0; phases != nullptr && i < phases->as_list().size(); ++i) {
    if (only && i != only->index) continue;
    const Node& phase = phases->as_list()[i];
    const std::string name = text_of(phase, "name");
    const std::string pointer = below("/phases", i);
    if (only) answer.say(name + " is " + text_of(phase, "class") + ".");
    answer.facts(*summary, pointer, name, {"class", "share", "mean_ns", "unit", "next_step"});
    answer.fact(*summary, below(below(pointer, "cost"), "floor_ns"), name + ": floor_ns");
    answer.fact(*summary, below(below(pointer, "device"), "busy_share"), name + ": busy_share");
    const Node* evidence = phase.find("evidence");
    for (std::size_t at = 0; evidence != nullptr && at < evidence->as_list().size(); ++at) {
      const std::string source = text_of(evidence->as_list()[at], "source");
      answer.fact(*summary, below(below(below(pointer, "evidence"), at), "text"),
                  name + ": evidence" + (source.empty() ? "" : ", from " + source));
    }
    const Node* gains = phase.find("gains");
    for (std::size_t at = 0; gains != nullptr && at < gains->as_list().size(); ++at) {
      const std::string gain = below(below(pointer, "gains"), at);
      const std::string what = name + ": " + text_of(gains->as_list()[at], "when");
      answer.facts(*summary, gain, what, {"speedup", "time_ns"});
    }
    if (const Node* lacks = phase.find("lacks")) {
      for (const Node& lack : lacks->as_list()) answer.missing(name, lack.as_string());
    }
  }
  add_absent_files(*summary, answer);
  return answer;
}

}  // namespace profline::mcp
