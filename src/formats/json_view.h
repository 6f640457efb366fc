#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

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

}  // namespace profline
