#include "key_docs.h"

#include <algorithm>

#include "base/strings.h"
#include "settings/root.h"

namespace profline {
namespace {

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

}  // namespace

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
      // `cuda:N` stands for many.
      if (!part.ends_with(":N")) choices.emplace_back(trim(part));
    }
  } else {
    return choices;
  }
  if (may_be_null) choices.emplace_back("null");
  return choices;
}

}  // namespace profline
