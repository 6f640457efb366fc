#include "session/configuration.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include "base/terminal_text.h"
#include "config/defaults/search_path.h"
#include "config/hydra_node.h"
#include "config/interpolation/value.h"
#include "config/overrides/override.h"
#include "process/runner.h"
#include "schema/read.h"
#include "session/config_keys.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBasicSweeper =
    "hydra._internal.core_plugins.basic_sweeper.BasicSweeper";

sweep::LauncherKind launcher_kind(std::string_view target) {
  if (target.ends_with(".submitit_launcher.SlurmLauncher")) return sweep::LauncherKind::Slurm;
  if (target.ends_with(".submitit_launcher.LocalLauncher")) return sweep::LauncherKind::Local;
  return sweep::LauncherKind::Basic;
}

Position position_of(const Node& root, std::string_view key) {
  const Node* found = root.find_path(key);
  return found == nullptr ? Position{} : found->position();
}

Error error_at(const Position& position, std::string message) {
  if (position == Position{}) return Error(ErrorKind::Config, std::move(message));
  return Error(ErrorKind::Config, std::move(message), position);
}

Result<void> check_sweeper(const HydraNode& hydra) {
  constexpr std::string_view kKey = "hydra.sweeper._target_";
  const auto target = PL_TRY(config::typed_value(hydra.root, kKey, hydra.context));
  if (!target || !target->is_string() || target->as_string() == kBasicSweeper) return {};
  return error_at(position_of(hydra.root, kKey),
                  "the sweeper '" + target->as_string() +
                      "' is Python; profline has Hydra's basic sweeper only");
}

/// The parameter as an override; an error in its text also names its position in the config.
Result<config::Override> parse_param(const std::string& key, const Node& value,
                                     const Position& position) {
  auto parsed = config::parse_override(key + "=" + config::python_str(value),
                                       {.label = "hydra.sweeper.params"});
  if (parsed || position == Position{}) return parsed;
  return std::move(parsed).error().during(position.to_string());
}

/// A part of the node that profline does not use.
struct Ignored {
  std::string_view key;
  std::string_view group;   ///< that fills it; may be empty
  std::string_view option;  ///< the group's default
  std::string_view instead;
};

constexpr std::string_view kLauncherKey = "hydra.launcher";

constexpr Ignored kIgnored[] = {
    {"hydra.callbacks", "hydra/callbacks", "", "callbacks are Python and are not called"},
    {kLauncherKey, "hydra/launcher", "basic", "jobs run here, one after another"},
    {"hydra.hydra_logging", "hydra/hydra_logging", "default", "-v and -q choose what is printed"},
    {"hydra.job_logging", "hydra/job_logging", "default",
     "a run's log is run.log, and -v and -q choose what is printed"},
    {"hydra.verbose", "", "", "-v prints more"},
    {"hydra.job.env_set", "", "", "set environment variables where profline is started"},
    {"hydra.help", "hydra/help", "default", "--help is profline's own"},
    {"hydra.hydra_help", "hydra/hydra_help", "default", "--help is profline's own"},
};

/// Where the key was set by the user; nothing if all of it is Hydra's own.
std::optional<Position> set_at(const config::Composition& composition, std::string_view key) {
  const std::vector<config::Origin> history = composition.origins.history(key);
  const auto own = std::find_if(history.rbegin(), history.rend(), [](const config::Origin& origin) {
    return !(origin.position == Position{});
  });
  return own == history.rend() ? std::nullopt : std::optional(own->position);
}

bool was_chosen(const config::Composition& composition, const Ignored& ignored) {
  return std::any_of(
      composition.choices.begin(), composition.choices.end(), [&](const config::Choice& choice) {
        return choice.key == ignored.group && choice.option.value_or("") != ignored.option;
      });
}

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

/// The override that contains the position of an error; a null pointer if it is elsewhere.
const std::string* text_of(const Error& error, const std::vector<std::string>& overrides) {
  if (!error.position()) return nullptr;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    if (error.position()->source == config::override_label(i + 1)) return &overrides[i];
  }
  return nullptr;
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
                    "' goes by default, and Hydra accepts only the group's name here: write " +
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

/// Escapes `${`, which begins an interpolation even in quotes, with a backslash. Backslashes
/// directly in front of it have to be doubled.
std::string without_interpolations(std::string_view word) {
  std::string out;
  std::size_t backslashes = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word.substr(i).starts_with("${")) out.append(backslashes + 1, '\\');
    backslashes = word[i] == '\\' ? backslashes + 1 : 0;
    out += word[i];
  }
  return out;
}

/// The plain text `???` means a missing value, so the word `???` is written as an interpolation
/// that yields it.
constexpr const char* kMissing = "???";
constexpr const char* kComputedMissing = "${oc.decode:'\"???\"'}";

}  // namespace

