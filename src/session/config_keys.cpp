#include "session/config_keys.h"

#include <algorithm>

#include "base/strings.h"
#include "config/defaults/search_path.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/value.h"
#include "schema/docs.h"
#include "settings/reference.h"
#include "settings/root.h"

namespace profline::session {
namespace {

void visit_map(const Node& map, const std::string& prefix,
               const std::function<void(const std::string&, const Node&)>& visit) {
  for (const NodeMap::Entry& entry : map.as_map()) {
    if (!entry.key.is_string()) continue;
    const std::string key = config::join_key(prefix, entry.key.as_string());
    visit(key, entry.value);
    if (entry.value.is_map()) visit_map(entry.value, key, visit);
  }
}

/// The only key that ends with `.key`; empty if there is no such key or several.
std::string only_one_ending_in(const std::string& key, const std::vector<std::string>& known) {
  std::string found;
  for (const std::string& one : known) {
    if (!one.ends_with("." + key)) continue;
    if (!found.empty()) return {};
    found = one;
  }
  return found;
}

std::string text_at(const Node& config, const char* key) {
  const Node* value = config.find_path(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::vector<schema::FieldDoc> dataset_docs(const Node& config) {
  const std::string source = text_at(config, "dataset.source");
  if (source == "synthetic") return schema::describe<settings::SyntheticPages>("dataset");
  if (source == "files") return schema::describe<settings::ImageFiles>("dataset");
  return schema::describe<settings::ImageFolder>("dataset");
}

std::vector<schema::FieldDoc> docs_of(const Node& config, const std::string& key) {
  if (key.starts_with("dataset.")) return dataset_docs(config);
  const std::string kind = text_at(config, "pipeline.workload.kind");
  if (kind == "program") {
    return schema::describe<settings::Layout<settings::program::Subject>>();
  }
  if (kind == "dummy_shallow_resnet") {
    return schema::describe<settings::Layout<settings::dummy_shallow_resnet::Subject>>();
  }
  return schema::describe<settings::Layout<settings::deepseek_ocr::Subject>>();
}

Node number_or_null(std::uint32_t number) {
  return number == 0 ? Node() : Node::integer(number);
}

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

void for_each_key(const Node& root,
                  const std::function<void(const std::string&, const Node&)>& visit) {
  if (root.is_map()) visit_map(root, "", visit);
}

Error no_such_key(const Node& root, std::string_view key) {
  const std::string name(key);
  if (const auto advice = settings::advice_for_removed_key(key)) {
    return Error(ErrorKind::Config, "key '" + name + "' was removed: " + std::string(*advice))
        .with_reason("no_such_key");
  }
  std::vector<std::string> known;
  for_each_key(root, [&](const std::string& one, const Node&) { known.push_back(one); });
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    const std::string meant = only_one_ending_in(name, known);
    if (!meant.empty()) hint = " (did you mean '" + meant + "'?)";
  }
  return Error(ErrorKind::Config, "there is no key '" + name + "' in the config" + hint)
      .with_reason("no_such_key");
}

std::optional<schema::FieldDoc> key_doc(const Node& config, const std::string& key) {
  const std::vector<schema::FieldDoc> docs = docs_of(config, key);
  const auto found = std::find_if(docs.begin(), docs.end(),
                                  [&](const schema::FieldDoc& doc) { return doc.path == key; });
  if (found == docs.end()) return std::nullopt;
  return *found;
}

std::vector<schema::FieldDoc> filled_in_keys(const Node& config) {
  std::vector<schema::FieldDoc> filled;
  const auto add = [&](const char* stage, const std::vector<schema::FieldDoc>& docs) {
    const Node* own = config.find_path(stage);
    if (own == nullptr || !own->is_map()) return;
    for (const schema::FieldDoc& doc : docs) {
      const bool has_value = !doc.is_group && doc.default_text != "null";
      if (has_value && config.find_path(doc.path) == nullptr) filled.push_back(doc);
    }
  };
  add("pipeline.nsys", schema::describe<settings::Nsys>("pipeline.nsys"));
  add("pipeline.ncu", schema::describe<settings::Ncu>("pipeline.ncu"));
  return filled;
}

std::vector<std::string> choices_of_type(std::string_view type) {
  constexpr std::string_view kOrNull = " or null";
  constexpr std::string_view kOneOf = "one of ";
  std::vector<std::string> choices;
  const bool may_be_null = type.ends_with(kOrNull);
  if (may_be_null) type.remove_suffix(kOrNull.size());
  if (type == "boolean") {
    choices = {"true", "false"};
  } else if (type.starts_with(kOneOf)) {
    for (const std::string_view part : split(type.substr(kOneOf.size()), ',')) {
      // `cuda:N` stands for many values.
      if (!part.ends_with(":N")) choices.emplace_back(trim(part));
    }
  } else {
    return choices;
  }
  if (may_be_null) choices.emplace_back("null");
  return choices;
}

void set_position(const Position& position, NodeMap& entry) {
  entry.set("source", position.source.empty() ? Node() : Node::string(position.source));
  entry.set("line", number_or_null(position.line));
  entry.set("column", number_or_null(position.column));
}

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

namespace {

Node place_json(const SettingPlace& place) {
  NodeMap entry;
  set_position(place.origin.position, entry);
  const bool is_override = place.origin.is_override;
  entry.set("config", is_override || place.origin.config.empty()
                          ? Node()
                          : Node::string(place.origin.config));
  entry.set("override", is_override ? Node::string(place.origin.config) : Node());
  entry.set("deletion", Node::boolean(place.origin.is_deletion));
  entry.set("value", place.origin.value);
  return Node::map(std::move(entry));
}

}  // namespace

Node explanation_document(const Explanation& explanation) {
  NodeMap document;
  document.set("schema", Node::string("profline.explain/1"));
  document.set("key", Node::string(explanation.key));
  document.set("set", Node::boolean(explanation.is_set && !explanation.is_deleted));
  document.set("deleted", Node::boolean(explanation.is_deleted));
  document.set("value", explanation.value);
  document.set("resolved", explanation.resolved.value_or(explanation.value));
  const bool is_known = !explanation.type.empty();
  document.set("type", is_known ? Node::string(explanation.type) : Node());
  document.set("help", is_known ? Node::string(explanation.help) : Node());
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Node() : Node::string(text);
  };
  document.set("default", text_or_null(explanation.default_text));
  document.set("flag", text_or_null(explanation.flag));
  Node origins = Node::list();
  for (const SettingPlace& place : explanation.history) {
    origins.as_list().push_back(place_json(place));
  }
  document.set("origins", std::move(origins));
  Node children = Node::list();
  for (const Explanation::Child& child : explanation.children) {
    NodeMap entry;
    entry.set("key", Node::string(child.key));
    entry.set("value", child.value);
    entry.set("origin", child.last ? place_json(*child.last) : Node());
    children.as_list().push_back(Node::map(std::move(entry)));
  }
  document.set("children", std::move(children));
  return Node::map(std::move(document));
}

}  // namespace profline::session
