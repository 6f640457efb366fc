#include "config/defaults/defaults_list.h"

#include <unordered_set>

#include "config/defaults/internal/defaults_tree.h"

namespace profline::config {
namespace {

/// The config to merge for a leaf of the tree; nothing for a deleted or null one.
std::optional<ResolvedDefault> resolved(const DefaultsTree& leaf) {
  const DefaultItem& item = leaf.item;
  if (item.is_root() || item.is_deleted || item.is_missing() || !item.name()) return std::nullopt;
  const bool is_self = item.is_self();
  const DefaultsTree& holder = is_self ? *leaf.parent : leaf;
  ResolvedDefault out;
  out.config = holder.item.config_path();
  out.package = holder.item.final_package();
  out.is_primary = holder.item.is_primary;
  out.is_self = is_self;
  if (holder.parent != nullptr) out.parent = holder.parent->item.config_path();
  out.mark = item.mark();
  if (!is_self && item.is_group()) out.override_key = item.override_key();
  if (out.config == internal::kNoPrimary) return std::nullopt;
  return out;
}

void collect(const DefaultsTree& tree, std::vector<ResolvedDefault>& out) {
  if (tree.children.empty()) {
    if (std::optional<ResolvedDefault> entry = resolved(tree)) out.push_back(std::move(*entry));
    return;
  }
  for (const std::unique_ptr<DefaultsTree>& child : tree.children) collect(*child, out);
}

Result<void> check_no_duplicates(const std::vector<ResolvedDefault>& entries,
                                 const GroupChoices& choices) {
  std::unordered_set<std::string> keys;
  for (const ResolvedDefault& entry : entries) {
    if (!entry.override_key || keys.insert(*entry.override_key).second) continue;
    if (auto again = choices.added_again(*entry.override_key, "duplicate_in_defaults")) {
      return std::move(*again);
    }
    return Error(
               ErrorKind::Config,
               "the group '" + *entry.override_key +
                   "' is in the final defaults list more than once, the second time because of '" +
                   entry.parent.value_or("") + "'",
               entry.mark.position())
        .with_reason("duplicate_in_defaults");
  }
  return {};
}

}  // namespace

Result<DefaultsList> list_defaults(const DefaultsRequest& request, GroupChoices& choices,
                                   ConfigRepository& repository, const ResolveContext& context) {
  internal::BuiltDefaults built =
      PL_TRY(internal::build_defaults_tree(request, choices, repository, context));
  DefaultsList list;
  list.tree = std::move(built.tree);
  list.lacks_self = built.lacks_self;
  collect(*list.tree, list.entries);
  PL_TRY(check_no_duplicates(list.entries, choices));
  PL_TRY(choices.check_all_used(repository));
  return list;
}

}  // namespace profline::config
