#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "mcp/internal/answers.h"
#include "mcp/internal/followed_progress.h"
#include "run/names/artifact_names.h"
#include "session/config_keys.h"
#include "session/configuration.h"
#include "session/plan_document.h"
#include "session/sweep.h"

namespace profline::mcp {
namespace {

namespace fs = std::filesystem;

/// Relative paths and `./conf` start here: where the server was started if that is below a root,
/// because nothing outside is read, and else the first root.
fs::path start_folder(const catalog::Catalog& catalog) {
  std::error_code failure;
  const fs::path current = fs::current_path(failure);
  const bool may_be_read = !failure && catalog.is_inside(fs::weakly_canonical(current, failure));
  return may_be_read ? current : catalog.roots().front();
}

/// The words of an override that may be paths: `[/a,b]` has two.
std::vector<std::string> words_of(std::string_view value) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : value) {
    if (std::string_view("[]{},:'\" ").find(c) == std::string_view::npos) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool leaves_folder(std::string_view path) {
  if (path.starts_with('/') || path.starts_with('~')) return true;
  const std::vector<std::string_view> steps = split(path, '/');
  return std::find(steps.begin(), steps.end(), "..") != steps.end();
}

/// Overrides can name files and variables. Only what is below the roots may be read.
Result<void> check_overrides(const catalog::Catalog& catalog, const fs::path& start,
                             const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (contains_text(key, "searchpath")) {
      return Error(ErrorKind::Config, "'" + text + "': this server reads no other configurations");
    }
    if (equals == std::string::npos) continue;
    const std::string value = text.substr(equals + 1);
    if (value.find("${") != std::string::npos) {
      return Error(ErrorKind::Config, "'" + text + "': give the value instead of an interpolation");
    }
    for (const std::string& word : words_of(value)) {
      // A link below a root may lead out of it.
      std::error_code failure;
      const bool is_link_out = fs::exists(start / word, failure) &&
                               !catalog.is_inside(fs::weakly_canonical(start / word, failure));
      if (!leaves_folder(word) && !is_link_out) continue;
      const auto inside = catalog.inside(is_link_out ? (start / word).string() : word);
      if (!inside && inside.error().kind() == ErrorKind::Config) {
        return std::move(inside).error().during("override '" + text + "'");
      }
    }
  }
  return {};
}

session::ConfigChoice choice_of(const std::vector<std::string>& overrides, const fs::path& start) {
  session::ConfigChoice choice;
  choice.overrides = overrides;
  choice.cwd = start;
  return choice;
}

/// The pointer to `infer.max_new_tokens`, or to `dataset.page_sizes.0`.
std::string pointer_to(std::string_view key) {
  std::string pointer;
  for (const std::string_view step : split(key, '.')) pointer = below(pointer, step);
  return pointer;
}

/// What a run used, from its own files.
Result<Answer> explain_of_run(const Sources& sources, const ExplainArguments& asked) {
  const OpenRun run = PL_TRY(open_run(sources, *asked.run));
  Answer answer;
  auto config = read_document(run.file(run::files::kResolvedConfig));
  if (!config) {
    answer.say("It was not recorded.");
    answer.missing(run::files::kResolvedConfig, config.error().to_string());
    return answer;
  }
  const std::size_t resolved = answer.add(std::move(*config));
  const std::string pointer = pointer_to(asked.key);
  const Node* value = at_pointer(answer.tree(resolved), pointer);
  if (value == nullptr) {
    answer.say("The configuration of this run has no such key.");
    answer.missing(asked.key, session::no_such_key(answer.tree(resolved), asked.key).to_string());
    return answer;
  }
  answer.say("The configuration of the run " + run.name() + ".");
  if (value->is_null()) {
    answer.say(asked.key + " is null: it was not set.");
  } else {
    answer.every_fact(resolved, pointer, asked.key);
  }
  auto origins = read_document(run.file(run::files::kConfigOrigins));
  if (origins) {
    const std::size_t document = answer.add(std::move(*origins));
    const std::string entry = below("/origins", asked.key);
    answer.facts(document, entry, asked.key + " was set in",
                 {"source", "line", "column", "config", "is_override"});
  }
  return answer;
}

}  // namespace

Result<Answer> answer_explain(const Sources& sources, const ExplainArguments& asked) {
  if (asked.run) return explain_of_run(sources, asked);
  const fs::path start = start_folder(sources.catalog);
  PL_TRY(check_overrides(sources.catalog, start, asked.overrides));
  const auto configuration =
      PL_TRY(session::Configuration::compose(choice_of(asked.overrides, start)));
  Answer answer;
  const auto explanation = session::explain(*configuration, asked.key);
  if (!explanation && explanation.error().reason() == "no_such_key") {
    answer.say("There is no such key.");
    answer.missing(asked.key, explanation.error().to_string());
    return answer;
  }
  if (!explanation) return explanation.error();
  std::vector<std::string> words = {"explain", asked.key};
  words.insert(words.end(), asked.overrides.begin(), asked.overrides.end());
  const std::size_t document =
      answer.add(printed_by(words, session::explanation_document(*explanation), start));
  if (!explanation->help.empty()) answer.say(asked.key + ": " + explanation->help + ".");
  answer.facts(document, "", asked.key,
               {"key", "value", "resolved", "set", "deleted", "type", "help", "default", "flag"});
  const Node* origins = answer.tree(document).find("origins");
  for (std::size_t i = 0; origins != nullptr && i < origins->as_list().size(); ++i) {
    answer.facts(document, below("/origins", i), "set in",
                 {"source", "line", "column", "override", "value"});
  }
  const Node* children = answer.tree(document).find("children");
  for (std::size_t i = 0; children != nullptr && i < children->as_list().size(); ++i) {
    answer.fact(document, below(below("/children", i), "value"),
                text_of(children->as_list()[i], "key"));
  }
  return answer;
}

