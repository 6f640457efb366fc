#include "inputs/weights/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "base/files.h"
#include "base/os_error.h"

namespace profline::weights {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  PL_TRY(profline::internal::check_path("read", path));
  // Non-blocking: a pipe without a writer must be refused, not waited for.
  const FileDescriptor file = open_descriptor(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!file.is_open()) return os_error("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return os_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) return os_error("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return os_error("read", path, ErrorKind::NotFound, "it is no regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) return os_error("map", path, errno);
  return MappedFile(start, size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  start_ = std::exchange(other.start_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

MappedFile::~MappedFile() {
  unmap();
}

void MappedFile::unmap() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

}  // namespace profline::weights
