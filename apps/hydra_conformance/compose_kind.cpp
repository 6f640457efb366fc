

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "config/compose.h"
#include "config/hydra_node.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/load.h"
#include "formats/json.h"
#include "kinds.h"

namespace profline::conformance {
namespace {

config::ResolveContext context_of(const Node& input, const config::ResolverRegistry& resolvers) {
  config::ResolveContext context;
  context.resolvers = &resolvers;
  const Node* environment = input.find("env");
  context.environment = [environment](std::string_view name) -> std::optional<std::string> {
    const Node* found = environment == nullptr ? nullptr : environment->find(name);
    if (found == nullptr || !found->is_string()) return std::nullopt;
    return found->as_string();
  };
  const Node* now = input.find("now");
  const std::string text = now != nullptr && now->is_string() ? now->as_string() : std::string();
  context.clock = [text] { return parse_time(text); };
  return context;
}

Result<config::Composition> composed(const Node& input, const std::filesystem::path& folder,
                                     const config::ResolveContext& context) {
  config::ComposeRequest request;
  // Relative to the folder of the vectors, which is what messages and the search path show.
  const Node* dir = input.find("config_dir");
  std::shared_ptr<const config::ConfigSource> main;
  if (dir != nullptr && dir->is_string()) {
    main = std::make_shared<config::FolderSource>(dir->as_string(), folder);
  }
  request.search_path = config::SearchPath::standard(std::move(main));
  const Node* name = input.find("config_name");
  if (name != nullptr && name->is_string()) request.config_name = name->as_string();
  for (const Node& text : input.find("overrides")->as_list()) {
    request.overrides.push_back(text.as_string());
  }
  request.cwd = folder;
  return config::compose(request, context);
}

bool is_hydra_path(std::string_view path) {
  return path.starts_with("hydra/");
}

Node describe_default(const config::ResolvedDefault& entry) {
  return object({{"path", Node::string(entry.config)},
                 {"package", Node::string(entry.package)},
                 {"self", Node::boolean(entry.is_self)},
                 {"parent", entry.parent ? Node::string(*entry.parent) : Node()}});
}

Node defaults_of(const config::Composition& composition, bool of_hydra) {
  Node list = Node::list();
  for (const config::ResolvedDefault& entry : composition.defaults.entries) {
    if (is_hydra_path(entry.config) == of_hydra) list.as_list().push_back(describe_default(entry));
  }
  return list;
}

Node choices_of(const config::Composition& composition) {
  Node map = Node::map();
  for (const config::Choice& choice : composition.choices) {
    if (is_hydra_path(choice.key)) continue;
    map.as_map().set(choice.key, choice.option ? Node::string(*choice.option) : Node());
  }
  return map;
}

/// The current directory as the vectors write it.
Node masked(Node node, const std::string& cwd) {
  if (node.is_list()) {
    for (Node& item : node.as_list()) item = masked(std::move(item), cwd);
  } else if (node.is_map()) {
    for (NodeMap::Entry& entry : node.as_map()) entry.value = masked(std::move(entry.value), cwd);
  } else if (node.is_string()) {
    std::string text = node.as_string();
    for (std::size_t at = text.find(cwd); !cwd.empty() && at != std::string::npos;
         at = text.find(cwd, at + 5)) {
      text.replace(at, cwd.size(), "{CWD}");
    }
    return Node::string(std::move(text));
  }
  return node;
}

/// The vectors leave out choices of Hydra's own groups.
Node without_hydra_choices(const std::string& key, Node value) {
  if (key != "hydra.runtime.choices" || !value.is_map()) return value;
  Node out = Node::map();
  for (const NodeMap::Entry& entry : value.as_map()) {
    if (!is_hydra_path(entry.key.as_string())) out.as_map().set(entry.key, entry.value);
  }
  return out;
}

Node hydra_value(const std::string& key, const config::Composition& composition,
                 const config::ResolveContext& context, const std::string& cwd) {
  const Result<std::optional<Node>> value = config::typed_value(composition.root, key, context);
  if (!value) return object({{"error", describe_error(value.error())}});
  Node out = Node::map();
  const Node shown = without_hydra_choices(key, value->value_or(Node()));
  out.as_map().set("value", encode(masked(shown, cwd)));
  const Node* raw = composition.root.find_path(key);
  if (raw != nullptr && raw->is_string() && config::holds_interpolation(raw->as_string())) {
    out.as_map().set("raw", *raw);
  }
  return out;
}

void add_resolved(const config::Composition& composition, const config::ResolveContext& context,
                  const std::string& cwd, Node& out) {
  const Node config = encode(composition.config);
  config::Resolution strict(composition.config, context);
  const Result<Node> resolved = strict.resolve_all();
  Node lenient = composition.config;
  const Result<void> in_place = config::resolve_in_place(lenient, context);
  Node encoded;
  if (resolved) {
    encoded = encode(masked(*resolved, cwd));
    out.as_map().set("resolved", encoded == config ? Node::string("=config") : encoded);
  } else {
    out.as_map().set("resolved_error", describe_error(resolved.error()));
  }
  // Reported only if the outcome differs.
  if (!in_place) {
    const bool same = !resolved && resolved.error().reason() == in_place.error().reason();
    if (!same) out.as_map().set("resolved_inplace_error", describe_error(in_place.error()));
  } else if (const Node other = encode(masked(lenient, cwd)); !resolved || !(other == encoded)) {
    out.as_map().set("resolved_inplace", other == config ? Node::string("=config") : other);
  }
}

Node usual_hydra_defaults(const std::filesystem::path& folder) {
  const Result<std::string> text = read_file(folder / "hydra_defaults.json");
  if (!text) return Node::list();
  Result<Node> tree = parse_json(*text, "hydra_defaults.json");
  return tree ? std::move(*tree) : Node::list();
}

}  // namespace

Node answer_compose(const Vector& vector, const std::filesystem::path& relative) {
  const std::filesystem::path folder = std::filesystem::absolute(relative).lexically_normal();
  const config::ResolverRegistry resolvers = config::ResolverRegistry::standard();
  config::ResolveContext context = context_of(vector.input, resolvers);
  const Result<config::Composition> composition = composed(vector.input, folder, context);
  if (!composition) return failure(composition.error());

  context.hydra_root = &composition->root;
  std::string cwd = folder.string();
  while (cwd.size() > 1 && cwd.ends_with('/')) cwd.pop_back();
  Node out = object({{"ok", Node::boolean(true)}, {"config", encode(composition->config)}});
  add_resolved(*composition, context, cwd, out);
  out.as_map().set("defaults", defaults_of(*composition, false));
  out.as_map().set("choices", choices_of(*composition));
  const Node hydra_defaults = defaults_of(*composition, true);
  if (!(hydra_defaults == usual_hydra_defaults(folder))) {
    out.as_map().set("hydra_defaults", hydra_defaults);
  }
  if (const Node* keys = vector.input.find("hydra_keys")) {
    Node values = Node::map();
    for (const Node& key : keys->as_list()) {
      const std::string& name = key.as_string();
      values.as_map().set(name, hydra_value(name, *composition, context, cwd));
    }
    out.as_map().set("hydra", std::move(values));
  }
  return out;
}

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
