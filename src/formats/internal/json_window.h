#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/json_stream.h"

namespace profline::internal {

/// The part of an input that is in memory. `rest()` is what was read but not yet taken; it grows at
/// its end with extend() and shrinks at its front with take().
class JsonWindow {
 public:
  /// `padding` bytes after rest() are always readable.
  JsonWindow(ChunkSource source, const JsonStreamLimits& limits, std::size_t padding);

  /// Valid until the next extend().
  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  /// Offset of the first byte of rest().
  std::uint64_t offset() const { return end_offset_ - (end_ - begin_); }
  std::uint64_t end_offset() const { return end_offset_; }

  void take(std::size_t bytes) { begin_ += bytes; }

  /// Makes rest() longer; false at the end of the input. An Error when rest(), which is all one
  /// element, exceeds the limit.
  Result<bool> extend();

  /// Skips blanks; false when nothing else is left.
  Result<bool> skip_blank();

  /// The Error for an element of `bytes` bytes at offset(), if that is too large.
  Result<void> check_size(std::size_t bytes) const;

 private:
  std::size_t capacity() const { return buffer_.size() - padding_; }
  void make_room();

  ChunkSource source_;
  JsonStreamLimits limits_;
  std::size_t padding_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t end_offset_ = 0;
  bool at_end_ = false;
};

/// Finds where an element ends by its brackets and strings alone, incrementally: when the text was
/// too short, the next call passes a longer text that begins with the same bytes.
class JsonBorder {
 public:
  static constexpr std::size_t kNotYet = std::string_view::npos;

  /// `close` ends the list or map that contains the element.
  explicit JsonBorder(char close) : close_(close) {}

  /// The position of the ',' or closing bracket after the element.
  std::size_t find(std::string_view text);

 private:
  bool skip_string(std::string_view text);

  char close_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool in_string_ = false;
};

}  // namespace profline::internal
