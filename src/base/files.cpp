#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace profline {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, kNone);
  }
  return *this;
}

void FileDescriptor::reset() {
  // Not retried on EINTR: Linux has already freed the number, and another file may have it by now.
  if (fd_ != kNone) ::close(std::exchange(fd_, kNone));
}

FileDescriptor open_descriptor(const char* path, int flags, mode_t mode) {
  return open_descriptor_at(AT_FDCWD, path, flags, mode);
}

FileDescriptor open_descriptor_at(int folder, const char* path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::openat(folder, path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd < 0 ? FileDescriptor() : FileDescriptor(fd);
}

FileDescriptor above_stdio(FileDescriptor file) {
  if (!file.is_open() || file.get() > STDERR_FILENO) return file;
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

ssize_t read_some(int fd, char* buffer, std::size_t size) {
  ssize_t count = -1;
  do {
    count = ::read(fd, buffer, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd writable{fd, POLLOUT, 0};
      if (::poll(&writable, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

namespace {

namespace fs = std::filesystem;

/// The current size of a regular file, as a first guess; 0 for anything else.
std::size_t expected_size(const FileDescriptor& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || status.st_size <= 0) return 0;
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

namespace internal {

Result<void> check_path(std::string_view attempt, const fs::path& path) {
  if (path.empty()) return os_error(attempt, path, ErrorKind::NotFound, "the name is empty");
  if (path.native().find('\0') != std::string::npos) {
    return os_error(attempt, path, ErrorKind::NotFound, "the name contains a NUL byte");
  }
  return {};
}

}  // namespace internal

Result<FileDescriptor> open_for_reading(const fs::path& path) {
  PL_TRY(internal::check_path("read", path));
  FileDescriptor file = open_descriptor(path.c_str(), O_RDONLY | O_NOCTTY);
  if (!file.is_open()) return os_error("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return os_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) return os_error("read", path, EISDIR);
  return file;
}

Result<std::string> read_file(const fs::path& path) {
  constexpr std::size_t kLeastRoom = 4096;
  const FileDescriptor file = PL_TRY(open_for_reading(path));
  std::string bytes;
  std::size_t filled = 0;
  // One byte more than expected, so that the read that finds the end needs no more room.
  bytes.resize(std::max(kLeastRoom, expected_size(file) + 1));
  while (true) {
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = read_some(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0) return os_error("read", path, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

Result<void> write_file_atomic(const fs::path& path, std::string_view bytes) {
  AtomicFile file = PL_TRY(AtomicFile::create(path));
  PL_TRY(file.append(bytes));
  return file.commit();
}

Result<void> create_folders(const fs::path& path) {
  constexpr std::string_view kAttempt = "create the folder";
  PL_TRY(internal::check_path(kAttempt, path));
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), 0777) == 0) continue;
    const int cause = errno;
    std::error_code ignored;
    if (fs::is_directory(made, ignored)) continue;
    if (cause == EEXIST || cause == ENOTDIR) {
      return os_error(kAttempt, path, ErrorKind::NotFound, made.string() + " is not a directory");
    }
    return os_error(kAttempt, path, cause);
  }
  return {};
}

Result<std::uint64_t> free_bytes(const fs::path& path) {
  constexpr std::string_view kAttempt = "determine the free space at";
  PL_TRY(internal::check_path(kAttempt, path));
  fs::path place = path;
  struct statvfs status {};
  while (::statvfs(place.c_str(), &status) != 0) {
    if (errno == EINTR) continue;
    if (errno != ENOENT || place == place.root_path() || place == ".") {
      return os_error(kAttempt, path, errno);
    }
    place = place.has_parent_path() ? place.parent_path() : fs::path(".");
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace profline
