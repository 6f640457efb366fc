#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"
#include "schema/read.h"

/// Our JSON files: one object whose first key names its kind, `"schema": "profline.nsys_ranges/1"`.
namespace profline {

/// The kind of a file, and the edition that this program writes.
struct DocumentKind {
  std::string_view name;  ///< `nsys_ranges`
  int version = 1;
};

/// The text of a file of this kind; `body` is a map.
Result<std::string> write_document(const DocumentKind& kind, Node body);

/// The body of such a file, without its first key. An Error that names `source` if it is of another
/// kind or of a newer edition.
Result<Node> parse_document(std::string_view text, const DocumentKind& kind,
                            const std::string& source);

/// The same for a file that is already parsed.
Result<Node> document_body(const Node& document, const DocumentKind& kind,
                           const std::string& source);

/// The same for a struct with a field list and a `static constexpr DocumentKind kKind`.
template <typename T>
Result<std::string> to_document(const T& value) {
  return write_document(T::kKind, schema::write(value));
}
template <typename T>
Result<T> from_document(std::string_view text, const std::string& source) {
  const Node body = PL_TRY(parse_document(text, T::kKind, source));
  return schema::read<T>(body);
}

}  // namespace profline
