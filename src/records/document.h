#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"
#include "schema/read.h"

/// JSON files of ours: one object whose first key says what it is,
/// `"schema": "profline.nsys_ranges/1"`.
namespace profline {

/// What a file is, and which edition of it this program writes.
struct DocumentKind {
  std::string_view name;  ///< `nsys_ranges`
  int version = 1;
};

/// The text of a file of this kind; `body` is a map.
Result<std::string> write_document(const DocumentKind& kind, Node body);

/// The body of such a file, without its first key. An Error when it is of another kind or of a
/// newer edition; `source` names it there.
Result<Node> parse_document(std::string_view text, const DocumentKind& kind,
                            const std::string& source);

/// The same of a file that was read already.
Result<Node> document_body(const Node& document, const DocumentKind& kind,
                           const std::string& source);

/// The same of a struct with a field list and a `static constexpr DocumentKind kKind`.
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
