#include "config/compose.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config_tree.h"
#include "config/hydra_node.h"
#include "config/interpolation/load.h"
#include "config/interpolation/value.h"
#include "config/overrides/override.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

bool is_number(const Node& node) {
  return node.is_bool() || node.is_int() || node.is_float() || node.kind() == Node::Kind::BigInt;
}

/// Equality as in Python: 1, 1.0 and True are equal, and so are maps in any order.
bool is_equal(const Node& a, const Node& b) {
  if (is_number(a) && is_number(b)) {
    return a == b || (to_double(a) && to_double(a) == to_double(b));
  }
  if (a.is_list() && b.is_list()) {
    return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                      b.as_list().end(), is_equal);
  }
  if (!a.is_map() || !b.is_map()) return a == b;
  if (a.as_map().size() != b.as_map().size()) return false;
  return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const NodeMap::Entry& entry) {
    const Node* other = b.as_map().find(entry.key);
    return other != nullptr && is_equal(entry.value, *other);
  });
}

/// The column of a step of the override's key.
std::uint32_t step_column(const Override& given, std::size_t step) {
  std::size_t at = 0;
  for (; step > 0 && at != std::string::npos; --step) at = given.key.find('.', at + 1);
  const std::size_t skipped = at == 0 || at == std::string::npos ? 0 : at + 1;
  return given.key_column + static_cast<std::uint32_t>(skipped);
}

/// Where each step of the override's key is written.
std::vector<Mark> step_marks(const Override& given, std::size_t steps) {
  const auto source = std::make_shared<const std::string>(given.place.source);
  std::vector<Mark> marks;
  marks.reserve(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    marks.push_back({source, given.place.line, step_column(given, i)});
  }
  return marks;
}

/// The same failure, reported at the override.
Error at_override(const Override& given, const Error& problem, std::uint32_t column) {
  const std::optional<Position>& at = problem.position();
  if (at && at->source == given.place.source && at->column != 0) column = at->column;
  // A reason is a literal, so its view is NUL-terminated.
  return given.error(problem.message(), column).with_reason(problem.reason().data());
}

Result<Node> value_of(const Override& given) {
  if (!given.value) return Node();
  Result<Node> value = to_node(*given.value, given.place.source);
  if (!value) return at_override(given, value.error(), given.key_column);
  return value;
}

/// Checks that the value can be part of a config. A value that is only compared, to delete a key,
/// may be anything.
Result<void> check_value(const Override& given, const Node& value) {
  if (given.type == OverrideType::Delete) return {};
  const Result<void> checked = check_config(value);
  if (checked) return {};
  const Error& problem = checked.error();
  if (problem.reason() != "key_type") return at_override(given, problem, given.key_column);
  // In a file a null key cannot be read; in an override it is an invalid value.
  return given.error(problem.message(), given.value->column()).with_reason("validation");
}

Result<void> change(const Override& given, Node value, bool force, ConfigTree& tree) {
  ConfigTree::Change change{split_key(given.key), std::move(value), force};
  if (change.steps.size() > kMaxKeySteps) {
    return given
        .error("the key has " + std::to_string(change.steps.size()) + " steps; at most " +
                   std::to_string(kMaxKeySteps) + " are allowed",
               given.key_column)
        .with_reason("key_too_deep");
  }
  if (force) change.marks = step_marks(given, change.steps.size());
  const Result<void> done = tree.change(change);
  if (done) return {};
  const Error& problem = done.error();
  const std::uint32_t column = step_column(given, change.failed_step);
  if (problem.reason() != "key_not_in_config" || force) return at_override(given, problem, column);
  return given.error(problem.message() + "; to add it write +" + given.text, column)
      .with_reason("key_not_in_config");
}

Result<void> remove(const Override& given, const Node& value, ConfigTree& tree) {
  const Node* found = PL_TRY(tree.select(given.key));
  if (found == nullptr) {
    return given.error("there is no '" + given.key + "' to delete", given.key_column)
        .with_reason("delete_missing_key");
  }
  if (!value.is_null() && !is_equal(value, *found)) {
    return given
        .error("'" + given.key + "' is not deleted, because its value is " + python_repr(*found) +
                   " and not " + python_repr(value),
               given.key_column)
        .with_reason("delete_value_mismatch");
  }
  return tree.erase(given.key);
}

