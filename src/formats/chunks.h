#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace profline {

/// Where bytes come from: writes as many as it likes to the front of the span and says how many; 0
/// is the end. A file, a decompressor or a text can be behind it.
using ChunkSource = std::function<Result<std::size_t>(std::span<char>)>;

/// The bytes of `text`, which must stay.
ChunkSource chunks_of(std::string_view text);

/// The bytes of a file or a pipe of any length. Errors name the path.
Result<ChunkSource> chunks_of_file(const std::filesystem::path& path);

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
