#include "config/internal/standard_resolvers.h"
#include "config/resolve.h"

namespace profline::config::internal {
namespace {

Error problem(std::string message) {
  return {ErrorKind::Config, std::move(message)};
}

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
  if (node == nullptr) return problem("the key 'hydra' holds no map");
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
