#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "config/defaults/default_item.h"
#include "config/defaults/search_path.h"
#include "config/overrides/override.h"

namespace profline::config {

/// A group and the option that was chosen for it, if any.
struct Choice {
  std::string key;  ///< `db`, `db@backup`
  std::optional<std::string> option;
  bool operator==(const Choice&) const = default;
};

/// What the command line and the `override` entries of defaults lists say about groups, and the
/// final choices.
class GroupChoices {
 public:
  /// Picks the overrides that are about groups. An Error has the reason `group_force_add` or
  /// `group_value_type`. The overrides must outlive this.
  static Result<GroupChoices> from(std::span<const Override> overrides,
                                   const ConfigRepository& repository);

  /// The overrides that are about values.
  const std::vector<const Override*>& value_overrides() const { return value_overrides_; }
  /// What `+group=option` appends to the primary config's defaults list.
  const std::vector<DefaultItem>& appended() const { return appended_; }

  /// An `override` entry in the list of `config`. The first one for a key counts.
  void add_override(const std::string& config, const DefaultItem& item);
  /// Sets the item's option to the one that overrides it, if any.
  void apply_override(DefaultItem& item);
  /// Marks the item as deleted if the command line does so.
  bool apply_deletion(DefaultItem& item);
  /// Records the choice. An Error (reason `multiple_values`) if another option was chosen before.
  Result<void> note_choice(const DefaultItem& item);
  /// The Error, with this reason, if the command line adds a group (`+key=option`) that is already
  /// in the defaults list; nothing otherwise.
  std::optional<Error> added_again(const std::string& key, const char* reason) const;

  /// An Error (reason `group_override_no_match`, `group_delete_no_match`) about the first override
  /// or deletion that matched no entry.
  Result<void> check_all_used(const ConfigRepository& repository) const;

  /// In the order in which they were made.
  const std::vector<Choice>& choices() const { return choices_; }

 private:
  struct Replacement {
    std::string key;
    Node value;
    const Override* given = nullptr;  ///< on the command line; null: in the list of `config`
    std::string config;
    Mark mark;
    bool used = false;
  };
  struct Deletion {
    std::string key;
    std::optional<std::string> option;
    const Override* given = nullptr;
    bool used = false;
  };

  Result<void> add_external(const Override& given);
  Error unused_override(const Replacement& replacement, const ConfigRepository& repository) const;

  std::vector<const Override*> value_overrides_;
  std::vector<DefaultItem> appended_;
  std::vector<const Override*> appended_by_;  // of each item
  std::vector<Replacement> replacements_;
  std::unordered_map<std::string, std::size_t> replacement_of_;
  std::vector<Deletion> deletions_;
  std::unordered_map<std::string, std::size_t> deletion_of_;
  std::vector<Choice> choices_;
  std::unordered_map<std::string, std::size_t> choice_of_;
  std::unordered_map<std::string, std::vector<std::string>> keys_of_group_;
};

}  // namespace profline::config
