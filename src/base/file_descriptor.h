#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>
#include <utility>

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

/// read(2), begun again when a signal interrupts it: bytes read, 0 at the end, -1 with errno.
ssize_t read_some(int fd, char* buffer, std::size_t size);

/// Writes all of `bytes`, in as many pieces as the system takes; waits where the descriptor is
/// non-blocking. 0, or the errno that stopped it.
int write_all(int fd, std::string_view bytes);

}  // namespace profline
