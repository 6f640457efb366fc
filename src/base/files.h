#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace profline {

// Every Error of these names the path and the cause: `cannot read conf/x.yaml: no such file`. Its
// kind is NotFound where what was named cannot be had, else Io.

/// Opens a file, pipe or device for reading; a directory is an Error.
Result<FileDescriptor> open_for_reading(const std::filesystem::path& path);

/// All bytes of a file; of a pipe or a file below /proc as well, whose size is not known before.
Result<std::string> read_file(const std::filesystem::path& path);

/// Makes `bytes` the content of the file, whole or not at all, also if the program is killed or the
/// disk is full; see AtomicFile for what happens to permissions and links.
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// Creates the folder and those above it that are missing; one that exists is fine. (Not called
/// create_directories: std::filesystem's would be found for a path argument as well.)
Result<void> create_folders(const std::filesystem::path& path);

/// What an ordinary user may still write to the file system of `path`. The path need not exist yet:
/// the nearest folder above it that does counts.
Result<std::uint64_t> free_bytes(const std::filesystem::path& path);

namespace internal {
/// An Error for a path no system call can be given: an empty one, or one with a NUL byte, which
/// would name another file than it seems to.
Result<void> check_path(std::string_view attempt, const std::filesystem::path& path);
}  // namespace internal

}  // namespace profline