Result<void> add(const Override& given, Node value, ConfigTree& tree) {
  const Node* found = PL_TRY(tree.select(given.key));
  if (found != nullptr && value.is_scalar()) {
    return given
        .error("'" + given.key + "' already exists; to change it write " + given.text.substr(1) +
                   ", to add or change it +" + given.text,
               given.key_column)
        .with_reason("add_existing");
  }
  return change(given, std::move(value), true, tree);
}

/// Checks that a plain `key=value` names an existing key: this is reported before problems with the
/// value. After an Error the tree is not used any more.
Result<void> check_key(const Override& given, const Node& value, ConfigTree& tree) {
  if (given.type != OverrideType::Change || !value.is_map()) return {};
  return change(given, Node::map(), false, tree);
}

Result<void> apply(const Override& given, ConfigTree& tree) {
  if (given.package) {
    return given
        .error("'@" + *given.package + "' names the package of a config group, but there is no " +
                   "group '" + given.key + "'",
               given.key_column)
        .with_reason("not_a_group");
  }
  Node value = PL_TRY(value_of(given));
  if (const Result<void> checked = check_value(given, value); !checked) {
    PL_TRY(check_key(given, value, tree));
    return checked;
  }
  switch (given.type) {
    case OverrideType::Delete:
      return remove(given, value, tree);
    case OverrideType::Add:
      return add(given, std::move(value), tree);
    case OverrideType::ForceAdd:
      return change(given, std::move(value), true, tree);
    case OverrideType::Change:
      break;
  }
  return change(given, std::move(value), false, tree);
}

/// The end of a group's name instead of a key: `server=vllm` for `workload/server=vllm`.
std::optional<Error> group_meant(const Override& given, std::span<const Choice> choices) {
  if (given.type != OverrideType::Change || given.key.empty()) return std::nullopt;
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) {
    const std::string_view group = std::string_view(choice.key).substr(0, choice.key.find('@'));
    return group.ends_with("/" + given.key);
  });
  if (found == choices.end()) return std::nullopt;
  return given
      .error("there is no key '" + given.key + "'; to choose from the group write " + found->key +
                 "=" + std::string(given.value_text().value_or("")),
             given.key_column)
      .with_reason("key_not_in_config");
}

/// Applies overrides of values, in order: `key=value` changes an existing value, `+key=value` adds
/// one, `++key=value` does either, `~key` deletes it.
///
/// Each Error shows the override with a caret. Reasons: `key_not_in_config`, `add_existing`,
/// `delete_missing_key`, `delete_value_mismatch`, `not_a_group` (a package, but no such group),
/// `grammar`, `validation` (null as a key of a map), `key_too_deep`, and those of ConfigTree.
Result<void> apply_overrides(std::span<const Override* const> overrides,
                             std::span<const Choice> choices, ConfigTree& tree) {
  for (const Override* given : overrides) {
    const Result<void> done = apply(*given, tree);
    if (done) continue;
    const Error& problem = done.error();
    if (problem.reason() == "key_not_in_config") {
      if (auto of_group = group_meant(*given, choices)) return *of_group;
    }
    // An error from resolving names a file; where it happened comes first.
    if (problem.position() && problem.position()->source == given->place.source) return problem;
    return at_override(*given, problem, given->key_column);
  }
  return {};
}

std::string three_meanings(const std::string& key, const std::string& text) {
  return "'" + text + "' is ambiguous: for a list write " + key + "=[" + text +
         "], for a string quote it (" + key + "='" + text +
         "'), and to run one job for each add --multirun";
}

Result<void> check_main_source(const SearchPath& path) {
  for (const SearchPath::Entry& entry : path.entries()) {
    if (entry.provider != "main" || entry.source->is_available()) continue;
    return Error(ErrorKind::NotFound,
                 "there is no folder of configs '" + entry.source->path() + "'")
        .with_reason("primary_config_not_found");
  }
  return {};
}

