#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// How much of a file a reader used: each event was used or skipped, and a skipped one has a
/// reason. `events() == used + sum of skipped` holds by construction.
struct Reading {
  struct Skipped {
    std::string reason;  ///< "end before start"
    std::uint64_t count = 0;
    std::string first_position;  ///< where the first of them is: "row 17", "byte 10442"
    /// It is not about the program: a mark of the tool itself, or a hint for viewers.
    bool is_of_the_tool = false;

    bool operator==(const Skipped&) const = default;
  };

  std::uint64_t used = 0;
  std::vector<Skipped> skipped;    ///< by first occurrence
  std::vector<std::string> notes;  ///< what the user must know: missing tables, odd times
  /// What is missing according to the tool itself or because the file is damaged, each a sentence:
  /// `Not all CUDA events might have been collected.`
  std::vector<std::string> losses;
  std::uint64_t lost = 0;  ///< events that the tool says it lost, as far as it counted them

  bool operator==(const Reading&) const = default;

  std::uint64_t events() const;
  void skip(std::string_view reason, std::string_view position, std::uint64_t count = 1,
            bool is_of_the_tool = false);
  /// Adds the counts of another file.
  void append(const Reading& other);
};

}  // namespace profline
