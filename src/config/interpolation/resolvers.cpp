#include "config/interpolation/resolvers.h"

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "config/interpolation/load.h"
#include "config/interpolation/resolve.h"
#include "config/interpolation/value.h"

namespace profline::config {

Result<const Node*> ResolverArguments::at(std::size_t index, std::string_view wanted) const {
  if (index < values_.size()) return &values_[index];
  return Error(ErrorKind::Config, "argument " + std::to_string(index + 1) + " is not given, and " +
                                      std::string(wanted) + " is needed");
}

namespace {

Error wrong_type(std::size_t index, const Node& value, std::string_view wanted) {
  return Error(ErrorKind::Config, "argument " + std::to_string(index + 1) + " is " +
                                      std::string(describe(value.kind())) + ", not " +
                                      std::string(wanted));
}

}  // namespace

Result<Node> ResolverArguments::value(std::size_t index) const {
  return *PL_TRY(at(index, "a value"));
}

Result<std::string> ResolverArguments::text(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a string"));
  if (!value->is_string()) return wrong_type(index, *value, "a string");
  return value->as_string();
}

Result<std::int64_t> ResolverArguments::integer(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "an integer"));
  if (!value->is_int()) return wrong_type(index, *value, "an integer");
  return value->as_int();
}

Result<double> ResolverArguments::number(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a number"));
  if (value->is_int()) return static_cast<double>(value->as_int());
  if (!value->is_float()) return wrong_type(index, *value, "a number");
  return value->as_float();
}

Result<bool> ResolverArguments::boolean(std::size_t index) const {
  const Node* value = PL_TRY(at(index, "a boolean"));
  if (!value->is_bool()) return wrong_type(index, *value, "a boolean");
  return value->as_bool();
}

ResolverRegistry ResolverRegistry::standard() {
  ResolverRegistry registry;
  internal::add_omegaconf_resolvers(registry);
  internal::add_hydra_resolvers(registry);
  return registry;
}

void ResolverRegistry::add(std::string name, Function function, ResolverOptions options) {
  add_looking(
      std::move(name),
      [function = std::move(function)](const ResolverCall& call) -> Result<Value> {
        std::vector<Node> values;
        values.reserve(call.arguments.size());
        for (const Value& argument : call.arguments) {
          values.push_back(PL_TRY(call.resolution.resolved(argument)));
        }
        return Value(PL_TRY(function(ResolverArguments(std::move(values)))));
      },
      options);
}

void ResolverRegistry::add_looking(std::string name, LookingFunction function,
                                   ResolverOptions options) {
  entries_.insert_or_assign(std::move(name), Entry{std::move(function), options});
}

const ResolverRegistry::Entry* ResolverRegistry::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> ResolverRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace profline::config

