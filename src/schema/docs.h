#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/container_codecs.h"
#include "schema/scalar_codecs.h"

/// What a field list says to people: rows, and a table for a reference page.
namespace profline::schema {

/// One key, under its whole path. What repeats has a placeholder in it: `extra.<name>.enable` for
/// maps, `kernels.<n>.regex` for lists.
struct FieldDoc {
  std::string path{};
  std::string type{};          ///< `integer >= 1`, `one of none, stop`, `list of string or null`
  std::string default_text{};  ///< empty when required, and for a group
  std::string help{};
  std::string deprecated{};  ///< what to use instead; empty: not deprecated
  bool required = false;
  bool is_group = false;  ///< a map whose keys follow

  bool operator==(const FieldDoc&) const = default;
};

/// A column beside those that every table has: what is said of each key there.
struct ReferenceColumn {
  std::string_view title;
  std::function<std::string(const FieldDoc&)> cell;  ///< Markdown
};

/// A table in Markdown; the extra column stands after the key's.
std::string reference_table(const std::vector<FieldDoc>& docs);
std::string reference_table(const std::vector<FieldDoc>& docs, const ReferenceColumn& extra);

namespace internal {
std::vector<FieldDoc> describe(const StructType& structure, std::string_view path);
}  // namespace internal

/// Every key of T and of the structs in it, in the order of the field lists; the removed ones are
/// not told. `path` is where T lies in a larger tree.
template <Structured T>
std::vector<FieldDoc> describe(std::string_view path = {}) {
  return internal::describe(Codec<T>::structure(), path);
}

}  // namespace profline::schema
