#include "override_advice.h"

#include <algorithm>
#include <charconv>

#include "config/override_parser.h"
#include "settings/removed_keys.h"

namespace profline {
namespace {

/// The text that an error is about, from the `override 3` in its position; a null pointer when that
/// is somewhere else.
const std::string* text_of(const Error& error, const std::vector<std::string>& overrides) {
  constexpr std::string_view kLabel = "override ";
  if (!error.position() || !error.position()->source.starts_with(kLabel)) return nullptr;
  const std::string& label = error.position()->source;
  std::size_t number = 0;
  std::from_chars(label.data() + kLabel.size(), label.data() + label.size(), number);
  return number == 0 || number > overrides.size() ? nullptr : &overrides[number - 1];
}

/// `dataset/sampling` -> `dataset.sampling`, where a group goes unless something else is said.
std::string own_package(std::string group) {
  std::replace(group.begin(), group.end(), '/', '.');
  return group;
}

}  // namespace

Error with_advice(Error error, const std::vector<std::string>& overrides) {
  const std::string* text = text_of(error, overrides);
  if (text == nullptr) return error;
  const auto given = config::parse_override(*text, {.label = error.position()->source});
  if (!given) return error;
  if (error.reason() == "group_override_no_match" && given->package &&
      *given->package == own_package(given->key)) {
    const std::string value(given->value_text().value_or(""));
    return given
        ->error("'" + *given->package + "' is where '" + given->key +
                    "' goes anyway, and Hydra knows such a group by its name alone: write " +
                    given->key + "=" + value,
                given->package_column)
        .with_reason("group_override_no_match");
  }
  const auto advice = settings::advice_for_removed_key(given->key);
  const bool is_group = error.reason() == "not_a_group";  // `runner@stage1_runner=…`
  if (!advice || (!is_group && error.reason() != "key_not_in_config")) return error;
  return given
      ->error(
          (is_group ? "group '" : "key '") + given->key + "' was removed: " + std::string(*advice),
          given->key_column)
      .with_reason(is_group ? "not_a_group" : "key_not_in_config");
}

Error with_override_shown(Error error, const std::vector<std::string>& overrides) {
  const std::string* text = text_of(error, overrides);
  if (text == nullptr) return error;
  const std::uint32_t column = error.position()->column;
  return std::move(error).with_excerpt(*text, column);
}

}  // namespace profline