/// An Error if an override has several values although there is only one job.
Result<void> check_sweeps(const std::vector<Override>& overrides, RunMode mode) {
  for (const Override& given : overrides) {
    if (!given.is_sweep()) continue;
    const std::uint32_t column = given.value->column();
    if (mode == RunMode::Multirun) {
      if (!is_hydra_override(given)) continue;
      return given.error("Hydra's own settings cannot be swept over", column)
          .with_reason("sweep_over_hydra");
    }
    const std::string text(given.value_text().value_or(""));
    const auto* choice = given.value->get<ChoiceSweep>();
    if (choice != nullptr && choice->simple) {
      return given.error(three_meanings(given.key_element(), text), column)
          .with_reason("sweep_ambiguous");
    }
    return given.error("'" + text + "' stands for several values, which needs --multirun", column)
        .with_reason("sweep_requires_multirun");
  }
  return {};
}

Error searchpath_error(const Node& value) {
  return Error(ErrorKind::Config,
               "hydra.searchpath must be a list of strings, not " +
                   std::string(describe(value.kind())),
               value.position())
      .with_reason("searchpath_type");
}

class Composer {
 public:
  Composer(const ComposeRequest& request, const ResolveContext& context)
      : request_(request),
        context_(context),
        repository_(request.search_path, context),
        tree_(context) {}

  Result<Composition> run() {
    PL_TRY(check_main_source(request_.search_path));
    out_.overrides = PL_TRY(parse_overrides(request_.overrides));
    PL_TRY(extend_search_path());
    PL_TRY(check_sweeps(out_.overrides, request_.mode));
    GroupChoices choices = PL_TRY(GroupChoices::from(out_.overrides, repository_));
    const DefaultsRequest defaults{request_.config_name, request_.mode == RunMode::Multirun};
    out_.defaults = PL_TRY(list_defaults(defaults, choices, repository_, context_));
    if (out_.defaults.lacks_self) {
      out_.warnings.push_back("the defaults list of '" + request_.config_name.value_or("") +
                              "' lacks _self_, so the config's own values count last");
    }
    for (const ResolvedDefault& entry : out_.defaults.entries) PL_TRY(merge(entry));
    PL_TRY(check_hydra_node());
    tree_.close();
    PL_TRY(apply_overrides(choices.value_overrides(), choices.choices(), tree_));
    for (const Override* given : choices.value_overrides()) out_.origins.add_override(*given);
    out_.choices = choices.choices();
    return finish();
  }

 private:
  /// The places that the primary config or the command line adds.
  Result<void> extend_search_path() {
    Node places;
    std::string provider = "hydra.searchpath in main";
    if (request_.config_name) {
      const auto primary = PL_TRY(repository_.load(*request_.config_name));
      if (primary && !primary->tree.is_map()) {
        return Error(ErrorKind::Config,
                     "the primary config '" + *request_.config_name + "' must be a map, not " +
                         std::string(describe(primary->tree.kind())),
                     primary->tree.position())
            .with_reason("primary_not_dict");
      }
      if (primary) places = PL_TRY(searchpath_in(primary->tree));
    }
    const auto given =
        std::find_if(out_.overrides.begin(), out_.overrides.end(),
                     [](const Override& one) { return one.key_element() == "hydra.searchpath"; });
    if (given != out_.overrides.end()) {
      if (given->is_sweep()) {
        return given->error("hydra.searchpath must be a list of strings", given->value->column())
            .with_reason("searchpath_type");
      }
      Node value = PL_TRY(to_node(*given->value, given->place.source));
      if (!value.is_null()) {
        places = std::move(value);
        provider = "hydra.searchpath in command-line";
      }
    }
    if (places.is_null()) return {};
    return append_places(places, provider);
  }

  Result<Node> searchpath_in(const Node& primary) const {
    const Node* hydra = primary.find("hydra");
    if (hydra == nullptr || hydra->find("searchpath") == nullptr) return Node();
    Resolution resolution(primary, context_);
    const std::optional<Node> found = PL_TRY(resolution.select("hydra.searchpath"));
    return found.value_or(Node());
  }

