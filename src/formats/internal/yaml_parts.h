#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// The types of YAML 1.1 that PyYAML's SafeLoader knows.
enum class YamlTag : std::uint8_t {
  Null,
  Bool,
  Int,
  Float,
  Str,
  Binary,
  Timestamp,
  Merge,  ///< `<<`
  Value,  ///< `=`
  Seq,
  Map,
  Set,
  OrderedMap,
  Pairs,
};

/// The type that a full tag names (`tag:yaml.org,2002:int`); nothing for any other tag.
std::optional<YamlTag> yaml_tag(std::string_view tag);

/// The type that the text of a plain (unquoted) scalar implies, as in OmegaConf's loader: YAML 1.1
/// as PyYAML reads it, plus floats like `1e3`, and without timestamps.
YamlTag implicit_yaml_tag(std::string_view text);

/// Whether PyYAML alone would read a plain `text` as a date or a time. Our reader does not, but
/// writers quote such strings.
bool looks_like_timestamp(std::string_view text);

/// The value of a scalar of that type. An Error has no position; it says what `text` is not.
Result<Node> yaml_scalar(YamlTag tag, std::string text);

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

/// How the text of a scalar may be written in block context, following PyYAML's emitter.
struct ScalarAnalysis {
  bool is_empty = true;
  bool has_breaks = false;
  bool plain = true;   // no indicator or space makes it something else
  bool single = true;  // survives in single quotes
  bool block = false;  // survives as literal text
};

ScalarAnalysis analyse_scalar(std::u32string_view text);

/// The code points of UTF-8; one U+FFFD for each invalid byte.
std::u32string decode_utf8(std::string_view bytes);

/// Assembles YAML text: indentation, the space between tokens and the width of lines.
class YamlEmitter {
 public:
  enum class Style { Plain, Single, Double, Literal };

  /// An indicator, tag or quote; `spaced` puts a space in front unless there is one. With
  /// `keeps_indention`, what follows still counts as the first thing on its line.
  void indicator(std::string_view text, bool spaced, bool keeps_indention = false);
  void scalar(std::u32string_view text, Style style, bool may_fold);
  /// Goes to the current indentation, on a new line unless already there.
  void indent();

  /// The level of indentation; -1 at the top level.
  int level() const { return indent_; }
  void set_level(int indent) { indent_ = indent; }
  /// Whether nothing but indentation and `-`, `?`, `:` is on this line.
  bool at_indention() const { return at_indention_; }

  std::string take() { return std::move(out_); }

 private:
  void plain(std::u32string_view text, bool may_fold);
  void single_quoted(std::u32string_view text, bool may_fold);
  void double_quoted(std::u32string_view text, bool may_fold);
  void literal(std::u32string_view text);
  void append(std::u32string_view text);
  void line_break();
  void fold();

  std::string out_;
  int indent_ = -1;
  std::size_t column_ = 0;  // in characters
  bool after_space_ = true;
  bool at_indention_ = true;
};

}  // namespace profline
