#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/chunks.h"
#include "formats/node.h"

namespace profline {

/// A view of one value of a JSON text that json_stream.h has parsed. It and everything it returns
/// are valid until the function they were passed to returns.
///
///   const auto name = event.find("name");
///   const auto duration_us = event.find("dur");
///   if (!duration_us || !duration_us->number()) return skip(event);
class JsonView {
 public:
  struct Field;
  class FieldRange;
  class ItemRange;
  /// Where the parser keeps the value; only for the parser's adapter.
  struct Handle {
    const void* document = nullptr;
    std::size_t index = 0;
  };
  explicit JsonView(Handle handle) : handle_(handle) {}

  /// Integers above int64 are BigInt.
  Node::Kind kind() const;

  /// The value under `key`, the first if there are several; nothing if this is not a map or has no
  /// such key. Takes time linear in the number of fields.
  std::optional<JsonView> find(std::string_view key) const;

  // Each is empty if the value is of another kind.
  std::optional<std::string_view> string() const;
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> unsigned_integer() const;
  std::optional<double> number() const;  // of integers too
  std::optional<bool> boolean() const;
  bool is_null() const { return kind() == Node::Kind::Null; }

  /// Empty for a value that is not a map, or not a list.
  FieldRange fields() const;
  ItemRange items() const;

  /// An owned copy. If a key occurs several times, its last value counts.
  Node to_node() const;

 private:
  Handle handle_;
};

struct JsonView::Field {
  std::string_view key;
  JsonView value;
};

/// The fields of a map in the order of the text.
class JsonView::FieldRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Handle handle) : handle_(handle) {}
    Field operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return handle_.index == other.handle_.index; }

   private:
    Handle handle_;
  };
  FieldRange(Handle first, Handle end) : first_(first), end_(end) {}
  Iterator begin() const { return first_; }
  Iterator end() const { return end_; }

 private:
  Iterator first_;
  Iterator end_;
};

class JsonView::ItemRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Handle handle) : handle_(handle) {}
    JsonView operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return handle_.index == other.handle_.index; }

   private:
    Handle handle_;
  };
  ItemRange(Handle first, Handle end) : first_(first), end_(end) {}
  Iterator begin() const { return first_; }
  Iterator end() const { return end_; }

 private:
  Iterator first_;
  Iterator end_;
};

/// Something that was not delivered because it is not JSON.
struct SkippedJson {
  std::uint64_t offset = 0;          ///< of its first byte
  std::uint64_t problem_offset = 0;  ///< of the offending byte
  std::string reason;
  std::string excerpt;     ///< its beginning, unescaped: may hold any bytes
  bool is_member = false;  ///< of the map around the list, else an element
};

/// The result of a custom reader on a text that begins with an element.
struct JsonTaken {
  enum class Outcome : std::uint8_t {
    Taken,
    TooShort,  ///< the text ends inside the element
    Refused,   ///< not an element that the reader knows
  };
  Outcome outcome = Outcome::Refused;
  std::size_t bytes = 0;  ///< of the element, when it was taken
};

struct JsonStreamHandlers {
  /// Called for each element in order, with the offset of its first byte. An Error ends the reading
  /// and is returned by it.
  std::function<Result<void>(const JsonView& element, std::uint64_t offset)> element;

  /// For speed: reads an element straight from the text, which begins with it and may end anywhere
  /// after or inside it. If the text was too short, it is called again for the same element, from
  /// its first byte. What it refuses goes the ordinary way, to `element` or `skipped`. It may
  /// accept what is not quite JSON. Empty: every element goes the ordinary way.
  std::function<JsonTaken(std::string_view text, std::uint64_t offset)> take;

  /// Called for each element or member that is not JSON; reading then continues. If this is empty,
  /// the first one is an Error. Elements are separated by commas and brackets outside strings, so a
  /// stray bracket or quote may also invalidate the elements after it.
  std::function<void(const SkippedJson&)> skipped;

  /// Called for each member of the map around the list except the list itself; ignored if empty.
  /// The source of the value's marks names the byte at which it begins.
  std::function<Result<void>(const std::string& key, Node value)> member;

  /// Called before a member that is another list is read: an Error ends the reading there, so that
  /// a document of another kind need not be read to its end. Empty: every member is read.
  std::function<Result<void>(const std::string& key)> other_list;
};

struct JsonStreamLimits {
  /// How much is read at a time, and kept in memory as long as no element is larger.
  std::size_t window_bytes = std::size_t{1} << 20U;
  /// A larger element or member is an Error. An element of n bytes takes up to 15 n of memory.
  std::size_t max_element_bytes = std::size_t{64} << 20U;
};

/// What was read. `elements` counts those delivered; together with `skipped_elements` they are all
/// the elements up to the end or to `truncated_at`.
struct JsonStreamTotals {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  std::uint64_t skipped_elements = 0;
  std::uint64_t skipped_members = 0;
  /// Where the input ends early: the rest was never written or is lost. An incomplete element is
  /// neither delivered nor counted.
  std::optional<std::uint64_t> truncated_at;
  /// Where the element or member begins that was cut off by the end; nothing if none was.
  std::optional<std::uint64_t> torn_at;
};

/// Reads the elements of a list of any length: the list under `list_key` if the input is a map
/// (`{"schemaVersion": 1, "traceEvents": [...], "traceName": "..."}`), or the input itself if that
/// is a list. Only a window of it is in memory.
///
/// Elements are checked as parse_json does, with three differences: duplicate keys are allowed,
/// integers below int64 or above uint64 are not, and there are no line numbers. Errors name the
/// offending byte; the caller adds the name of the input.
Result<JsonStreamTotals> read_json_list(ChunkSource source, std::string_view list_key,
                                        JsonStreamHandlers handlers, JsonStreamLimits limits = {});

/// Reads JSON Lines: one element per line, blank lines and a comma at the end of a line ignored, LF
/// or CRLF. A last line without a line feed counts if it is complete.
Result<JsonStreamTotals> read_json_lines(ChunkSource source, JsonStreamHandlers handlers,
                                         JsonStreamLimits limits = {});

}  // namespace profline