namespace profline::config::internal {
namespace {

/// A problem with a tree that a resolver made, reported as the resolver's own.
Error own_error(const Error& error) {
  Error own(error.kind(), error.to_string());
  return error.reason() == "grammar" ? std::move(own).with_reason("grammar") : own;
}

Result<std::string> text_argument(const ResolverCall& call, std::size_t index,
                                  std::string_view role) {
  const std::string* text = call.arguments[index].text();
  if (text != nullptr) return *text;
  return problem(std::string(role) + " must be a string, not " +
                 std::string(call.arguments[index].described()));
}

/// `${oc.env:HOME}`, `${oc.env:HOME,fallback}`
Result<Value> env(const ResolverCall& call) {
  const std::string name = PL_TRY(text_argument(call, 0, "the name of the variable"));
  const auto& environment = call.resolution.context().environment;
  if (environment) {
    if (std::optional<std::string> value = environment(name)) {
      return Value(Node::string(std::move(*value)));
    }
  }
  if (call.arguments.size() < 2) {
    return problem("environment variable '" + name + "' is not set, and no default is given");
  }
  if (call.arguments[1].is_null()) return Value();
  return Value(Node::string(call.arguments[1].str()));
}

/// `${oc.decode:${oc.env:LAYERS}}`
Result<Value> decode(const ResolverCall& call) {
  if (call.arguments[0].is_null()) return Value();
  const std::string text = PL_TRY(text_argument(call, 0, "what is decoded"));
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos && !text.empty())
    return problem("there are only blanks to decode");
  // OmegaConf's lexer fails on this before its parser can call it bad grammar.
  if (first != std::string::npos && text[first] == '}') return problem("this '}' closes nothing");
  return call.resolution.decode(call, text);
}

/// The value with its interpolations unresolved.
Node raw(const Value& value) {
  if (const Node* node = value.node()) return *node;
  if (value.items() != nullptr) {
    Node::List items;
    for (const Value& item : *value.items()) items.push_back(raw(item));
    return Node::list(std::move(items));
  }
  NodeMap map;
  for (const auto& [key, each] : *value.entries()) map.set(key, raw(each));
  return Node::map(std::move(map));
}

/// `${oc.create:{a: 1}}`, `${oc.create:'a: 1'}`
Result<Value> create(const ResolverCall& call) {
  const Value& given = call.arguments[0];
  if (given.is_null()) return Value();
  Node tree;
  if (given.text() != nullptr) {
    Result<Node> loaded = create_config(*given.text(), "<oc.create>");
    if (!loaded) return own_error(loaded.error());
    tree = std::move(*loaded);
  } else {
    tree = raw(given);
    if (tree.is_scalar()) {
      return problem("makes a configuration from a map, a list or YAML text, not from " +
                     std::string(given.described()));
    }
    const Result<void> checked = check_config(tree);
    if (!checked) return own_error(checked.error());
  }
  return Value(call.resolution.adopt(std::move(tree), call.parent));
}

/// `${oc.select:key}`, `${oc.select:key,fallback}`
Result<Value> select(const ResolverCall& call) {
  const std::string key = PL_TRY(text_argument(call, 0, "the key"));
  Selection found = PL_TRY(call.resolution.find(call.parent, key, false));
  const Value fallback = call.arguments.size() > 1 ? call.arguments[1] : Value();
  switch (found.outcome) {
    case Selection::Outcome::Found:
      break;
    case Selection::Outcome::AboveRoot:
      return problem("key '" + key + "' goes above the root");
    case Selection::Outcome::BadIndex:
      return problem("key '" + key + "': '" + found.steps[found.failed_step] +
                     "' is not an index of the list '" + full_key(*found.where) + "'");
    default:
      return fallback;
  }
  const std::string* text = found.value.text();
  if (text != nullptr && *text == "???") return fallback;
  return std::move(found.value);
}

std::size_t identifier_length(std::string_view text) {
  constexpr std::string_view kFirst = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return 0;
  const std::string later = std::string(kFirst) + "0123456789";
  return std::min(text.find_first_not_of(later), text.size());
}

/// Replaces `$NAME` and `${NAME}`, and `$$` with `$`, as Python's string.Template does; unknown
/// names stay.
std::string substituted(std::string_view text, std::string_view old_key, std::string_view new_key) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool braced = text.size() > 1 && text[1] == '{';
    const std::size_t start = braced ? 2 : 1;
    const std::string_view name =
        text.substr(start, identifier_length(text.substr(std::min(start, text.size()))));
    std::size_t used = start + name.size() + (braced ? 1 : 0);
    if (text.substr(0, 2) == "$$") {
      out += '$';
      used = 2;
    } else if ((name != "OLD_KEY" && name != "NEW_KEY") || (braced && text[used - 1] != '}')) {
      out += '$';
      used = 1;
    } else {
      out += name == "OLD_KEY" ? old_key : new_key;
    }
    text.remove_prefix(used);
  }
  return out;
}

/// `${oc.deprecated:new.key}`, `${oc.deprecated:new.key,'$OLD_KEY is now $NEW_KEY'}`
Result<Value> deprecated(const ResolverCall& call) {
  const std::string key = PL_TRY(text_argument(call, 0, "the key"));
  std::string message = "'$OLD_KEY' is deprecated. Change your code and config to use '$NEW_KEY'";
  if (call.arguments.size() > 1) message = PL_TRY(text_argument(call, 1, "the message"));
  Selection found = PL_TRY(call.resolution.find(call.parent, key, false));
  if (found.outcome != Selection::Outcome::Found) return problem("key '" + key + "' not found");
  if (call.resolution.context().warn) {
    const Place* target = found.value.place() != nullptr ? found.value.place() : found.where;
    call.resolution.context().warn(substituted(message, full_key(call.holder), full_key(*target)));
  }
  return std::move(found.value);
}