Result<Answer> answer_plan(const Sources& sources, const PlanArguments& asked) {
  const fs::path start = start_folder(sources.catalog);
  PL_TRY(check_overrides(sources.catalog, start, asked.overrides));
  session::RunRequest request;
  request.choice = choice_of(asked.overrides, start);
  const auto names_folder = [](const std::string& text) {
    return text.starts_with("hydra.run.dir=");
  };
  if (std::none_of(asked.overrides.begin(), asked.overrides.end(), names_folder)) {
    // So that the same plan has the same paths.
    request.choice.overrides.push_back("hydra.run.dir=planned");
  }
  std::vector<std::string> words = {"plan"};
  words.insert(words.end(), request.choice.overrides.begin(), request.choice.overrides.end());
  if (!asked.program.empty()) {
    request.choice.name = session::kProgramConfig;
    request.choice.overrides.push_back(session::program_override(asked.program));
    words.emplace_back("--config-name=" + std::string(session::kProgramConfig));
    words.push_back(session::program_override(asked.program));
  }
  session::Jobs jobs = PL_TRY(session::jobs_of(request, false, sources.services.remarks));
  const auto runs = PL_TRY(session::plan_jobs(jobs, sources.services));
  Answer answer;
  const std::size_t document =
      answer.add(printed_by(words, session::plan_document(session::planned_jobs(runs)), start));
  const Node& tree = answer.tree(document);
  answer.say("Nothing was run. The folder of a real run is chosen when it starts.");
  for (std::size_t job = 0; job < runs.size(); ++job) {
    const std::string at = below("/jobs", job);
    answer.every_fact(document, below(at, "findings"), "finding: ");
    const Node* stages = at_pointer(tree, below(at, "stages"));
    for (std::size_t i = 0; stages != nullptr && i < stages->as_list().size(); ++i) {
      const Node& stage = stages->as_list()[i];
      const std::string pointer = below(below(at, "stages"), i);
      const std::string name = text_of(stage, "name");
      answer.facts(document, pointer, name, {"state", "why"});
      for (const char* list : {"commands", "limits", "notes", "findings"}) {
        const Node* items = stage.find(list);
        for (std::size_t k = 0; items != nullptr && k < items->as_list().size(); ++k) {
          const std::string item = below(below(pointer, list), k);
          const Node& each = items->as_list()[k];
          if (each.is_string()) answer.fact(document, item, name + ": " + list);
          answer.fact(document, below(item, "display"),
                      name + ": command " + text_of(each, "name"));
          answer.fact(document, below(item, "text"), name + ": " + text_of(each, "severity"));
          const bool has_fix = !text_of(each, "fix").empty();
          if (has_fix) answer.fact(document, below(item, "fix"), name + ": fix");
        }
      }
    }
  }
  return answer;
}

Result<Answer> answer_run(const Sources& sources, const PlanArguments& asked) {
  session::RunRequest request;
  const fs::path& root = sources.catalog.roots().front();
  request.choice.overrides = asked.overrides;
  request.choice.overrides.push_back("hydra.run.dir='" + root.string() + "/${now:%Y%m%d-%H%M%S}'");
  request.argv = {"profline", "mcp", "--allow-run"};
  if (!asked.program.empty()) {
    request.choice.name = session::kProgramConfig;
    request.choice.overrides.push_back(session::program_override(asked.program));
  }
  session::Jobs jobs = PL_TRY(session::jobs_of(request, false, sources.services.remarks));
  session::Services services = sources.services;
  if (sources.follower) {
    services.followed = [&](std::unique_ptr<Progress> shown) {
      return followed_by(sources.follower, std::move(shown));
    };
  }
  const session::FinishedJobs finished = PL_TRY(session::run_jobs(std::move(jobs), services));
  if (finished.runs.empty()) {
    return Error(ErrorKind::Config, "the run is a sweep; start it with 'profline run'");
  }
  catalog::Catalog after = PL_TRY(catalog::Catalog::open(sources.catalog.roots()));
  after.refresh();
  return answer_runs({after, sources.services, sources.follower},
                     {.run = finished.runs.front().folder.string(),
                      .find = {},
                      .metric = {},
                      .since = {},
                      .until = {}});
}

}  // namespace profline::mcp