  Result<void> append_places(const Node& places, const std::string& provider) {
    if (!places.is_list()) return searchpath_error(places);
    SearchPath path = repository_.path();
    for (const Node& place : places.as_list()) {
      if (!place.is_string()) return searchpath_error(place);
      path.append(provider, PL_TRY(source_at(place.as_string(), request_.cwd)));
    }
    for (const SearchPath::Entry& entry : path.entries()) {
      if (entry.source->is_available()) continue;
      out_.warnings.push_back("there is nothing at " + entry.location() + ", which is named by " +
                              entry.provider);
    }
    repository_.replace_path(std::move(path));
    return {};
  }

  Result<void> merge(const ResolvedDefault& entry) {
    const auto loaded = PL_TRY(repository_.load(entry.config));
    PL_ASSERT(loaded != nullptr, "list_defaults names only configs that it has loaded");
    Node source = PL_TRY(embedded(loaded->tree, entry));
    if (!entry.is_primary && entry.config != "hydra/config") {
      PL_TRY(check_no_searchpath(source, entry.config));
    }
    if (loaded->is_schema) note_schema(entry);
    Result<void> merged = tree_.merge(std::move(source));
    if (!merged) return std::move(merged).error().during("composing '" + entry.config + "'");
    out_.origins.add_config(entry.config, entry.package, loaded);
    if (loaded->is_schema && entry.config == "hydra/config") {
      types_ = hydra_types(basic_launcher_, basic_sweeper_);
      return tree_.set_types(types_);
    }
    return {};
  }

  void note_schema(const ResolvedDefault& entry) {
    if (entry.config == "hydra/launcher/basic") basic_launcher_ = true;
    if (entry.config == "hydra/sweeper/basic") basic_sweeper_ = true;
  }

  /// The config nested in its package: `a.b` -> `{a: {b: config}}`.
  static Result<Node> embedded(Node config, const ResolvedDefault& entry) {
    if (entry.package.empty()) return config;
    const std::vector<std::string> steps = split_key(entry.package);
    if (steps.size() > kMaxKeySteps) {
      return Error(ErrorKind::Config,
                   "the package of '" + entry.config + "' has " + std::to_string(steps.size()) +
                       " steps; at most " + std::to_string(kMaxKeySteps) + " are allowed",
                   entry.mark.position())
          .with_reason("key_too_deep");
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      Node outer = Node::map();
      outer.as_map().set(*step, std::move(config));
      config = std::move(outer);
    }
    return config;
  }

  static Result<void> check_no_searchpath(const Node& source, const std::string& config) {
    const Node* hydra = source.find("hydra");
    const Node* places = hydra == nullptr ? nullptr : hydra->find("searchpath");
    if (places == nullptr || places->is_null() || is_missing(*places)) return {};
    return Error(ErrorKind::Config,
                 "'" + config + "' sets hydra.searchpath, which only the primary config and the " +
                     "command line may do",
                 places->position())
        .with_reason("searchpath_not_primary");
  }

  Result<void> check_hydra_node() const {
    const Node* hydra = tree_.root().find("hydra");
    if (hydra == nullptr || hydra->is_map()) return {};
    return Error(ErrorKind::Config,
                 "'hydra' must be a map, not " + std::string(describe(hydra->kind())),
                 hydra->position())
        .with_reason("hydra_node_null");
  }

  Result<Composition> finish() {
    PL_TRY(fill_hydra_node(tree_,
                           {out_.overrides, out_.choices, request_.config_name, request_.job_name,
                            request_.cwd.string(), repository_.path()},
                           context_));
    out_.root = std::move(tree_.root());
    out_.config = Node::map();
    out_.config.set_mark(out_.root.mark());
    for (const NodeMap::Entry& entry : out_.root.as_map()) {
      const bool is_hydra = entry.key.is_string() && entry.key.as_string() == "hydra";
      if (!is_hydra) out_.config.as_map().set(entry.key, entry.value);
    }
    out_.search_path = repository_.path();
    return std::move(out_);
  }

  const ComposeRequest& request_;
  const ResolveContext& context_;
  ConfigRepository repository_;
  ConfigTree tree_;
  TypeRule types_;
  bool basic_launcher_ = false;
  bool basic_sweeper_ = false;
  Composition out_;
};

}  // namespace

Result<Composition> compose(const ComposeRequest& request, const ResolveContext& context) {
  return Composer(request, context).run();
}

}  // namespace profline::config
