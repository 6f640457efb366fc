#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "formats/node.h"

namespace profline::tokenizer::internal {

/// A value of a JSON file with the path that leads to it, for messages.
class Cursor {
 public:
  Cursor(const Node& node, std::string path) : node_(&node), path_(std::move(path)) {}

  const Node& node() const { return *node_; }
  /// `path: what`, at the place of the value.
  Error wrong(const std::string& what) const;
  /// `path: must be <expected>, not <value>`.
  Error mismatch(std::string_view expected) const;

  /// An absent key is an Error.
  Result<Cursor> at(std::string_view key) const;
  /// Nothing for an absent key and for null.
  std::optional<Cursor> find(std::string_view key) const;
  Cursor item(std::size_t index) const;

  Result<std::string> text() const;
  /// Whether it is this string.
  bool is(std::string_view text) const;
  /// The boolean under a key that may be absent or null.
  Result<bool> flag(std::string_view key, bool fallback) const;
  Result<void> require_list() const;

 private:
  const Node* node_;
  std::string path_;
};

}  // namespace profline::tokenizer::internal
