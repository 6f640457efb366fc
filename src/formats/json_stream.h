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

/// One value of a JSON text that json_stream.h has parsed, without a copy of it. It and all that it
/// gives out are valid until the function they were given to returns.
///
///   const auto name = event.find("name");
///   const auto duration_us = event.find("dur");
///   if (!duration_us || !duration_us->number()) return skip(event);
class JsonView {
 public:
  struct Field;
  class FieldRange;
  class ItemRange;
  /// Where the parser keeps the value; of interest to the parser's adapter only.
  struct Handle {
    const void* document = nullptr;
    std::size_t index = 0;
  };
  explicit JsonView(Handle handle) : handle_(handle) {}

  /// Integers above int64 are BigInt.
  Node::Kind kind() const;

  /// The value under `key`, the first if there are several; nothing when this is no map or has no
  /// such key. Takes time linear in the number of fields.
  std::optional<JsonView> find(std::string_view key) const;

  // Each is empty when the value is of another kind.
  std::optional<std::string_view> string() const;
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> unsigned_integer() const;
  std::optional<double> number() const;  // of integers too
  std::optional<bool> boolean() const;
  bool is_null() const { return kind() == Node::Kind::Null; }

  /// Empty when this is no map; no list.
  FieldRange fields() const;
  ItemRange items() const;

  /// A copy that stays. Of several values under one key the last one counts.
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

/// What was not delivered because it is not JSON.
struct SkippedJson {
  std::uint64_t offset = 0;          ///< of its first byte
  std::uint64_t problem_offset = 0;  ///< of the byte at which it goes wrong
  std::string reason;
  std::string excerpt;     ///< its beginning as it was read: any bytes
  bool is_member = false;  ///< of the map around the list, else an element
};

/// What a reader that knows its elements made of a text that begins with one.
struct JsonTaken {
  enum class Outcome : std::uint8_t {
    Taken,
    TooShort,  ///< the text ends inside the element
    Refused,   ///< it is not what the reader knows
  };
  Outcome outcome = Outcome::Refused;
  std::size_t bytes = 0;  ///< of the element, when it was taken
};

struct JsonStreamHandlers {
  /// Each element in order, with the offset of its first byte. An Error ends the reading and is
  /// what the reading returns.
  std::function<Result<void>(const JsonView& element, std::uint64_t offset)> element;

  /// For volume: takes an element straight from the text, which begins with it and may end anywhere
  /// behind or inside of it. It is given the same element again, from its first byte, when the text
  /// was too short. What it refuses goes the ordinary way, to `element` or `skipped`. It may take
  /// what is not quite JSON. Empty: every element goes the ordinary way.
  std::function<JsonTaken(std::string_view text, std::uint64_t offset)> take;

  /// Told of each element or member that is not JSON, after which reading goes on; when this is
  /// empty, the first one is an Error. Elements are told apart by commas and brackets outside of
  /// strings, so a stray bracket or quote may take the elements behind it along.
  std::function<void(const SkippedJson&)> skipped;

  /// Each member of the map around the list except the list; ignored when this is empty. The source
  /// of the value's marks names the byte at which it begins.
  std::function<Result<void>(const std::string& key, Node value)> member;

  /// Asked before a member that is another list is read: an Error ends the reading there, so that a
  /// document of another kind need not be read to its end. Empty: every member is read.
  std::function<Result<void>(const std::string& key)> other_list;
};

struct JsonStreamLimits {
  /// How much is read at a time, and kept in memory as long as no element is larger.
  std::size_t window_bytes = std::size_t{1} << 20U;
  /// A larger element or member is an Error. An element of n bytes takes up to 15 n of memory.
  std::size_t max_element_bytes = std::size_t{64} << 20U;
};

/// What was read. `elements` were delivered; together with `skipped_elements` they are all there
/// were up to the end or to `truncated_at`.
struct JsonStreamTotals {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  std::uint64_t skipped_elements = 0;
  std::uint64_t skipped_members = 0;
  /// The input ends here, in the middle: the rest of it was never written or is lost. An element
  /// that was begun is neither delivered nor counted.
  std::optional<std::uint64_t> truncated_at;
  /// Where the element or member begins that the end cut off; nothing when it cut none.
  std::optional<std::uint64_t> torn_at;
};

/// Reads the elements of a list of any length: of the one under `list_key` when the input is a map
/// (`{"schemaVersion": 1, "traceEvents": [...], "traceName": "..."}`), or of the input itself when
/// that is a list. Only a window of it is in memory.
///
/// Elements are checked as parse_json does, with three differences: duplicate keys are allowed,
/// integers below int64 or above uint64 are not, and nothing has a line. Errors name the byte at
/// which the input goes wrong; wrapping them with the name of the input is the caller's part.
Result<JsonStreamTotals> read_json_list(ChunkSource source, std::string_view list_key,
                                        JsonStreamHandlers handlers, JsonStreamLimits limits = {});

/// Reads JSON Lines: one element per line, blank lines and a comma at the end of a line ignored, LF
/// or CRLF. A last line without a line feed counts if it is complete.
Result<JsonStreamTotals> read_json_lines(ChunkSource source, JsonStreamHandlers handlers,
                                         JsonStreamLimits limits = {});

}  // namespace profline
