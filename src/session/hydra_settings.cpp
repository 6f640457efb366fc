#include "session/hydra_settings.h"

#include <algorithm>

#include "config/hydra_node.h"
#include "config/interpolation/value.h"
#include "config/overrides/parser.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBasicSweeper =
    "hydra._internal.core_plugins.basic_sweeper.BasicSweeper";

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

constexpr Ignored kIgnored[] = {
    {"hydra.callbacks", "hydra/callbacks", "", "callbacks are Python and are not called"},
    {"hydra.launcher", "hydra/launcher", "basic", "jobs run here, one after another"},
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

std::vector<std::string> ignored_hydra_settings(const config::Composition& composition) {
  std::vector<std::string> sentences;
  for (const Ignored& ignored : kIgnored) {
    const std::optional<Position> where = set_at(composition, ignored.key);
    if (!where && !was_chosen(composition, ignored)) continue;
    sentences.push_back((where ? where->to_string() + ": " : "") + std::string(ignored.key) +
                        " has no effect: " + std::string(ignored.instead));
  }
  return sentences;
}

}  // namespace profline::session
