#include "session/configuration.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "base/terminal_text.h"
#include "config/defaults/search_path.h"
#include "config/hydra_node.h"
#include "config/overrides/parser.h"
#include "session/config_keys.h"
#include "settings/removed_keys.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"

namespace profline::session {
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

/// The configs built into the program. Positions in them read `<profline>/config.yaml:4:3`.
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
                 "the current directory no longer exists: " + problem.message());
  }
  return cwd;
}

/// The override that an error is about, from the `override 3` in its position; a null pointer if
/// the position is elsewhere.
const std::string* text_of(const Error& error, const std::vector<std::string>& overrides) {
  constexpr std::string_view kLabel = "override ";
  if (!error.position() || !error.position()->source.starts_with(kLabel)) return nullptr;
  const std::string& label = error.position()->source;
  std::size_t number = 0;
  std::from_chars(label.data() + kLabel.size(), label.data() + label.size(), number);
  return number == 0 || number > overrides.size() ? nullptr : &overrides[number - 1];
}

/// `dataset/sampling` -> `dataset.sampling`, the default package of a group.
std::string own_package(std::string group) {
  std::replace(group.begin(), group.end(), '/', '.');
  return group;
}

/// The error of composing with these overrides, with advice if one of them names a key or group
/// that was removed, or a group with its default package.
Error with_advice(Error error, const std::vector<std::string>& overrides) {
  const std::string* text = text_of(error, overrides);
  if (text == nullptr) return error;
  const auto given = config::parse_override(*text, {.label = error.position()->source});
  if (!given) return error;
  if (error.reason() == "group_override_no_match" && given->package &&
      *given->package == own_package(given->key)) {
    const std::string value(given->value_text().value_or(""));
    return given
        ->error("'" + *given->package + "' is where '" + given->key +
                    "' goes by default, and Hydra knows such a group only by its name: write " +
                    given->key + "=" + value,
                given->package_column)
        .with_reason("group_override_no_match");
  }
  const auto advice = settings::advice_for_removed_key(given->key);
  const bool is_group = error.reason() == "not_a_group";  // `runner@stage1_runner=…`
  if (!advice || (!is_group && error.reason() != "key_not_in_config")) return error;
  return given
      ->error(
          (is_group ? "group '" : "key '") + given->key + "' was removed: " + std::string(*advice),
          given->key_column)
      .with_reason(is_group ? "not_a_group" : "key_not_in_config");
}

/// The error followed by the override that its position names, with a caret under the place. Errors
/// about files stay as they are.
Error with_override_shown(Error error, const std::vector<std::string>& overrides) {
  const std::string* text = text_of(error, overrides);
  if (text == nullptr) return error;
  const std::uint32_t column = error.position()->column;
  return std::move(error).with_excerpt(*text, column);
}

/// The part without what exists only for Hydra's own help.
Node hydra_part(const Node& root) {
  Node hydra = *root.find("hydra");
  hydra.as_map().erase("hydra_help");
  hydra.as_map().erase("help");
  Node part = Node::map();
  part.as_map().set("hydra", std::move(hydra));
  return part;
}

Result<Node> whole_part(const Configuration& configuration, const ConfigPart& part) {
  const config::Composition& composition = configuration.composition();
  Node tree = part.of == "job" ? composition.config : composition.root;
  if (part.resolve) PL_TRY(config::resolve_in_place(tree, configuration.context()));
  return part.of == "hydra" ? hydra_part(tree) : tree;
}

/// The value at the package; follows an interpolation there as OmegaConf.select does.
Result<Node> packaged(const Configuration& configuration, const ConfigPart& part) {
  const config::Composition& composition = configuration.composition();
  const Node& tree = part.of == "job" ? composition.config : composition.root;
  config::Resolution resolution(tree, configuration.context());
  const config::Selection found = PL_TRY(resolution.find(resolution.root(), *part.package, true));
  if (found.outcome != config::Selection::Outcome::Found) {
    return no_such_key(tree, *part.package);
  }
  const config::Place* container = found.value.container();
  if (container != nullptr && !part.resolve) return *container->node;
  return resolution.resolved(found.value);
}

}  // namespace

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
  // One point in time for everything, so that names derived from the time agree.
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
  // Hydra also decides this by adding an override.
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

Result<Node> part_of(const Configuration& configuration, const ConfigPart& part) {
  return part.package ? packaged(configuration, part) : whole_part(configuration, part);
}

void report_composition(const Configuration& configuration, const Remarks& remarks) {
  for (const config::ResolvedDefault& entry : configuration.composition().defaults.entries) {
    remarks.detail("merged '" + printable(entry.config) + "' into " +
                   (entry.package.empty() ? "the root" : "'" + entry.package + "'"));
  }
  for (const std::string& warning : configuration.warnings()) {
    remarks.warning(printable_lines(warning));
  }
}

}  // namespace profline::session
