#include <charconv>

#include "config/interpolation/load.h"
#include "kinds.h"

namespace profline::conformance {
namespace {

using config::LocalTime;
using config::Resolution;
using config::ResolveContext;
using config::ResolverCall;
using config::ResolverRegistry;
using config::Value;

/// The resolvers in `needs`: `resolver:args`, `resolver:identity`.
void add_needed(const Node& needs, ResolverRegistry& registry) {
  if (!needs.is_list()) return;
  for (const Node& name : needs.as_list()) {
    if (name == Node::string("resolver:args")) {
      registry.add_looking("args", [](const ResolverCall& call) -> Result<Value> {
        return Value(Value::Items(call.arguments.begin(), call.arguments.end()));
      });
    } else if (name == Node::string("resolver:identity")) {
      registry.add_looking(
          "identity", [](const ResolverCall& call) -> Result<Value> { return call.arguments[0]; },
          {.least_arguments = 1, .most_arguments = 1});
    }
  }
}

Result<Node> value_of(const Node& input, const Node& tree, const ResolveContext& context) {
  const Node* op = input.find("op");
  const Node* key = input.find("key");
  const std::string name = op != nullptr && op->is_string() ? op->as_string() : "";
  Resolution resolution(tree, context);
  if (name == "container") return resolution.resolve_all();
  if (key == nullptr || !key->is_string()) {
    return Error(ErrorKind::Parse, "the vector has no key");
  }
  if (name == "get") return resolution.get(key->as_string());
  if (name == "select") return PL_TRY(resolution.select(key->as_string())).value_or(Node());
  return Error(ErrorKind::Parse, "the vector's op is '" + name + "'");
}

Result<Node> resolve(const Vector& vector, std::vector<std::string>& warnings) {
  const Node* yaml = vector.input.find("yaml");
  if (yaml == nullptr || !yaml->is_string()) {
    return Error(ErrorKind::Parse, "the vector has no YAML text");
  }
  const Node tree = PL_TRY(config::load_config(yaml->as_string(), "config.yaml"));
  ResolverRegistry registry = ResolverRegistry::standard();
  add_needed(vector.needs, registry);
  ResolveContext context = resolve_context(vector.input);
  context.resolvers = &registry;
  context.warn = [&](std::string message) { warnings.push_back(std::move(message)); };
  return value_of(vector.input, tree, context);
}

}  // namespace

LocalTime parse_time(std::string_view text) {
  LocalTime time;
  int* const fields[] = {&time.year,   &time.month,  &time.day,        &time.hour,
                         &time.minute, &time.second, &time.microsecond};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* field : fields) {
    const auto parsed = std::from_chars(at, end, *field);
    if (parsed.ptr == end) break;
    at = parsed.ptr + 1;  // the sign between two fields
  }
  return time;
}

ResolveContext resolve_context(const Node& input) {
  ResolveContext context;
  if (const Node* variables = input.find("env")) {
    context.environment = [variables](std::string_view name) -> std::optional<std::string> {
      const Node* value = variables->find(name);
      if (value == nullptr || !value->is_string()) return std::nullopt;
      return value->as_string();
    };
  }
  if (const Node* now = input.find("now"); now != nullptr && now->is_string()) {
    context.clock = [time = parse_time(now->as_string())] { return time; };
  }
  return context;
}

Node answer_resolve(const Vector& vector, const std::filesystem::path& /*folder*/) {
  std::vector<std::string> warnings;
  const Result<Node> value = resolve(vector, warnings);
  if (!value) return failure(value.error());
  Node answer = object({{"ok", Node::boolean(true)}, {"value", encode(*value)}});
  if (!warnings.empty()) {
    Node list = Node::list();
    for (std::string& warning : warnings) {
      list.as_list().push_back(Node::string(std::move(warning)));
    }
    answer.as_map().set("warnings", std::move(list));
  }
  return answer;
}

}  // namespace profline::conformance
