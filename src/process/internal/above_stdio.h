#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/file_descriptor.h"

namespace profline::internal {

/// The same file with a number above 2: in a program started with stdin closed, open() returns 0,
/// which a child is to find replaced.
inline FileDescriptor above_stdio(FileDescriptor file) {
  if (!file.is_open() || file.get() > STDERR_FILENO) return file;
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace profline::internal
