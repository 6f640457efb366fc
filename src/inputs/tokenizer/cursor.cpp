#include "inputs/tokenizer/internal/cursor.h"

#include "schema/value_text.h"

namespace profline::tokenizer::internal {

Error Cursor::wrong(const std::string& what) const {
  return Error(ErrorKind::Parse, path_.empty() ? what : path_ + ": " + what, node_->position());
}

Error Cursor::mismatch(std::string_view expected) const {
  return wrong("must be " + std::string(expected) + ", not " + schema::shown_with_kind(*node_));
}

Result<Cursor> Cursor::at(std::string_view key) const {
  if (!node_->is_map()) return mismatch("a map");
  const Node* value = node_->find(key);
  if (value == nullptr) return wrong("missing key '" + std::string(key) + "'");
  return Cursor(*value, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

std::optional<Cursor> Cursor::find(std::string_view key) const {
  const Node* value = node_->find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return Cursor(*value, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
}

Cursor Cursor::item(std::size_t index) const {
  return {node_->as_list()[index], path_ + "." + std::to_string(index)};
}

Result<std::string> Cursor::text() const {
  if (!node_->is_string()) return mismatch("a string");
  return node_->as_string();
}

bool Cursor::is(std::string_view text) const {
  return node_->is_string() && node_->as_string() == text;
}

Result<bool> Cursor::flag(std::string_view key, bool fallback) const {
  const auto value = find(key);
  if (!value) return fallback;
  if (!value->node().is_bool()) return value->mismatch("a boolean");
  return value->node().as_bool();
}

Result<void> Cursor::require_list() const {
  if (!node_->is_list()) return mismatch("a list");
  return {};
}

}  // namespace profline::tokenizer::internal
