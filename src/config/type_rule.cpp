#include "config/type_rule.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/value.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

using Kind = TypeRule::Kind;

TypeRule of(Kind kind) {
  TypeRule rule;
  rule.kind = kind;
  rule.optional = kind == Kind::Any;
  return rule;
}

TypeRule optional(TypeRule rule) {
  rule.optional = true;
  return rule;
}

TypeRule list_of(TypeRule element) {
  TypeRule rule = of(Kind::List);
  rule.element.push_back(std::move(element));
  return rule;
}

TypeRule map_to(TypeRule element) {
  TypeRule rule = of(Kind::Map);
  rule.element.push_back(std::move(element));
  return rule;
}

TypeRule record(TypeRule::Members members) {
  TypeRule rule = of(Kind::Record);
  rule.members = std::move(members);
  return rule;
}

TypeRule text() {
  return of(Kind::String);
}

TypeRule run_mode() {
  TypeRule rule = of(Kind::Name);
  rule.names = {"RUN", "MULTIRUN"};
  return rule;
}

TypeRule job_types() {
  const TypeRule dirname =
      record({{"kv_sep", text()}, {"item_sep", text()}, {"exclude_keys", list_of(text())}});
  return record({{"name", text()},
                 {"chdir", optional(of(Kind::Boolean))},
                 {"override_dirname", text()},
                 {"id", text()},
                 {"num", of(Kind::Integer)},
                 {"config_name", optional(text())},
                 {"env_set", map_to(text())},
                 {"env_copy", list_of(text())},
                 {"config", record({{"override_dirname", dirname}})}});
}

TypeRule runtime_types() {
  const TypeRule source = record({{"path", text()}, {"schema", text()}, {"provider", text()}});
  return record({{"version", text()},
                 {"version_base", text()},
                 {"cwd", text()},
                 {"config_sources", list_of(source)},
                 {"output_dir", text()},
                 {"choices", map_to(of(Kind::Any))}});
}

std::string_view wanted(const TypeRule& rule) {
  switch (rule.kind) {
    case Kind::String:
      return "a string";
    case Kind::Integer:
      return "an integer";
    case Kind::Boolean:
      return "true or false";
    case Kind::Name:
      return "one of RUN, MULTIRUN";
    case Kind::List:
      return "a list";
    default:
      return "a map";
  }
}

/// `the string 'abc'`
std::string described(const Node& value) {
  std::string out(describe(value.kind()));
  if (value.is_scalar() && !value.is_null()) out += " (" + python_repr(value) + ")";
  return out;
}

Error type_error(const Node& value, const TypeRule& rule, const std::string& key) {
  const std::string message =
      "'" + key + "' must be " + std::string(wanted(rule)) + ", not " + described(value);
  return Error(ErrorKind::Config, message, value.position()).with_reason("validation");
}

std::optional<bool> boolean_in(const std::string& word) {
  if (const std::optional<Node> number = parse_python_int(word)) {
    return !(number->is_int() && number->as_int() == 0);
  }
  std::string lower = word;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* yes : {"yes", "y", "on", "true"}) {
    if (lower == yes) return true;
  }
  for (const char* no : {"no", "n", "off", "false"}) {
    if (lower == no) return false;
  }
  return std::nullopt;
}

std::optional<Node> to_boolean(const Node& value) {
  if (value.is_bool()) return value;
  if (value.is_int()) return Node::boolean(value.as_int() != 0);
  if (value.kind() == Node::Kind::BigInt) return Node::boolean(true);
  if (!value.is_string()) return std::nullopt;
  const std::optional<bool> meant = boolean_in(value.as_string());
  return meant ? std::optional(Node::boolean(*meant)) : std::nullopt;
}

std::optional<Node> to_integer(const Node& value) {
  if (value.is_int() || value.kind() == Node::Kind::BigInt) return value;
  if (value.is_string()) return parse_python_int(value.as_string());
  return std::nullopt;
}

/// `MULTIRUN`, `RunMode.MULTIRUN`, or its number, counted from 1.
std::optional<Node> to_name(const Node& value, const TypeRule& rule) {
  if (value.is_int()) {
    const std::int64_t number = value.as_int();
    const bool inside = number >= 1 && static_cast<std::size_t>(number) <= rule.names.size();
    if (!inside) return std::nullopt;
    return Node::string(std::string(rule.names[static_cast<std::size_t>(number) - 1]));
  }
  if (!value.is_string()) return std::nullopt;
  std::string_view name = value.as_string();
  constexpr std::string_view kPrefix = "RunMode.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const bool known = std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
  return known ? std::optional(Node::string(std::string(name))) : std::nullopt;
}

