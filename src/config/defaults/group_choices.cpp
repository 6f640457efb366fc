#include "config/defaults/group_choices.h"

#include <algorithm>

#include "base/strings.h"

namespace profline::config {
namespace {

std::uint32_t value_column(const Override& given) {
  return given.value ? std::max<std::uint32_t>(given.value->column(), 1) : 1;
}

/// `db@backup`: the key element without its prefix.
std::string key_of(const Override& given) {
  return given.package ? given.key + "@" + *given.package : given.key;
}

Mark mark_of(const Override& given) {
  return {std::make_shared<const std::string>(given.place.source), 1, given.key_column};
}

bool is_list_of_strings(const Node& value) {
  return value.is_list() && std::all_of(value.as_list().begin(), value.as_list().end(),
                                        [](const Node& item) { return item.is_string(); });
}

Error value_error(const Override& given, const Node& value, const std::string& wanted) {
  return given
      .error("the option of the group '" + given.key + "' must be " + wanted + ", not " +
                 std::string(describe(value.kind())),
             value_column(given))
      .with_reason("group_value_type");
}

}  // namespace

Result<GroupChoices> GroupChoices::from(std::span<const Override> overrides,
                                        const ConfigRepository& repository) {
  GroupChoices out;
  for (const Override& given : overrides) {
    if (given.is_sweep()) continue;
    const bool is_dict = given.value && given.value->get<OverrideValue::Dict>() != nullptr;
    if (is_dict || !repository.has_group(given.key)) {
      out.value_overrides_.push_back(&given);
    } else {
      PL_TRY(out.add_external(given));
    }
  }
  return out;
}

Result<void> GroupChoices::add_external(const Override& given) {
  if (given.type == OverrideType::ForceAdd) {
    return given
        .error("'++' is for values, and '" + given.key + "' is a config group; write +" +
                   key_of(given) + "=" + std::string(given.value_text().value_or("option")),
               1)
        .with_reason("group_force_add");
  }
  Node value;
  if (given.value) value = PL_TRY(to_node(*given.value, given.place.source));
  if (given.type == OverrideType::Delete) {
    if (!value.is_null() && !value.is_string()) return value_error(given, value, "a string");
    const auto [at, is_new] = deletion_of_.try_emplace(key_of(given), deletions_.size());
    Deletion deletion{key_of(given), std::nullopt, &given};
    if (value.is_string()) deletion.option = value.as_string();
    if (is_new) {
      deletions_.push_back(std::move(deletion));
    } else {
      deletions_[at->second] = std::move(deletion);
    }
    return {};
  }
  if (!value.is_string() && !is_list_of_strings(value)) {
    return value_error(given, value, "a string or a list of strings");
  }
  if (given.type == OverrideType::Add) {
    DefaultItem item = DefaultItem::group(given.key, std::move(value));
    item.set_package(given.package);
    item.set_mark(mark_of(given));
    item.is_appended = true;
    appended_.push_back(std::move(item));
    appended_by_.push_back(&given);
    return {};
  }
  const std::string key = key_of(given);
  const auto [at, is_new] = replacement_of_.try_emplace(key, replacements_.size());
  Replacement replacement{key, std::move(value), &given, {}, mark_of(given)};
  if (is_new) {
    replacements_.push_back(std::move(replacement));
  } else {
    replacements_[at->second] = std::move(replacement);
  }
  return {};
}

void GroupChoices::add_override(const std::string& config, const DefaultItem& item) {
  const std::string key = item.override_key();
  if (!replacement_of_.try_emplace(key, replacements_.size()).second) return;
  replacements_.push_back({key, item.value(), nullptr, config, item.mark()});
}

void GroupChoices::apply_override(DefaultItem& item) {
  if (!item.is_group()) return;
  const auto found = replacement_of_.find(item.override_key());
  if (found == replacement_of_.end()) return;
  Replacement& replacement = replacements_[found->second];
  item.set_value(replacement.value);
  item.set_mark(replacement.mark);
  replacement.used = true;
}

bool GroupChoices::apply_deletion(DefaultItem& item) {
  if (!item.is_group()) return false;
  const auto found = deletion_of_.find(item.override_key());
  if (found == deletion_of_.end()) return false;
  Deletion& deletion = deletions_[found->second];
  if (deletion.option && deletion.option != item.name()) return false;
  item.is_deleted = true;
  deletion.used = true;
  return true;
}

Result<void> GroupChoices::note_choice(const DefaultItem& item) {
  if (!item.is_group()) return {};
  const std::string key = item.override_key();
  const auto [at, is_new] = choice_of_.try_emplace(key, choices_.size());
  if (is_new) {
    choices_.push_back({key, item.name()});
    keys_of_group_[item.group_path()].push_back(key);
    return {};
  }
  const std::optional<std::string>& before = choices_[at->second].option;
  if (before == item.name()) return {};
  if (auto again = added_again(key, "multiple_values")) return std::move(*again);
  return Error(ErrorKind::Config,
               "the group '" + key + "' is given two options, '" + before.value_or("null") +
                   "' and '" + item.name().value_or("null") + "'; to replace an option write '" +
                   "override " + key + ": " + before.value_or("null") + "'",
               item.mark().position())
      .with_reason("multiple_values");
}

std::optional<Error> GroupChoices::added_again(const std::string& key, const char* reason) const {
  const Override* given = nullptr;
  for (std::size_t i = 0; i < appended_.size(); ++i) {
    if (appended_[i].override_key() != key) continue;
    if (given != nullptr) return std::nullopt;  // added twice, and perhaps nowhere else
    given = appended_by_[i];
  }
  if (given == nullptr) return std::nullopt;
  return given
      ->error("'" + key + "' is in the defaults list already; to choose its option write " + key +
                  "=" + std::string(given->value_text().value_or("")),
              given->key_column)
      .with_reason(reason);
}

Error GroupChoices::unused_override(const Replacement& replacement,
                                    const ConfigRepository& repository) const {
  const std::string group = replacement.key.substr(0, replacement.key.find('@'));
  std::string message = "nothing in the defaults list is called '" + replacement.key + "'";
  const auto keys = keys_of_group_.find(group);
  if (keys != keys_of_group_.end()) {
    std::vector<std::string> sorted = keys->second;
    std::sort(sorted.begin(), sorted.end());
    message += "; did you mean " + join(sorted, " or ") + "?";
  } else if (!repository.has_group(group)) {
    message += "; there is no such group";
  }
  if (replacement.given == nullptr) {
    return Error(ErrorKind::Config,
                 "'" + replacement.config + "' overrides a group, but " + message,
                 replacement.mark.position())
        .with_reason("group_override_no_match");
  }
  message += "; to add it write +" + replacement.given->text;
  return replacement.given->error(message, replacement.given->key_column)
      .with_reason("group_override_no_match");
}

Result<void> GroupChoices::check_all_used(const ConfigRepository& repository) const {
  for (const Replacement& replacement : replacements_) {
    if (!replacement.used) return unused_override(replacement, repository);
  }
  for (const Deletion& deletion : deletions_) {
    if (deletion.used) continue;
    const std::string what =
        deletion.option ? deletion.key + ": " + *deletion.option : deletion.key;
    return deletion.given
        ->error("nothing to delete: the defaults list has no '" + what + "'",
                deletion.given->key_column)
        .with_reason("group_delete_no_match");
  }
  return {};
}

}  // namespace profline::config
