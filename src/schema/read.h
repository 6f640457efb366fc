#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/node.h"
#include "schema/container_codecs.h"
#include "schema/problems.h"
#include "schema/scalar_codecs.h"

/// Node <-> plain struct, using the struct's field list (field.h).
///
/// Every problem is an Error of kind Config that names its place in the input, the path of the
/// value and what would be right:
///
///   conf/a.yaml:4:12: pipeline.nsys.timeout: must be an integer >= 1 or null, not the string 'x'
///   conf/a.yaml:5:5: pipeline.nsys: unknown key 'timout' (did you mean 'timeout'?)
///   conf/a.yaml:3:5: pipeline.nsys: missing key 'trace' (a string)
///
/// A wrong value is reported with its own path and place; an unknown key with the path of the map
/// that contains it and the place of the key; a missing key with the path and place of the map.
namespace profline::schema {

namespace internal {
void read_root(const Type& type, const Node& node, void* value, Problems& problems,
               std::string_view path);
}  // namespace internal

/// The value, and all its problems appended to `problems`, in the order of the tree. If there are
/// new errors, the value is incomplete and must not be used. `path` is where the node is in a
/// larger tree.
template <typename T>
T read(const Node& node, Problems& problems, std::string_view path = {}) {
  T value{};
  internal::read_root(type_of<T>(), node, &value, problems, path);
  return value;
}

/// The value, or all its problems as one Error. Warnings are dropped.
template <typename T>
Result<T> read(const Node& node, std::string_view path = {}) {
  Problems problems;
  T value = read<T>(node, problems, path);
  if (!problems.empty()) return problems.to_error();
  return value;
}

/// All fields in the order of the list; reads back as an equal value.
template <typename T>
Node write(const T& value) {
  return Codec<T>::write(value);
}

}  // namespace profline::schema
