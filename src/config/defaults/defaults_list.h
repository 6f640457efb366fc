#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/defaults/default_item.h"
#include "config/defaults/group_choices.h"
#include "config/defaults/search_path.h"
#include "config/interpolation/resolve.h"

namespace profline::config {

/// How deeply configs may include one another, and how many entries there may be. Beyond that, a
/// cycle or a list that doubles at each level is the likely cause.
constexpr std::size_t kMaxDefaultsDepth = 300;
constexpr std::size_t kMaxDefaults = 20'000;

/// An entry and the entries that its config includes, in the order of the lists.
struct DefaultsTree {
  DefaultItem item;
  std::vector<std::unique_ptr<DefaultsTree>> children;
  DefaultsTree* parent = nullptr;
};

/// One config to merge.
struct ResolvedDefault {
  std::string config;                 ///< `db/mysql`
  std::optional<std::string> parent;  ///< the config that includes it, `<root>` for the primary
  std::string package;                ///< '' is the root of everything
  bool is_self = false;               ///< named by a `_self_`
  bool is_primary = false;
  std::optional<std::string> override_key;  ///< of a group
  Mark mark;                                ///< where its entry is written
};

struct DefaultsList {
  std::unique_ptr<DefaultsTree> tree;
  std::vector<ResolvedDefault> entries;  ///< in merge order
  /// The primary config's list lacks `_self_`, although the config has its own content.
  bool lacks_self = false;
};

struct DefaultsRequest {
  /// Without one: only Hydra's config and what the command line adds.
  std::optional<std::string> primary;
  /// Omit groups whose option is `???`, for a sweep that will choose it.
  bool skip_missing = false;
};

/// Follows the defaults lists from the primary config on, with the options given by `choices`.
///
/// Reasons of an Error: `primary_config_not_found`, `group_option_not_found`, `must_specify_group`,
/// `duplicate_self`, `override_not_last`, `override_in_interpolated_subtree`,
/// `options_interpolation`, `defaults_interpolation`, `multiple_values`, `duplicate_in_defaults`,
/// `defaults_cycle`, those of GroupChoices::check_all_used, and those of loading a config.
Result<DefaultsList> list_defaults(const DefaultsRequest& request, GroupChoices& choices,
                                   ConfigRepository& repository, const ResolveContext& context);

}  // namespace profline::config
