#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/chunks.h"

namespace profline {

/// True when the bytes begin as a gzip file does.
bool is_gzip(std::string_view first_bytes);

/// Decompresses gzip of one or several members, in bounded memory. What is torn or broken is no
/// Error: all that can be had of it is given out, then the end comes, and problem() tells.
class GzipReader {
 public:
  explicit GzipReader(ChunkSource compressed);
  GzipReader(GzipReader&&) noexcept;
  GzipReader& operator=(GzipReader&&) noexcept;
  ~GzipReader();

  /// As a ChunkSource does; Errors are those of the source.
  Result<std::size_t> read(std::span<char> into);

  /// After the end: `the gzip data ends early, after 10442 bytes: the rest is missing`. Nothing
  /// when all of it was sound.
  const std::optional<std::string>& problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace profline
