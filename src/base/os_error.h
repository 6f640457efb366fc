#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace profline {

/// Why a system call failed, in words that can end a sentence: `no such file`, `permission denied`,
/// `no space left on device`.
std::string os_error_words(int error_number);

/// NotFound where what was named cannot be had (absent, a directory, not ours to read, no possible
/// name); Io where the system failed at something it has.
ErrorKind os_error_kind(int error_number);

/// Whether the file system of `path` (or of the nearest folder above it) takes no more files,
/// though it has space: what the system calls `no space left on device` as well.
bool is_out_of_inodes(const std::filesystem::path& path);

/// `cannot read conf/x.yaml: no such file`, for the attempt `read`.
Error os_error(std::string_view attempt, const std::filesystem::path& path, int error_number);
/// The same with a cause in our own words.
Error os_error(std::string_view attempt, const std::filesystem::path& path, ErrorKind kind,
               std::string_view cause);

}  // namespace profline