Result<std::optional<config::RunMode>> hydra_mode(const HydraNode& hydra) {
  const auto mode = PL_TRY(config::typed_value(hydra.root, "hydra.mode", hydra.context));
  if (!mode || !mode->is_string()) return std::optional<config::RunMode>();
  return std::optional(mode->as_string() == "MULTIRUN" ? config::RunMode::Multirun
                                                       : config::RunMode::Run);
}

Result<std::optional<fs::path>> hydra_output_subdir(const HydraNode& hydra) {
  constexpr std::string_view kKey = "hydra.output_subdir";
  const auto value = PL_TRY(config::typed_value(hydra.root, kKey, hydra.context));
  if (!value || !value->is_string()) return std::optional<fs::path>();
  const fs::path folder = (fs::path(".") / value->as_string()).lexically_normal();
  if (!folder.is_absolute() && *folder.begin() != "..") return std::optional(folder);
  return error_at(position_of(hydra.root, kKey), std::string(kKey) + ": '" + value->as_string() +
                                                     "' is not inside the run's folder");
}

Result<SweeperSettings> sweeper_settings(const HydraNode& hydra) {
  PL_TRY(check_sweeper(hydra));
  SweeperSettings settings;
  config::Resolution resolution(hydra.root, hydra.context);
  const auto params = PL_TRY(resolution.select("hydra.sweeper.params"));
  if (params && params->is_map()) {
    const Node* raw = hydra.root.find_path("hydra.sweeper.params");
    for (const NodeMap::Entry& entry : params->as_map()) {
      const Node* place = raw != nullptr && raw->is_map() ? raw->as_map().find(entry.key) : nullptr;
      settings.params.push_back(PL_TRY(parse_param(config::python_str(entry.key), entry.value,
                                                   place ? place->position() : Position{})));
    }
  }
  const auto size =
      PL_TRY(config::typed_value(hydra.root, "hydra.sweeper.max_batch_size", hydra.context));
  if (size && size->is_int()) settings.max_batch_size = size->as_int();
  return settings;
}

Result<LauncherChoice> launcher_choice(const HydraNode& hydra) {
  LauncherChoice choice;
  const Node* target = hydra.root.find_path("hydra.launcher._target_");
  if (target == nullptr || !target->is_string()) return choice;
  choice.kind = launcher_kind(target->as_string());
  if (choice.kind == sweep::LauncherKind::Basic) return choice;
  config::Resolution resolution(hydra.root, hydra.context);
  const Node settings = PL_TRY(resolution.get("hydra.launcher"));
  choice.settings = PL_TRY(schema::read<sweep::Launcher>(settings, "hydra.launcher"));
  const sweep::Launcher& given = choice.settings;
  if (choice.kind == sweep::LauncherKind::Slurm && given.timeout_min &&
      given.signal_delay_s >= *given.timeout_min * 60) {
    return error_at(
        position_of(hydra.root, "hydra.launcher.signal_delay_s"),
        "hydra.launcher.signal_delay_s is " + std::to_string(given.signal_delay_s) +
            " s, which leaves nothing of timeout_min=" + std::to_string(*given.timeout_min));
  }
  return choice;
}

std::vector<std::string> ignored_hydra_settings(const config::Composition& composition) {
  std::vector<std::string> sentences;
  const Node* target = composition.root.find_path("hydra.launcher._target_");
  const bool has_launcher = target != nullptr && target->is_string() &&
                            launcher_kind(target->as_string()) != sweep::LauncherKind::Basic;
  for (const Ignored& ignored : kIgnored) {
    if (ignored.key == kLauncherKey && has_launcher) continue;
    const std::optional<Position> where = set_at(composition, ignored.key);
    if (!where && !was_chosen(composition, ignored)) continue;
    sentences.push_back((where ? where->to_string() + ": " : "") + std::string(ignored.key) +
                        " has no effect: " + std::string(ignored.instead));
  }
  return sentences;
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

std::string program_override(const std::vector<std::string>& words) {
  config::OverrideValue::List list;
  for (const std::string& word : words) {
    std::string text = word == kMissing ? kComputedMissing : without_interpolations(word);
    list.emplace_back(config::OverrideValue::Variant(config::QuotedString{std::move(text)}));
  }
  const config::OverrideValue value{config::OverrideValue::Variant(std::move(list))};
  return "++pipeline.workload.command=" + config::print_value(value).value_or("[]");
}

std::string url_override(const std::string& url) {
  const config::OverrideValue value{
      config::OverrideValue::Variant(config::QuotedString{without_interpolations(url)})};
  return "++pipeline.workload.server.url=" + config::print_value(value).value_or("''");
}

}  // namespace profline::session