std::optional<Node> convert_scalar(const Node& value, const TypeRule& rule) {
  switch (rule.kind) {
    case Kind::Any:
      return value;
    case Kind::String:
      if (value.kind() == Node::Kind::Bytes) return std::nullopt;
      return value.is_string() ? value : Node::string(python_str(value));
    case Kind::Integer:
      return to_integer(value);
    case Kind::Boolean:
      return to_boolean(value);
    case Kind::Name:
      return to_name(value, rule);
    default:
      return std::nullopt;
  }
}

Result<Node> convert_list(Node value, const TypeRule& rule, const std::string& key) {
  std::size_t index = 0;
  for (Node& item : value.as_list()) {
    item = PL_TRY(convert(std::move(item), &rule.element[0], join_key(key, index++)));
  }
  return value;
}

Result<Node> convert_map(Node value, const TypeRule& rule, const std::string& key) {
  for (NodeMap::Entry& entry : value.as_map()) {
    const std::string inner = join_key(key, python_str(entry.key));
    const TypeRule* member = rule.member(entry.key);
    if (rule.kind == Kind::Map && !entry.key.is_string()) {
      return Error(ErrorKind::Config,
                   "the keys of '" + key + "' must be strings, not " + described(entry.key),
                   entry.key.position())
          .with_reason("validation");
    }
    if (member == nullptr && rule.is_closed()) {
      std::vector<std::string> names;
      for (const auto& [name, type] : rule.members) names.emplace_back(name);
      return Error(ErrorKind::Config,
                   "there is no key '" + inner + "'" + did_you_mean(python_str(entry.key), names),
                   entry.key.position())
          .with_reason("hydra_schema_key");
    }
    entry.value = PL_TRY(convert(std::move(entry.value), member, inner));
  }
  return value;
}

bool takes_map(const TypeRule& rule) {
  return rule.kind == Kind::Map || rule.kind == Kind::Record;
}

}  // namespace

TypeRule::TypeRule() = default;
TypeRule::TypeRule(const TypeRule& other) = default;
TypeRule::TypeRule(TypeRule&& other) noexcept = default;
TypeRule& TypeRule::operator=(const TypeRule& other) = default;
TypeRule& TypeRule::operator=(TypeRule&& other) noexcept = default;
TypeRule::~TypeRule() = default;

const TypeRule* TypeRule::member(const Node& key) const {
  if (kind == Kind::Map) return &element[0];
  if (kind != Kind::Record || !key.is_string()) return nullptr;
  for (const auto& [name, rule] : members) {
    if (name == key.as_string()) return &rule;
  }
  return nullptr;
}

Result<Node> convert(Node value, const TypeRule* rule, const std::string& key) {
  if (rule == nullptr || rule->kind == Kind::Any) return value;
  if (value.is_string() && (is_missing(value) || holds_interpolation(value.as_string()))) {
    return value;
  }
  if (value.is_null() && rule->optional) return value;
  if (value.is_list() && rule->kind == Kind::List) {
    return convert_list(std::move(value), *rule, key);
  }
  if (value.is_map() && takes_map(*rule)) return convert_map(std::move(value), *rule, key);
  if (!value.is_scalar() || value.is_null()) return type_error(value, *rule, key);
  std::optional<Node> converted = convert_scalar(value, *rule);
  if (!converted) return type_error(value, *rule, key);
  converted->set_mark(value.mark());
  return std::move(*converted);
}

TypeRule hydra_types(bool basic_launcher, bool basic_sweeper) {
  const TypeRule any = of(Kind::Any);
  const TypeRule launcher = optional(record({{"_target_", text()}}));
  const TypeRule sweeper = optional(record({{"_target_", text()},
                                            {"max_batch_size", optional(of(Kind::Integer))},
                                            {"params", optional(map_to(text()))}}));
  const TypeRule help =
      record({{"app_name", text()}, {"header", text()}, {"footer", text()}, {"template", text()}});
  const TypeRule hydra =
      record({{"mode", optional(run_mode())},
              {"searchpath", list_of(text())},
              {"run", record({{"dir", text()}})},
              {"sweep", record({{"dir", text()}, {"subdir", text()}})},
              {"hydra_logging", map_to(any)},
              {"job_logging", map_to(any)},
              {"sweeper", basic_sweeper ? sweeper : any},
              {"launcher", basic_launcher ? launcher : any},
              {"callbacks", map_to(any)},
              {"help", help},
              {"hydra_help", record({{"hydra_help", text()}, {"template", text()}})},
              {"output_subdir", optional(text())},
              {"overrides", record({{"hydra", list_of(text())}, {"task", list_of(text())}})},
              {"job", job_types()},
              {"runtime", runtime_types()},
              {"verbose", any}});
  TypeRule root = record({{"hydra", optional(hydra)}});
  root.open = true;
  return root;
}

}  // namespace profline::config
