#include "base/file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace profline {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, kNone);
  }
  return *this;
}

void FileDescriptor::reset() {
  // Not repeated on EINTR: Linux has freed the number by then, and it may be another file's
  // already.
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

}  // namespace profline
