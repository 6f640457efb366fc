#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "formats/node.h"
#include "schema/read.h"

namespace profline::schema {

/// One value that differs between two trees. Both sides are texts for people (value_text.h); an
/// absent side has no value.
struct Change {
  std::string path;
  std::optional<std::string> before;
  std::optional<std::string> after;

  bool operator==(const Change&) const = default;
  /// `a.b: 1 -> 2`, `+ a.c: 3`, `- a.d: 4`.
  std::string to_string() const;
};

/// The differences, by key and, in lists, by index; in the order of `before`, then what is new in
/// `after`. The order of keys and places in the input are ignored; 1 and 1.0 differ.
std::vector<Change> diff(const Node& before, const Node& after);

template <typename T>
requires(!std::same_as<T, Node>) std::vector<Change> diff(const T& before, const T& after) {
  return diff(write(before), write(after));
}

}  // namespace profline::schema
