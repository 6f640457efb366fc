#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/defaults/default_item.h"
#include "config/defaults/defaults_list.h"
#include "config/defaults/group_choices.h"
#include "config/interpolation/resolve.h"
#include "formats/node.h"

namespace profline::config::internal {

/// Replaces a missing primary config.
constexpr const char* kNoPrimary = "_dummy_empty_config_";

struct BuiltDefaults {
  std::unique_ptr<DefaultsTree> tree;
  bool lacks_self = false;
};

/// Follows the defaults lists from the primary config on; see list_defaults.
Result<BuiltDefaults> build_defaults_tree(const DefaultsRequest& request, GroupChoices& choices,
                                          ConfigRepository& repository,
                                          const ResolveContext& context);

/// An Error at the place of the entry.
Error error_at(const DefaultItem& item, const std::string& message, const char* reason);

/// What an interpolation in a defaults list may refer to: the groups chosen so far, by their
/// override keys, and the `list` itself.
Node known_choices(const std::vector<DefaultItem>& list, bool self_added,
                   std::span<const Choice> choices);

/// Replaces the entry's interpolation with its value. The reason of an Error is
/// `defaults_interpolation`.
Result<void> resolve_interpolation(DefaultItem& item, const Node& known,
                                   const ResolveContext& context);

}  // namespace profline::config::internal
