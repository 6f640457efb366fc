#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config_tree.h"
#include "config/defaults/defaults_list.h"
#include "config/defaults/group_choices.h"
#include "config/defaults/search_path.h"
#include "config/interpolation/resolve.h"
#include "config/overrides/override.h"
#include "formats/node.h"

namespace profline::config {

enum class RunMode : std::uint8_t {
  Run,       ///< one job; a sweep is an Error
  Multirun,  ///< sweeps are left to be expanded into jobs
};

struct ComposeRequest {
  SearchPath search_path;
  /// The primary config; without one: only Hydra's own and what the overrides add.
  std::optional<std::string> config_name;
  std::vector<std::string> overrides;  ///< as on a command line
  RunMode mode = RunMode::Run;
  std::string job_name = "app";
  /// The base of a relative `hydra.searchpath`.
  std::filesystem::path cwd;
};

/// A composed configuration. Nothing is resolved yet.
struct Composition {
  Node root;    ///< all of it, with its `hydra` node, for ResolveContext::hydra_root
  Node config;  ///< the job's: without the `hydra` node
  DefaultsList defaults;
  std::vector<Choice> choices;  ///< in the order in which they were made
  Origins origins;
  SearchPath search_path;  ///< including what `hydra.searchpath` added
  std::vector<Override> overrides;
  std::vector<std::string> warnings;
};

/// Composes a configuration as Hydra 1.3 does. `context` is for the interpolations that have to be
/// resolved during composition (in defaults lists, in the search path).
///
/// Each Error has a position and a reason: those of parse_override, load_config, list_defaults,
/// ConfigTree, apply_overrides and fill_hydra_node, and `primary_not_dict`, `searchpath_type`,
/// `searchpath_not_primary`, `unknown_scheme`, `sweep_ambiguous`, `sweep_requires_multirun`.
Result<Composition> compose(const ComposeRequest& request, const ResolveContext& context);

}  // namespace profline::config
