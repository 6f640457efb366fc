#include "session/override_completion.h"

#include <algorithm>

#include "config/defaults/search_path.h"
#include "config/interpolation/value.h"
#include "schema/value_text.h"
#include "session/config_keys.h"

namespace profline::session {
namespace {

/// `model/deepseek_ocr/arch@model` -> `model/deepseek_ocr/arch`
std::string group_of(const std::string& choice_key) {
  return choice_key.substr(0, choice_key.find('@'));
}

bool is_hydra_key(std::string_view key) {
  return key.starts_with("hydra");
}

void add_if_starting(std::vector<std::string>& out, const std::string& candidate,
                     const std::string& start) {
  if (candidate.starts_with(start)) out.push_back(candidate);
}

/// The next step of the word in the tree, with its suffix: '.' after a map, else `after_value`.
std::vector<std::string> next_keys(const Node& root, const std::string& word,
                                   const std::string& after_value) {
  const std::size_t dot = word.rfind('.');
  const Node* map = &root;
  std::string parent;
  if (dot != std::string::npos) {
    parent = word.substr(0, dot);
    map = root.find_path(parent);
  }
  std::vector<std::string> out;
  if (map == nullptr || !map->is_map()) return out;
  for (const NodeMap::Entry& entry : map->as_map()) {
    if (!entry.key.is_string()) continue;
    const bool goes_on = entry.value.is_map() && !entry.value.as_map().empty();
    const std::string key = config::join_key(parent, entry.key.as_string());
    add_if_starting(out, key + (goes_on ? "." : after_value), word);
  }
  return out;
}

std::string prefix_of(const std::string& word) {
  if (word.starts_with("++")) return "++";
  if (word.starts_with("+") || word.starts_with("~")) return word.substr(0, 1);
  return "";
}

}  // namespace

OverrideCompletion::OverrideCompletion(ConfigChoice choice) : choice_(std::move(choice)) {
  auto composed = Configuration::compose(choice_, config::RunMode::Multirun);
  if (!composed) {
    choice_.overrides.clear();
    composed = Configuration::compose(choice_, config::RunMode::Multirun);
  }
  if (composed) configuration_ = std::move(*composed);
}

/// Hydra's own keys are offered only if the word asks for them.
const Node& OverrideCompletion::tree_for(const std::string& word) const {
  const config::Composition& composition = configuration_->composition();
  return is_hydra_key(word) ? composition.root : composition.config;
}

std::vector<std::string> OverrideCompletion::keys(const std::string& word) const {
  if (!configuration_) return {};
  return next_keys(tree_for(word), word, " ");
}

std::vector<std::string> OverrideCompletion::overrides(const std::string& given) const {
  if (!configuration_) return {};
  const std::string prefix = prefix_of(given);
  const std::string word = given.substr(prefix.size());
  const std::size_t equals = word.find('=');
  std::vector<std::string> out;
  if (equals != std::string::npos) {
    const std::string key = word.substr(0, equals);
    for (const std::string& value : values(key, word.substr(equals + 1))) {
      out.push_back(prefix + key + "=" + value + " ");
    }
    return out;
  }
  for (const std::string& one : prefix == "+" ? additions(word) : changes(word, prefix)) {
    out.push_back(prefix + one);
  }
  return out;
}

/// Existing keys and groups, which is what everything but `+` accepts.
std::vector<std::string> OverrideCompletion::changes(const std::string& word,
                                                     std::string_view prefix) const {
  const std::string after = prefix == "~" ? " " : "=";
  std::vector<std::string> found = next_keys(tree_for(word), word, after);
  if (prefix == "++") return found;
  for (const config::Choice& choice : configuration_->composition().choices) {
    if (is_hydra_key(choice.key) && !is_hydra_key(word)) continue;
    add_if_starting(found, choice.key + after, word);
  }
  return found;
}

/// Groups without a choice, and maps that can take a new key.
std::vector<std::string> OverrideCompletion::additions(const std::string& word) const {
  std::vector<std::string> found = new_groups(word);
  for (std::string& key : next_keys(tree_for(word), word, "=")) {
    if (key.ends_with('.')) found.push_back(std::move(key));
  }
  return found;
}

/// Groups that no defaults list mentions yet, step by step: `+db` may become `+db/` or `+db=`.
std::vector<std::string> OverrideCompletion::new_groups(const std::string& word) const {
  const config::Composition& composition = configuration_->composition();
  const config::ConfigRepository repository(composition.search_path, configuration_->context());
  const std::size_t slash = word.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : word.substr(0, slash);
  std::vector<std::string> out;
  for (const std::string& name : repository.groups_of(parent)) {
    const std::string group = parent.empty() ? name : parent + "/" + name;
    if (is_hydra_key(group) && !is_hydra_key(word)) continue;
    if (!repository.groups_of(group).empty()) add_if_starting(out, group + "/", word);
    const auto& choices = composition.choices;
    const bool is_chosen =
        std::any_of(choices.begin(), choices.end(),
                    [&](const config::Choice& choice) { return choice.key == group; });
    if (!is_chosen && !repository.options_of(group).empty()) {
      add_if_starting(out, group + "=", word);
    }
  }
  return out;
}

std::vector<std::string> OverrideCompletion::values(const std::string& key,
                                                    const std::string& start) const {
  const config::Composition& composition = configuration_->composition();
  const config::ConfigRepository repository(composition.search_path, configuration_->context());
  std::vector<std::string> candidates = repository.options_of(group_of(key));
  if (candidates.empty()) {
    const auto doc = key_doc(composition.config, key);
    if (doc) candidates = choices_of_type(doc->type);
    const Node* value = composition.root.find_path(key);
    if (candidates.empty() && value != nullptr && value->is_scalar()) {
      candidates = {schema::value_text(*value)};
      if (value->is_bool()) candidates = {"true", "false"};
    }
  }
  std::vector<std::string> out;
  for (const std::string& candidate : candidates) add_if_starting(out, candidate, start);
  return out;
}

std::vector<std::string> OverrideCompletion::config_names(const std::string& word) const {
  const auto path = config_search_path(choice_, ".");
  std::vector<std::string> out;
  if (!path) return out;
  const config::ResolveContext nothing_to_resolve;
  const config::ConfigRepository repository(*path, nothing_to_resolve);
  for (const std::string& name : repository.options_of("")) add_if_starting(out, name + " ", word);
  return out;
}

}  // namespace profline::session