Result<const Place*> map_argument(const ResolverCall& call, const std::string& key) {
  const Selection found = PL_TRY(call.resolution.find(call.parent, key, true));
  switch (found.outcome) {
    case Selection::Outcome::Found:
      break;
    case Selection::Outcome::Missing:
      return problem("key '" + key + "' is ???");
    default:
      return problem("key '" + key + "' not found");
  }
  const Place* container = found.value.container();
  if (container != nullptr && container->node->is_map()) return container;
  return problem("key '" + key + "' is " + std::string(found.value.described()) + ", not a map");
}

/// `${oc.dict.keys:key}`
Result<Value> dict_keys(const ResolverCall& call) {
  const std::string key = PL_TRY(text_argument(call, 0, "the key"));
  const Place* map = PL_TRY(map_argument(call, key));
  Node::List keys;
  for (const NodeMap::Entry& entry : map->node->as_map()) keys.push_back(entry.key);
  Node list = Node::list(std::move(keys));
  const Result<void> checked = check_config(list);
  if (!checked) return own_error(checked.error());
  return Value(call.resolution.adopt(std::move(list), call.parent));
}

/// `${oc.dict.values:key}`: references to the values, so that each is resolved in its own place.
Result<Value> dict_values(const ResolverCall& call) {
  const std::string key = PL_TRY(text_argument(call, 0, "the key"));
  const Place* map = PL_TRY(map_argument(call, key));
  // One more dot for a relative key, because the references are one level deeper, in the new list.
  const std::string prefix = (key.starts_with('.') ? "${." : "${") + key + '.';
  Node::List values;
  for (const NodeMap::Entry& entry : map->node->as_map()) {
    values.push_back(Node::string(prefix + python_str(entry.key) + '}'));
  }
  Node list = Node::list(std::move(values));
  const Result<void> checked = check_config(list);
  if (!checked) return own_error(checked.error());
  return Value(call.resolution.adopt(std::move(list), call.parent));
}

}  // namespace

void add_omegaconf_resolvers(ResolverRegistry& registry) {
  constexpr ResolverOptions kOne{
      .least_arguments = 1, .most_arguments = 1, .cached = false, .pure = true};
  constexpr ResolverOptions kOneOrTwo{
      .least_arguments = 1, .most_arguments = 2, .cached = false, .pure = true};
  constexpr ResolverOptions kWarns{
      .least_arguments = 1, .most_arguments = 2, .cached = false, .pure = false};
  registry.add_looking("oc.create", create, kOne);
  registry.add_looking("oc.decode", decode, kOne);
  registry.add_looking("oc.deprecated", deprecated, kWarns);
  registry.add_looking("oc.dict.keys", dict_keys, kOne);
  registry.add_looking("oc.dict.values", dict_values, kOne);
  registry.add_looking("oc.env", env, kOneOrTwo);
  registry.add_looking("oc.select", select, kOneOrTwo);
}

