#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "schema/container_codecs.h"
#include "schema/scalar_codecs.h"

/// A field list as documentation: rows, and a table for a reference page.
namespace profline::schema {

/// One key with its full path. Repeated parts have a placeholder: `extra.<name>.enable` for maps,
/// `kernels.<n>.regex` for lists.
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

/// A column in addition to those that every table has.
struct ReferenceColumn {
  std::string_view title;
  std::function<std::string(const FieldDoc&)> cell;  ///< Markdown
};

/// A Markdown table; the extra column comes after that of the key.
std::string reference_table(const std::vector<FieldDoc>& docs);
std::string reference_table(const std::vector<FieldDoc>& docs, const ReferenceColumn& extra);

namespace internal {
std::vector<FieldDoc> describe(const StructType& structure, std::string_view path);
}  // namespace internal

/// Every key of T and of its nested structs, in the order of the field lists, without removed keys.
/// `path` is where T is in a larger tree.
template <Structured T>
std::vector<FieldDoc> describe(std::string_view path = {}) {
  return internal::describe(Codec<T>::structure(), path);
}

}  // namespace profline::schema

/// Values on one line, for people: defaults in help, both sides of a change, the value that a
/// message is about. Deterministic; not meant to be parsed.
namespace profline::schema {

/// `600`, `0.5`, `null`, `prefill`, `[cpu, cuda]`, `{csv: true}`. Strings are quoted if they could
/// be mistaken for something else.
std::string value_text(const Node& node);

/// For messages: `'prefill'`, `600`, `a list`. Long strings are cut.
std::string shown(const Node& node);
/// The same with the kind: `the string 'prefill'`, `the integer 600`, `null`, `a list`.
std::string shown_with_kind(const Node& node);

/// The shortest text that reads back as `value`, always with a point or an exponent; `.inf` and
/// `.nan` as YAML spells them.
std::string float_text(double value);

}  // namespace profline::schema
