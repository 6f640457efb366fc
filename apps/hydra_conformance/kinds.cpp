#include "kinds.h"

#include <algorithm>

#include "config/interpolation/load.h"
#include "vectors.h"

namespace profline::conformance {
namespace {

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// `resolved_error`, `error`, … hold an error if the vector has one; only its category is compared.
/// Some vectors have the name of an exception instead, of which only the presence counts.
bool is_error_field(std::string_view name) {
  return name == "error" || name.ends_with("_error");
}

bool same_error(const Node& expected, const Node& got) {
  const Node* category = expected.find("category");
  if (category == nullptr) return true;
  const Node* ours = got.find("category");
  return ours != nullptr && *ours == *category;
}

bool same_entries(const Node& a, const Node& b) {
  if (!a.is_map() || !b.is_map() || a.as_map().size() != b.as_map().size()) return a == b;
  return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const NodeMap::Entry& entry) {
    const Node* other = b.as_map().find(entry.key);
    return other != nullptr && *other == entry.value;
  });
}

bool same_answers(const Node& expected, const Node& got) {
  if (!got.is_map() || got.as_map().size() != expected.as_map().size()) return false;
  return std::all_of(expected.as_map().begin(), expected.as_map().end(),
                     [&](const NodeMap::Entry& entry) {
                       const Node* ours = got.as_map().find(entry.key);
                       if (ours == nullptr) return false;
                       const Node* error = entry.value.find("error");
                       if (error == nullptr) return *ours == entry.value;
                       const Node* our_error = ours->find("error");
                       return our_error != nullptr && same_error(*error, *our_error);
                     });
}

bool same_field(const Kind& kind, const std::string& name, const Node& expected, const Node& got) {
  if (is_error_field(name)) return same_error(expected, got);
  if (contains(kind.answer_maps, name)) return same_answers(expected, got);
  if (contains(kind.unordered_maps, name)) return same_entries(expected, got);
  return expected == got;
}

}  // namespace

std::vector<Kind> kinds() {
  return {
      {"override_parse", answer_override_parse},
      {.name = "resolve", .answer = answer_resolve, .ignored = {"warnings"}},
      {"sweep", answer_sweep},
      {"compose",
       answer_compose,
       {"yaml", "warn_missing_self", "warnings"},
       {"choices"},
       {"hydra"}},
      {"yaml", answer_yaml},
  };
}

std::vector<std::string> differences(const Kind& kind, const Node& expected, const Node& got) {
  std::vector<std::string> out;
  for (const std::string& name : expected.as_map().string_keys()) {
    if (contains(kind.ignored, name)) continue;
    const Node* ours = got.find(name);
    if (ours == nullptr || !same_field(kind, name, *expected.find(name), *ours)) {
      out.push_back(is_error_field(name) && ours != nullptr ? name + ".category" : name);
    }
  }
  for (const std::string& name : got.as_map().string_keys()) {
    if (!contains(kind.ignored, name) && expected.find(name) == nullptr) out.push_back(name);
  }
  return out;
}

Node answer_yaml(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const Node* yaml = vector.input.find("yaml");
  if (yaml == nullptr || !yaml->is_string()) {
    return failure(Error(ErrorKind::Parse, "the vector has no YAML text"));
  }
  const Result<Node> tree = config::load_config(yaml->as_string(), "config.yaml");
  if (!tree) return failure(tree.error());
  return object({{"ok", Node::boolean(true)}, {"value", encode(*tree)}});
}

}  // namespace profline::conformance
