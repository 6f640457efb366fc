#include "session/explanation.h"

#include <algorithm>

#include "config/interpolation/expression.h"
#include "config/interpolation/value.h"
#include "session/config_keys.h"
#include "settings/reference.h"

namespace profline::session {
namespace {

/// The override that chose this config: for `dataset/sampling/random`, the one whose key is
/// `dataset/sampling`.
const config::Override* chooser_of(const std::string& config,
                                   const std::vector<config::Override>& overrides) {
  const config::Override* found = nullptr;
  for (const config::Override& given : overrides) {
    const bool of_group = config.starts_with(given.key + "/") && given.value;
    if (of_group && given.value_text() == config.substr(given.key.size() + 1)) found = &given;
  }
  return found;
}

SettingPlace place_of(config::Origin origin, const config::Composition& composition) {
  SettingPlace place;
  if (origin.is_override) {
    place.where = origin.position.source;
    place.detail = origin.config;
  } else {
    const std::string position = origin.position.to_string();
    place.where = position.empty() ? "built in" : position;
    const config::Override* chooser = chooser_of(origin.config, composition.overrides);
    if (chooser != nullptr) {
      place.detail = "chosen by " + chooser->place.source + ": " + chooser->text;
    }
  }
  place.origin = std::move(origin);
  return place;
}

std::vector<SettingPlace> history_of(const config::Composition& composition,
                                     const std::string& key) {
  std::vector<SettingPlace> history;
  for (config::Origin& origin : composition.origins.history(key)) {
    history.push_back(place_of(std::move(origin), composition));
  }
  return history;
}

std::vector<Explanation::Child> children_of(const config::Composition& composition,
                                            const std::string& key, const Node& map) {
  std::vector<Explanation::Child> children;
  for_each_key(map, [&](const std::string& below, const Node& value) {
    if (value.is_map() && !value.as_map().empty()) return;
    Explanation::Child child{config::join_key(key, below), value, std::nullopt};
    std::vector<SettingPlace> history = history_of(composition, child.key);
    if (!history.empty()) child.last = std::move(history.back());
    children.push_back(std::move(child));
  });
  return children;
}

const Node* node_at(const Node& root, const std::string& key) {
  const Node* node = &root;
  for (const std::string& step : config::split_key(key)) {
    node = node->find_path(step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

/// Where the key leads if interpolations along it are followed; nothing if nowhere.
Result<std::optional<std::string>> followed(const Configuration& configuration,
                                            const std::string& key) {
  config::Resolution resolution(configuration.composition().root, configuration.context());
  const config::Selection found = PL_TRY(resolution.find(resolution.root(), key, true));
  if (found.outcome != config::Selection::Outcome::Found || found.where == nullptr) {
    return std::optional<std::string>();
  }
  return std::optional(config::full_key(*found.where));
}

/// Adds what the schema says about the key, whether or not the config has it; false: nothing.
bool add_doc(const Node& config, Explanation& out) {
  const auto doc = key_doc(config, out.key);
  if (!doc) return false;
  out.type = doc->type;
  out.help = doc->help;
  out.default_text = doc->default_text;
  out.flag = settings::tool_flag(out.key).value_or("");
  return true;
}

}  // namespace

Result<Explanation> explain(const Configuration& configuration, const std::string& key) {
  const config::Composition& composition = configuration.composition();
  Explanation out;
  out.key = key;
  const Node* value = node_at(composition.root, key);
  if (value == nullptr) {
    out.history = history_of(composition, key);
    out.is_deleted = !out.history.empty() && out.history.back().origin.is_deletion;
    const bool is_known = add_doc(composition.config, out);
    if (out.is_deleted) return out;
    const std::optional<std::string> other = PL_TRY(followed(configuration, key));
    if (other) value = node_at(composition.root, *other);
    if (value == nullptr && is_known) {
      out.is_set = false;
      return out;
    }
    if (value == nullptr) return no_such_key(composition.root, key);
    out.asked = key;
    out.key = *other;
  }
  out.value = *value;
  add_doc(composition.config, out);
  out.history = history_of(composition, out.key);
  // Facts about the run that only profline knows.
  if (!config::is_missing(*value) && !out.history.empty() &&
      config::is_missing(out.history.back().origin.value)) {
    out.history.push_back({{.position = {}, .config = {}, .value = *value}, "set by profline", {}});
  }
  if (value->is_map()) {
    out.children = children_of(composition, out.key, *value);
  } else if (value->is_string() && config::holds_interpolation(value->as_string())) {
    config::Resolution resolution(composition.root, configuration.context());
    out.resolved = PL_TRY(resolution.get(out.key));
  }
  return out;
}

}  // namespace profline::session
