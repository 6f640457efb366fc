#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config_tree.h"
#include "config/defaults/group_choices.h"
#include "config/defaults/search_path.h"
#include "config/overrides/override.h"

namespace profline::config {

/// The version of Hydra that this implements, including its defaults.
constexpr const char* kHydraVersion = "1.3.5";
constexpr const char* kHydraVersionBase = "1.3";

/// Facts that are known only after composition.
struct HydraFacts {
  std::span<const Override> overrides;
  std::span<const Choice> choices;
  std::optional<std::string> config_name;
  std::string job_name;
  std::string cwd;
  const SearchPath& search_path;
};

/// Writes the facts into the tree's `hydra` node: overrides, runtime, job. Reasons of an Error:
/// `hydra_node_null` (it is not a map any more), `env_copy_missing` (a variable to copy is not
/// set).
Result<void> fill_hydra_node(ConfigTree& tree, const HydraFacts& facts,
                             const ResolveContext& context);

/// A value of the composed configuration, resolved; the result of an interpolation in the hydra
/// node is converted to the type of its key. Nothing if it is absent or `???`.
Result<std::optional<Node>> typed_value(const Node& root, std::string_view key,
                                        const ResolveContext& context);

/// True for `hydra.run.dir=x` and `hydra/launcher=x`.
bool is_hydra_override(const Override& given);

/// The overrides of the job as one text that can name a folder: `a=3,b=5`, sorted.
std::string override_dirname(std::span<const Override> overrides, const std::string& between_items,
                             const std::string& after_key,
                             std::span<const std::string> excluded_keys);

}  // namespace profline::config
