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

/// A source of bytes: writes any number of them to the front of the span and returns how many; 0 is
/// the end. It may be a file, a decompressor or a text.
using ChunkSource = std::function<Result<std::size_t>(std::span<char>)>;

/// The bytes of `text`, which must outlive the source.
ChunkSource chunks_of(std::string_view text);

/// The bytes of a file or a pipe of any length. Errors name the path.
Result<ChunkSource> chunks_of_file(const std::filesystem::path& path);

/// Whether the bytes begin like a gzip file.
bool is_gzip(std::string_view first_bytes);

/// Decompresses gzip of one or several members, in bounded memory. Truncated or damaged data is not
/// an Error: everything readable is delivered, then comes the end, and problem() describes the
/// damage.
class GzipReader {
 public:
  explicit GzipReader(ChunkSource compressed);
  GzipReader(GzipReader&&) noexcept;
  GzipReader& operator=(GzipReader&&) noexcept;
  ~GzipReader();

  /// As a ChunkSource; Errors are those of the source.
  Result<std::size_t> read(std::span<char> into);

  /// After the end: `the gzip data ends early, after 10442 bytes: the rest is missing`. Nothing
  /// when the data was sound.
  const std::optional<std::string>& problem() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace profline
