#include "run_index/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace profline::run_index {

FolderLock::FolderLock(const std::filesystem::path& folder, Kind kind)
    : folder_(open_descriptor(folder.c_str(), O_RDONLY | O_DIRECTORY)) {
  const int operation = kind == Kind::Own ? LOCK_EX : LOCK_SH;
  if (!folder_.is_open()) return;
  held_ = ::flock(folder_.get(), operation | LOCK_NB) == 0;
  taken_ = !held_ && errno == EWOULDBLOCK;
}

}  // namespace profline::run_index