namespace {

/// `${now:%Y-%m-%d}`
Result<Value> now(const ResolverCall& call) {
  const std::string* format = call.arguments[0].text();
  if (format == nullptr) {
    return problem("the format must be a string, not " +
                   std::string(call.arguments[0].described()));
  }
  const ResolveContext& context = call.resolution.context();
  if (!context.clock) return problem("there is no clock here");
  return Value(Node::string(format_time(context.clock(), *format)));
}

/// `${hydra:runtime.cwd}`
Result<Value> hydra(const ResolverCall& call) {
  const std::string* key = call.arguments[0].text();
  if (key == nullptr) {
    return problem("the key must be a string, not " + std::string(call.arguments[0].described()));
  }
  const Node* tree = call.resolution.context().hydra_root;
  if (tree == nullptr || tree->find("hydra") == nullptr) {
    return problem("there is no hydra configuration here");
  }
  const Selection top =
      PL_TRY(call.resolution.find(call.resolution.adopt_root(*tree), "hydra", false));
  const Place* node = top.value.container();
  if (node == nullptr) return problem("the key 'hydra' is not a map");
  Selection found = PL_TRY(call.resolution.find_below(*node, *key, false));
  switch (found.outcome) {
    case Selection::Outcome::Found:
      break;
    case Selection::Outcome::AboveRoot:
      return problem("key '" + *key + "' goes above the root");
    case Selection::Outcome::BadIndex:
      return problem("key '" + *key + "' has no index where a list needs one");
    default:
      return Value();
  }
  const std::string* text = found.value.text();
  if (text != nullptr && *text == "???") return Value();
  return std::move(found.value);
}

/// `${python_version:minor}`: `3.11`
Result<Value> python_version(const ResolverCall& call) {
  const std::string& version = call.resolution.context().python_version;
  std::string level = "minor";
  if (!call.arguments.empty()) {
    const std::string* given = call.arguments[0].text();
    level = given == nullptr ? std::string() : *given;
  }
  const std::size_t first = version.find('.');
  const std::size_t second = first == std::string::npos ? first : version.find('.', first + 1);
  if (level == "major") return Value(Node::string(version.substr(0, first)));
  if (level == "minor") return Value(Node::string(version.substr(0, second)));
  if (level == "micro") return Value(Node::string(version));
  return Value();
}

}  // namespace

void add_hydra_resolvers(ResolverRegistry& registry) {
  registry.add_looking("now", now,
                       {.least_arguments = 1, .most_arguments = 1, .cached = true, .pure = true});
  registry.add_looking("hydra", hydra,
                       {.least_arguments = 1, .most_arguments = 1, .cached = false, .pure = true});
  registry.add_looking("python_version", python_version,
                       {.least_arguments = 0, .most_arguments = 1, .cached = false, .pure = true});
}

}  // namespace profline::config::internal

namespace profline::config {
namespace {

int days_before_month(int year, int month) {
  constexpr int kDays[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  PL_ASSERT(month >= 1 && month <= 12, "a clock counts months from 1 to 12");
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (leap && month > 2 ? 1 : 0);
}

std::tm to_tm(const LocalTime& time) {
  std::tm tm{};
  tm.tm_year = time.year - 1900;
  tm.tm_mon = time.month - 1;
  tm.tm_mday = time.day;
  tm.tm_hour = time.hour;
  tm.tm_min = time.minute;
  tm.tm_sec = time.second;
  tm.tm_isdst = -1;
  tm.tm_yday = days_before_month(time.year, time.month) + time.day - 1;
  const int before = time.year - 1;  // whole years since the year 1, whose first day was a Monday
  tm.tm_wday = (1 + before * 365 + before / 4 - before / 100 + before / 400 + tm.tm_yday) % 7;
  return tm;
}

/// Expands what C's strftime does not support, or would take from this machine's time zone.
std::string with_python_directives(const LocalTime& time, std::string_view format) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : '\0';
    if (next == '\0') {
      out += format[i];
      continue;
    }
    ++i;
    if (next == 'f') {
      const std::string digits = std::to_string(time.microsecond);
      out += std::string(6 - digits.size(), '0') + digits;
    } else if (next != 'z' && next != 'Z') {
      out += '%';
      out += next;
    }
  }
  return out;
}

}  // namespace

std::string format_time(const LocalTime& time, std::string_view format) {
  // The blank distinguishes an empty result from a buffer that is too small.
  const std::string prepared = with_python_directives(time, format) + ' ';
  const std::tm tm = to_tm(time);
  std::vector<char> buffer(256 + prepared.size() * 4);
  std::size_t length = 0;
  while ((length = std::strftime(buffer.data(), buffer.size(), prepared.c_str(), &tm)) == 0 &&
         buffer.size() < (std::size_t{1} << 20U)) {
    buffer.resize(buffer.size() * 4);
  }
  return length == 0 ? std::string() : std::string(buffer.data(), length - 1);
}

}  // namespace profline::config
