#include "configuration.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/terminal_text.h"
#include "config/config_source.h"
#include "override_advice.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"
#include "standard_streams.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

config::LocalTime local_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  localtime_r(&now.tv_sec, &parts);
  return {parts.tm_year + 1900,
          parts.tm_mon + 1,
          parts.tm_mday,
          parts.tm_hour,
          parts.tm_min,
          parts.tm_sec,
          static_cast<int>(now.tv_nsec / 1000)};
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

/// The configs that are part of the program. Positions in them read `<profline>/config.yaml:4:3`.
std::shared_ptr<const config::ConfigSource> shipped_configs() {
  config::EmbeddedSource::Files files;
  for (const EmbeddedFile& file : shipped_config_files()) {
    files.emplace(std::string(file.path), file.text);
  }
  return std::make_shared<const config::EmbeddedSource>("<profline>", std::move(files));
}

void set_hydra(Node& root, std::string_view group, std::string key, Node value) {
  Node* hydra = root.find("hydra");
  Node* map = hydra == nullptr ? nullptr : hydra->find(group);
  if (map != nullptr && map->is_map()) map->as_map().set(std::move(key), std::move(value));
}

Result<fs::path> working_folder() {
  std::error_code problem;
  fs::path cwd = fs::current_path(problem);
  if (problem) {
    return Error(ErrorKind::NotFound,
                 "the directory this was started in is gone: " + problem.message());
  }
  return cwd;
}

}  // namespace

std::vector<Option> config_choice_options() {
  using Takes = Option::Takes;
  return {
      {"--config-name", "-cn", Takes::Value, "NAME", "the config to begin with [config]"},
      {"--config-path", "-cp", Takes::Value, "DIR",
       "where configs are [./conf if it holds the named config]"},
      {"--config-dir", "-cd", Takes::Value, "DIR", "look for configs here as well"},
  };
}

ConfigChoice config_choice(const Arguments& arguments) {
  ConfigChoice choice;
  choice.path = arguments.value("--config-path");
  choice.dir = arguments.value("--config-dir");
  choice.name = arguments.value("--config-name").value_or(choice.name);
  choice.overrides = arguments.words;
  return choice;
}

Result<config::SearchPath> config_search_path(const ConfigChoice& choice, const fs::path& cwd) {
  std::shared_ptr<const config::ConfigSource> main;
  if (choice.path) {
    main = PL_TRY(config::source_at(*choice.path, cwd));
  } else if (auto here = std::make_shared<const config::FolderSource>("conf", cwd);
             here->has_config(choice.name)) {
    main = std::move(here);
  }
  config::SearchPath path = config::SearchPath::standard(std::move(main));
  path.set_fallback("profline", shipped_configs());
  if (choice.dir) {
    auto source = PL_TRY(config::source_at(*choice.dir, cwd));
    if (!source->is_available()) {
      return Error(ErrorKind::NotFound,
                   "there is no folder '" + *choice.dir + "', which --config-dir names");
    }
    path.append("command-line", std::move(source));
  }
  return path;
}

Configuration::Configuration() : resolvers_(config::ResolverRegistry::standard()) {
  context_.resolvers = &resolvers_;
  context_.environment = environment_variable;
  // One moment for all of it: what names a folder by the time names one folder.
  context_.clock = [now = local_time()] { return now; };
  context_.warn = [this](std::string text) { warnings_.push_back(std::move(text)); };
}

Result<std::unique_ptr<Configuration>> Configuration::compose(const ConfigChoice& choice,
                                                              config::RunMode mode) {
  std::unique_ptr<Configuration> configuration(new Configuration);
  config::ComposeRequest request;
  request.cwd = choice.cwd ? *choice.cwd : PL_TRY(working_folder());
  configuration->cwd_ = request.cwd;
  request.search_path = PL_TRY(config_search_path(choice, request.cwd));
  request.config_name = choice.name;
  request.overrides = choice.overrides;
  request.mode = mode;
  request.job_name = "profline";
  auto composed = config::compose(request, configuration->context_);
  if (!composed) return with_advice(std::move(composed).error(), choice.overrides);
  configuration->given_ = choice.overrides;
  configuration->composition_ = std::move(*composed);
  configuration->context_.hydra_root = &configuration->composition_.root;
  for (const std::string& warning : configuration->composition_.warnings) {
    configuration->warnings_.push_back(warning);
  }
  return configuration;
}

void Configuration::set_mode(config::RunMode mode) {
  Node* hydra = composition_.root.find("hydra");
  if (hydra == nullptr || !hydra->is_map()) return;
  const std::string name = mode == config::RunMode::Multirun ? "MULTIRUN" : "RUN";
  const Node* before = hydra->find("mode");
  if (before != nullptr && *before == Node::string(name)) return;
  hydra->as_map().set("mode", Node::string(name));
  // Hydra decides it by adding an override.
  Node* overrides = hydra->find("overrides");
  Node* own = overrides == nullptr ? nullptr : overrides->find("hydra");
  if (own != nullptr && own->is_list())
    own->as_list().push_back(Node::string("hydra.mode=" + name));
}

void Configuration::set_output_dir(const fs::path& folder) {
  set_hydra(composition_.root, "runtime", "output_dir", Node::string(folder.string()));
}

void Configuration::set_job(std::size_t number) {
  set_hydra(composition_.root, "job", "num", Node::integer(static_cast<std::int64_t>(number)));
  set_hydra(composition_.root, "job", "id", Node::string(std::to_string(number)));
}

std::vector<Error> Configuration::problems() const {
  config::Resolution resolution(composition_.config, context_);
  const Result<Node> resolved = resolution.resolve_all();
  if (!resolved) return resolved.error().each();
  const auto settings = settings::read_settings(*resolved);
  std::vector<Error> problems;
  if (settings) return problems;
  for (const Error& problem : settings.error().each()) {
    problems.push_back(with_override_shown(problem, given_));
  }
  return problems;
}

void print_remarks(const Configuration& configuration, const OutputOptions& output) {
  if (output.verbosity > 0) {
    for (const config::ResolvedDefault& entry : configuration.composition().defaults.entries) {
      print_remark("profline: merged '" + printable(entry.config) + "' into " +
                   (entry.package.empty() ? "the root" : "'" + entry.package + "'"));
    }
  }
  if (output.verbosity < 0) return;
  for (const std::string& warning : configuration.warnings()) {
    print_remark("profline: warning: " + printable_lines(warning));
  }
}

}  // namespace profline
