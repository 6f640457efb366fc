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

/// Owns an open file descriptor and closes it in the destructor.
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
  /// Gives up ownership: closing the descriptor becomes the caller's responsibility.
  [[nodiscard]] int release() { return std::exchange(fd_, kNone); }
  /// Closes now; does nothing when nothing is open.
  void reset();

 private:
  static constexpr int kNone = -1;
  int fd_ = kNone;
};

/// open(2) and openat(2): not inherited by the programs we start (O_CLOEXEC), and retried when a
/// signal interrupts them. When the result is not open, errno says why.
FileDescriptor open_descriptor(const char* path, int flags, mode_t mode = 0);
FileDescriptor open_descriptor_at(int folder, const char* path, int flags, mode_t mode = 0);

/// The same file with a descriptor above 2: in a program started with stdin closed, open() returns
/// 0, which a child expects to be replaced.
FileDescriptor above_stdio(FileDescriptor file);

/// read(2), retried when a signal interrupts it: bytes read, 0 at the end, -1 with errno.
ssize_t read_some(int fd, char* buffer, std::size_t size);

/// Writes all of `bytes`, in as many calls as it takes; waits if the descriptor is non-blocking.
/// Returns 0, or the errno that stopped it.
int write_all(int fd, std::string_view bytes);

// Every Error below names the path and the cause: `cannot read conf/x.yaml: no such file`. Its kind
// is NotFound where the named file cannot be used, else Io.

/// Opens a file, pipe or device for reading; a directory is an Error.
Result<FileDescriptor> open_for_reading(const std::filesystem::path& path);

/// All bytes of a file; also of a pipe or a file under /proc, whose size is not known in advance.
Result<std::string> read_file(const std::filesystem::path& path);

/// Replaces the content of the file with `bytes`, completely or not at all, even if the program is
/// killed or the disk is full; see AtomicFile for what happens to permissions and links.
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// Creates the folder and its missing parents; succeeds if it exists. (Not called
/// create_directories: argument-dependent lookup would also find that of std::filesystem.)
Result<void> create_folders(const std::filesystem::path& path);

/// The bytes that an unprivileged user can still write to the file system of `path`. The path need
/// not exist yet: its nearest existing parent counts.
Result<std::uint64_t> free_bytes(const std::filesystem::path& path);

namespace internal {
/// An Error for a path that no system call accepts: an empty one, or one with a NUL byte, which
/// would silently name another file.
Result<void> check_path(std::string_view attempt, const std::filesystem::path& path);
}  // namespace internal

/// A file that is compiled into the program; cmake/embed_tree.cmake generates it.
struct EmbeddedFile {
  std::string_view path;  ///< below the folder it came from: `dataset/sampling/random.yaml`
  std::string_view text;
};

}  // namespace profline
