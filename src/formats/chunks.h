#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
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

}  // namespace profline
