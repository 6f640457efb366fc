#include "formats/chunks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/os_error.h"

namespace profline {

ChunkSource chunks_of(std::string_view text) {
  return [text](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t bytes = std::min(text.size(), into.size());
    std::memcpy(into.data(), text.data(), bytes);
    text.remove_prefix(bytes);
    return bytes;
  };
}

Result<ChunkSource> chunks_of_file(const std::filesystem::path& path) {
  // Shared because std::function copies what it holds; all copies read the same file.
  auto file = std::make_shared<FileDescriptor>(PL_TRY(open_for_reading(path)));
  return ChunkSource([file, path](std::span<char> into) -> Result<std::size_t> {
    const ssize_t bytes = read_some(file->get(), into.data(), into.size());
    if (bytes < 0) return os_error("read", path, errno);
    return static_cast<std::size_t>(bytes);
  });
}

}  // namespace profline
