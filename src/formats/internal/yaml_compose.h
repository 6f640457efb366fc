#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "formats/internal/yaml_scalar.h"
#include "formats/node.h"

namespace profline {

/// A place in a text as YAML counts: lines end at LF, CR, CR LF, U+0085, U+2028 and U+2029.
struct TextPlace {
  std::uint32_t line = 1;
  std::uint32_t column = 1;  // in characters
};

/// One YAML input with its name, for errors. The text is borrowed and must outlive this object.
class YamlText {
 public:
  /// Skips a UTF-8 byte order mark at the start.
  YamlText(std::string_view text, std::string source);

  /// An Error unless the text is UTF-8 and has only characters that YAML 1.1 allows.
  Result<void> check_characters() const;

  std::string_view text() const { return text_; }
  Mark mark(TextPlace place) const { return {source_, place.line, place.column}; }

  /// A Parse error at `place`, with the line as an excerpt.
  Error error(std::string message, TextPlace place) const;
  Error error_at(std::string message, std::size_t offset) const;

 private:
  TextPlace place_of(std::size_t offset) const;
  std::string_view line(std::uint32_t number) const;

  std::string_view text_;
  std::shared_ptr<const std::string> source_;  // shared by the Marks of all nodes
};

/// Bytes of the line break at the front of `text`; 0 if it does not begin with one.
std::size_t line_break_length(std::string_view text);

/// Whether a byte begins a character of UTF-8 text.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// One YAML document as it is written: scalars are still text, aliases still references, merge keys
/// still keys. Nodes refer to their children by number, so an alias costs nothing; there are no
/// cycles.
struct YamlGraph {
  enum class Kind : std::uint8_t { Scalar, Sequence, Mapping };
  using Id = std::uint32_t;

  struct Item {
    Kind kind = Kind::Scalar;
    YamlTag tag = YamlTag::Null;
    bool is_open = false;      // its end was not reached yet
    std::uint32_t height = 0;  // levels of collections from here down, aliases followed
    std::uint64_t weight = 0;  // see kYamlAliasBudget; aliases followed
    TextPlace place;
    std::string text;          // of a scalar
    std::vector<Id> children;  // of a mapping: key, value, key, value, …
  };

  std::deque<Item> items;  // a deque, so that growing copies nothing
  Id root = 0;             // meaningless without items: the input has no document
  bool has_aliases = false;
};

/// Reads the one document of `text` with libyaml.
Result<YamlGraph> compose_yaml(const YamlText& text);

}  // namespace profline
