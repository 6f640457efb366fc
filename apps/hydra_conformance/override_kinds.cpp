#include <algorithm>
#include <array>

#include "config/overrides/override.h"
#include "formats/json.h"
#include "kinds.h"

namespace profline::conformance {
namespace {

using config::Override;
using config::OverrideValue;

/// Longer sweeps have no `sweep` in the vectors.
constexpr std::size_t kMostItems = 64;

Node encode_value(const OverrideValue& value);

Node encode_items(const std::vector<OverrideValue>& items) {
  Node out = Node::list();
  for (const OverrideValue& item : items) out.as_list().push_back(encode_value(item));
  return out;
}

Node encode_tags(const std::set<std::string>& tags) {
  Node out = Node::list();
  for (const std::string& tag : tags) out.as_list().push_back(Node::string(tag));
  return out;
}

Node encode_dict(const OverrideValue::Dict& dict) {
  Node plain = Node::map();
  Node pairs = Node::list();
  bool is_plain = true;
  for (const OverrideValue::Entry& entry : dict) {
    is_plain = is_plain && entry.key.is_string() && !entry.key.as_string().starts_with('$');
    Node value = encode_value(entry.value);
    if (is_plain) plain.as_map().set(entry.key, value);
    pairs.as_list().push_back(Node::list({encode(entry.key), std::move(value)}));
  }
  return is_plain ? plain : object({{"$dict", std::move(pairs)}});
}

Node encode_sweep(const OverrideValue& value) {
  if (const auto* choice = value.get<config::ChoiceSweep>()) {
    return object({{"$choice", encode_items(choice->items)},
                   {"simple", Node::boolean(choice->simple)},
                   {"shuffle", Node::boolean(choice->shuffle)},
                   {"tags", encode_tags(choice->tags)}});
  }
  if (const auto* range = value.get<config::RangeSweep>()) {
    return object(
        {{"$range", Node::list({encode(range->start), encode(range->stop), encode(range->step)})},
         {"shuffle", Node::boolean(range->shuffle)},
         {"tags", encode_tags(range->tags)}});
  }
  if (const auto* interval = value.get<config::IntervalSweep>()) {
    return object({{"$interval", Node::list({encode(interval->start), encode(interval->end)})},
                   {"tags", encode_tags(interval->tags)}});
  }
  const auto* glob = value.get<config::GlobSweep>();
  return object({{"$glob", object({{"include", encode_items(glob->include)},
                                   {"exclude", encode_items(glob->exclude)}})}});
}

Node encode_value(const OverrideValue& value) {
  if (const auto* scalar = value.get<Node>()) return encode(*scalar);
  if (const auto* quoted = value.get<config::QuotedString>()) {
    const char* quote = quoted->quote == config::Quote::Single ? "single" : "double";
    return object({{"$quoted", Node::string(quoted->text)}, {"quote", Node::string(quote)}});
  }
  if (const auto* list = value.get<OverrideValue::List>()) return encode_items(*list);
  if (const auto* dict = value.get<OverrideValue::Dict>()) return encode_dict(*dict);
  return encode_sweep(value);
}

void sort_by_json(Node& list) {
  const auto text = [](const Node& node) {
    return write_json(node, {.indent = 0}).value_or(std::string());
  };
  std::sort(list.as_list().begin(), list.as_list().end(),
            [&](const Node& a, const Node& b) { return text(a) < text(b); });
}

/// The order that shuffle() produces is arbitrary; the vectors have it sorted.
bool is_unordered(const Override& override) {
  const auto* list = override.value->get<OverrideValue::List>();
  return list != nullptr && list->size() > 1 && override.text.find("shuffle") != std::string::npos;
}

void answer_element(const Override& override, NodeMap& out) {
  const auto text = config::print_value(*override.value);
  if (!text) {
    out.set("value_str_error", describe_error(text.error()));
  } else if (is_unordered(override)) {
    out.set("unordered", Node::boolean(true));
    sort_by_json(*out.find("value"));
  } else {
    out.set("value_str", Node::string(*text));
  }
}

bool is_shuffled(const OverrideValue& value) {
  const auto* choice = value.get<config::ChoiceSweep>();
  const auto* range = value.get<config::RangeSweep>();
  return (choice != nullptr && choice->shuffle) || (range != nullptr && range->shuffle);
}

void answer_items(const Override& override, NodeMap& out) {
  const auto items = config::sweep_items(override, {}, kMostItems);
  if (!items) {
    if (items.error().reason() != "sweep_too_large") {
      out.set("sweep_error", describe_error(items.error()));
    }
    return;
  }
  std::vector<std::string> texts = *items;
  if (is_shuffled(*override.value)) {
    out.set("sweep_unordered", Node::boolean(true));
    std::sort(texts.begin(), texts.end());
  }
  Node list = Node::list();
  for (const std::string& text : texts) list.as_list().push_back(Node::string(text));
  out.set("sweep", std::move(list));
}

void answer_value(const Override& override, NodeMap& out) {
  const bool is_glob = override.value->get<config::GlobSweep>() != nullptr;
  const bool is_interval = override.value->get<config::IntervalSweep>() != nullptr;
  if (!override.is_sweep()) {
    answer_element(override, out);
  } else if (!is_glob && !is_interval) {
    answer_items(override, out);
  }
}

Result<std::vector<std::string>> texts_of(const Node& input) {
  const Node* overrides = input.find("overrides");
  if (overrides == nullptr || !overrides->is_list()) {
    return Error(ErrorKind::Parse, "the vector has no list of overrides");
  }
  std::vector<std::string> out;
  for (const Node& text : overrides->as_list()) {
    if (!text.is_string()) return Error(ErrorKind::Parse, "an override of the vector is not text");
    out.push_back(text.as_string());
  }
  return out;
}

Result<std::vector<config::Batch>> batches_of(const Node& input) {
  const std::vector<std::string> texts = PL_TRY(texts_of(input));
  const auto overrides = PL_TRY(config::parse_overrides(texts));
  std::optional<std::int64_t> size;
  const Node* given = input.find("max_batch_size");
  if (given != nullptr && given->is_int()) size = given->as_int();
  return config::expand_sweeps(overrides, size, {});
}

Node to_list(const std::vector<std::string>& texts) {
  Node out = Node::list();
  for (const std::string& text : texts) out.as_list().push_back(Node::string(text));
  return out;
}

}  // namespace

Node answer_override_parse(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const Node* text = vector.input.find("override");
  if (text == nullptr || !text->is_string()) {
    return failure(Error(ErrorKind::Parse, "the vector has no override"));
  }
  const auto parsed = config::parse_override(text->as_string());
  if (!parsed) return failure(parsed.error());
  constexpr std::array<const char*, 4> kTypes = {"CHANGE", "ADD", "FORCE_ADD", "DEL"};
  Node value_type;
  if (parsed->value) value_type = Node::string(std::string(value_type_name(*parsed->value)));
  Node out = object({{"ok", Node::boolean(true)},
                     {"type", Node::string(kTypes.at(static_cast<std::size_t>(parsed->type)))},
                     {"key", Node::string(parsed->key)},
                     {"package", parsed->package ? Node::string(*parsed->package) : Node()},
                     {"value_type", std::move(value_type)},
                     {"value", parsed->value ? encode_value(*parsed->value) : Node()}});
  if (parsed->value) answer_value(*parsed, out.as_map());
  return out;
}

Node answer_sweep(const Vector& vector, const std::filesystem::path& /*folder*/) {
  const auto batches = batches_of(vector.input);
  if (!batches) return failure(batches.error());
  Node out = Node::list();
  for (const config::Batch& batch : *batches) {
    Node jobs = Node::list();
    for (const config::Job& job : batch) jobs.as_list().push_back(to_list(job));
    out.as_list().push_back(std::move(jobs));
  }
  return object({{"ok", Node::boolean(true)}, {"batches", std::move(out)}});
}

}  // namespace profline::conformance
