#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace profline {

/// A table that keeps each text once, however often it occurs: a capture of ten million kernels has
/// a few hundred names. Ids count from 0 in the order of first occurrence; 0 is always the empty
/// text.
class Names {
 public:
  using Id = std::uint32_t;

  Names() { id_of(""); }
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;
  // The index points into the texts, so a copy would be invalid.
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  ~Names() = default;

  /// The text's id; a new one at its first occurrence.
  Id id_of(std::string_view text);
  /// The text's id, if it has one.
  std::optional<Id> find(std::string_view text) const;
  /// The id must come from this table. The reference is valid as long as the table lives.
  const std::string& text(Id id) const;
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moved, so the index may point into them
  std::unordered_map<std::string_view, Id> index_;
};

}  // namespace profline
