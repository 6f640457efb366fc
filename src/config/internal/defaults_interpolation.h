#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "config/default_item.h"
#include "config/group_choices.h"
#include "config/resolve.h"
#include "formats/node.h"

namespace profline::config::internal {

/// What an interpolation in a defaults list may refer to: the groups chosen so far, by their
/// override keys, and the `list` itself.
Node known_choices(const std::vector<DefaultItem>& list, bool self_added,
                   std::span<const Choice> choices);

/// Replaces the entry's interpolation by its value. The reason of an Error is
/// `defaults_interpolation`.
Result<void> resolve_interpolation(DefaultItem& item, const Node& known,
                                   const ResolveContext& context);

}  // namespace profline::config::internal
