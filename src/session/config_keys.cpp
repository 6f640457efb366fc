#include "session/config_keys.h"

#include <algorithm>

#include "base/strings.h"
#include "config/interpolation/value.h"
#include "settings/removed_keys.h"
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
  if (text_at(config, "pipeline.workload.kind") == "dummy_shallow_resnet") {
    return schema::describe<settings::Layout<settings::dummy_shallow_resnet::Subject>>();
  }
  return schema::describe<settings::Layout<settings::deepseek_ocr::Subject>>();
}

Node number_or_null(std::uint32_t number) {
  return number == 0 ? Node() : Node::integer(number);
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

}  // namespace profline::session
