#include "config_command.h"

#include <cstdio>

#include "config/hydra_node.h"
#include "config_info.h"
#include "config_keys.h"
#include "configuration.h"
#include "formats/json_write.h"
#include "formats/yaml_write.h"
#include "key_docs.h"
#include "position_json.h"
#include "schema/value_text.h"
#include "standard_streams.h"

namespace profline {
namespace {

/// What of the configuration to show.
struct Showing {
  std::string part;  ///< `job`, `hydra` or `all`
  std::optional<std::string> package;
  bool resolve = false;
};

/// The part without what is there for Hydra's own help only.
Node hydra_part(const Node& root) {
  Node part = Node::map();
  Node hydra = *root.find("hydra");
  hydra.as_map().erase("hydra_help");
  hydra.as_map().erase("help");
  part.as_map().set("hydra", std::move(hydra));
  return part;
}

Result<Node> whole_part(const Configuration& configuration, const Showing& showing) {
  const config::Composition& composition = configuration.composition();
  Node tree = showing.part == "job" ? composition.config : composition.root;
  if (showing.resolve) PL_TRY(config::resolve_in_place(tree, configuration.context()));
  return showing.part == "hydra" ? hydra_part(tree) : tree;
}

/// The value at the package, an interpolation there followed as OmegaConf.select does.
Result<Node> packaged(const Configuration& configuration, const Showing& showing) {
  const config::Composition& composition = configuration.composition();
  const Node& tree = showing.part == "job" ? composition.config : composition.root;
  config::Resolution resolution(tree, configuration.context());
  const config::Selection found =
      PL_TRY(resolution.find(resolution.root(), *showing.package, true));
  if (found.outcome != config::Selection::Outcome::Found) {
    return no_such_key(tree, *showing.package);
  }
  const config::Place* container = found.value.container();
  if (container != nullptr && !showing.resolve) return *container->node;
  return resolution.resolved(found.value);
}

bool is_shown(const std::string& key, const Showing& showing) {
  if (showing.part == "hydra") return false;
  return !showing.package || key.starts_with(*showing.package + ".");
}

/// As comments, so that what is printed stays the config.
std::string filled_in_text(const Node& config, const Showing& showing) {
  std::string text;
  for (const schema::FieldDoc& doc : filled_in_keys(config)) {
    if (!is_shown(doc.path, showing)) continue;
    if (text.empty()) text = "# Not set, so profline's own value holds:\n";
    text += "#   " + doc.path + ": " + doc.default_text + '\n';
  }
  return text;
}

/// Scalars for scripts: a string as it is, without quotes.
std::string as_text(const Node& value, const Showing& showing, const Node& config) {
  if (value.is_string()) return value.as_string() + '\n';
  if (value.is_scalar()) return schema::value_text(value) + '\n';
  const std::string header = showing.package ? "# @package " + *showing.package + '\n' : "";
  return header + write_yaml(value) + filled_in_text(config, showing);
}

Result<std::string> as_json(const Node& value, const Showing& showing,
                            const config::Composition& composition,
                            const std::vector<Error>& problems) {
  NodeMap document;
  document.set("schema", Node::string("profline.config/1"));
  document.set("part", Node::string(showing.part));
  document.set("package", showing.package ? Node::string(*showing.package) : Node());
  document.set("resolved", Node::boolean(showing.resolve));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  document.set("overrides", std::move(overrides));
  document.set("config", value);
  Node filled = Node::map();
  for (const schema::FieldDoc& doc : filled_in_keys(composition.config)) {
    if (is_shown(doc.path, showing)) filled.as_map().set(doc.path, Node::string(doc.default_text));
  }
  document.set("filled_in", std::move(filled));
  document.set("problems", problems_json(problems));
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

}  // namespace

std::vector<Option> config_showing_options() {
  using Takes = Option::Takes;
  return {
      {"--cfg",
       "-c",
       Takes::Value,
       "PART",
       "which config: the job's, the hydra node, or both",
       {"job", "hydra", "all"}},
      {"--package", "-p", Takes::Value, "KEY", "only what is at this key"},
      {"--resolve", "", Takes::Nothing, "", "with the values of all interpolations"},
      {"--info", "-i", Takes::MaybeValue, "WHAT", "how the config came to be", info_names()},
  };
}

std::vector<Option> ConfigVerb::options() const {
  std::vector<Option> options = config_choice_options();
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> ConfigVerb::run(const Services& /*services*/, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const auto configuration = PL_TRY(Configuration::compose(config_choice(arguments)));
  const bool json = invocation.output.format == OutputFormat::Json;
  if (arguments.has("--info")) {
    const std::string what = arguments.value("--info").value_or("all");
    const std::string text =
        json ? PL_TRY(info_json(*configuration, what)) : info_text(*configuration, what);
    print_remarks(*configuration, invocation.output);
    PL_TRY(print_result(text));
    return ExitCode::Done;
  }
  Showing showing{arguments.value("--cfg").value_or("job"), arguments.value("--package"),
                  arguments.has("--resolve")};
  if (showing.package == "_global_") showing.package.reset();
  const Node value = showing.package ? PL_TRY(packaged(*configuration, showing))
                                     : PL_TRY(whole_part(*configuration, showing));
  const std::vector<Error> problems = configuration->problems();
  print_remarks(*configuration, invocation.output);
  const std::string text =
      json ? PL_TRY(as_json(value, showing, configuration->composition(), problems))
           : as_text(value, showing, configuration->composition().config);
  PL_TRY(print_result(text));
  if (problems.empty()) return ExitCode::Done;
  return Error::all(problems);
}

}  // namespace profline
