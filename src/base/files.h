#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace profline {

/// Owns an open file of the operating system and closes it at the end of its life.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, kNone)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  bool is_open() const { return fd_ != kNone; }
  int get() const { return fd_; }
  /// Gives the number away; closing it is now the caller's business.
  [[nodiscard]] int release() { return std::exchange(fd_, kNone); }
  /// Closes now; does nothing when nothing is open.
  void reset();

 private:
  static constexpr int kNone = -1;
  int fd_ = kNone;
};

/// open(2) and openat(2), never inherited by the programs we start (O_CLOEXEC) and not disturbed by
/// signals. When the result is not open, errno says why.
FileDescriptor open_descriptor(const char* path, int flags, mode_t mode = 0);
FileDescriptor open_descriptor_at(int folder, const char* path, int flags, mode_t mode = 0);

/// The same file with a number above 2: in a program started with stdin closed, open() returns 0,
/// which a child is to find replaced.
FileDescriptor above_stdio(FileDescriptor file);

/// read(2), begun again when a signal interrupts it: bytes read, 0 at the end, -1 with errno.
ssize_t read_some(int fd, char* buffer, std::size_t size);

/// Writes all of `bytes`, in as many pieces as the system takes; waits where the descriptor is
/// non-blocking. 0, or the errno that stopped it.
int write_all(int fd, std::string_view bytes);

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

/// A file that is part of the program; cmake/embed_tree.cmake puts it there.
struct EmbeddedFile {
  std::string_view path;  ///< below the folder it came from: `dataset/sampling/random.yaml`
  std::string_view text;
};

}  // namespace profline
