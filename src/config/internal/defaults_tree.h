#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/defaults_list.h"

namespace profline::config::internal {

/// Stands for the primary config where there is none.
constexpr const char* kNoPrimary = "_dummy_empty_config_";

struct BuiltDefaults {
  std::unique_ptr<DefaultsTree> tree;
  bool lacks_self = false;
};

/// Follows the defaults lists from the primary config on; see list_defaults.
Result<BuiltDefaults> build_defaults_tree(const DefaultsRequest& request, GroupChoices& choices,
                                          ConfigRepository& repository,
                                          const ResolveContext& context);

/// An Error where the entry was written.
Error error_at(const DefaultItem& item, const std::string& message, const char* reason);

}  // namespace profline::config::internal
