#include "analysis/static_model/internal/config_keys.h"

#include <utility>

namespace profline::static_model::internal {

std::uint64_t ConfigKeys::size(std::string_view key, std::optional<std::uint64_t> otherwise,
                               std::uint64_t most) {
  const Node* value = present(key);
  if (value == nullptr) {
    const std::uint64_t fallback = otherwise.value_or(0);
    if (fallback == 0) fail(config_, "missing key '" + std::string(key) + "' (an integer > 0)");
    return fallback == 0 ? 1 : fallback;
  }
  const bool fits =
      value->is_int() && value->as_int() > 0 && static_cast<std::uint64_t>(value->as_int()) <= most;
  if (!fits) {
    fail(*value, std::string(key) + ": must be an integer from 1 to " + std::to_string(most));
    return 1;
  }
  return static_cast<std::uint64_t>(value->as_int());
}

std::uint64_t ConfigKeys::size(std::initializer_list<std::string_view> keys,
                               std::optional<std::uint64_t> otherwise, std::uint64_t most) {
  for (const std::string_view key : keys) {
    if (present(key) != nullptr) return size(key, otherwise, most);
  }
  return size(*keys.begin(), otherwise, most);
}

std::uint64_t ConfigKeys::maybe(std::string_view key) {
  const Node* value = present(key);
  if (value == nullptr || (value->is_int() && value->as_int() == 0)) return 0;
  return size(key);
}

bool ConfigKeys::flag(std::string_view key, bool otherwise) {
  const Node* value = present(key);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->as_bool();
  fail(*value, std::string(key) + ": must be true or false");
  return otherwise;
}

std::string ConfigKeys::text(std::string_view key) const {
  const Node* value = present(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

const Node* ConfigKeys::present(std::string_view key) const {
  const Node* value = config_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ConfigKeys::fail(const Node& at, std::string message) {
  problems_.push_back(Error(ErrorKind::Config, std::move(message), at.position()));
}

}  // namespace profline::static_model::internal
