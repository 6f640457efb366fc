#include "tiles/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/digests.h"
#include "base/files.h"
#include "tiles/internal/layout.h"

namespace profline::tiles {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".tiles";

fs::path index_file(const fs::path& folder, const fs::path& capture) {
  return folder / (sha256_hex(capture.string()).substr(0, 32) + kEnding);
}

/// Held while an index is being built. One file serves all indexes, each of which locks a byte of
/// its own.
Result<FileDescriptor> lock_for(const fs::path& index) {
  const fs::path path = index.parent_path() / "lock";
  FileDescriptor file = open_descriptor(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file.is_open()) return os_error("open", path, errno);
  struct flock region {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  region.l_start =
      static_cast<off_t>(std::stoull(index.stem().string().substr(0, 15), nullptr, 16));
  region.l_len = 1;
  while (::fcntl(file.get(), F_OFD_SETLKW, &region) != 0) {
    if (errno != EINTR) return os_error("lock", path, errno);
  }
  return file;
}

/// So that the indexes used longest ago are known.
void mark_as_used(const fs::path& index) {
  ::utimensat(AT_FDCWD, index.c_str(), nullptr, 0);
}

/// Removes the indexes used longest ago until the rest is small enough. Whoever has one open keeps
/// it.
void make_room(const Cache& cache, const fs::path& needed) {
  struct Kept {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> kept;
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::directory_iterator it(cache.folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    std::error_code gone;
    if (it->path().extension() != kEnding) continue;
    const std::uint64_t size = it->file_size(gone);
    const fs::file_time_type used = it->last_write_time(gone);
    if (gone) continue;
    bytes += size;
    if (it->path() != needed) kept.push_back({used, size, it->path()});
  }
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& index : kept) {
    if (bytes <= cache.most_bytes) return;
    if (fs::remove(index.path, failure)) bytes -= index.bytes;
  }
}

}  // namespace

fs::path cache_folder(const std::optional<std::string>& xdg_cache_home,
                      const std::optional<std::string>& home) {
  if (xdg_cache_home && fs::path(*xdg_cache_home).is_absolute()) {
    return fs::path(*xdg_cache_home) / "profline" / "tiles";
  }
  if (!home || !fs::path(*home).is_absolute()) return {};
  return fs::path(*home) / ".cache" / "profline" / "tiles";
}

Result<std::string> identity_of(const fs::path& capture) {
  struct stat facts {};
  if (::stat(capture.c_str(), &facts) != 0) return os_error("read", capture, errno);
  return std::to_string(internal::kLayoutVersion) + " " + std::to_string(facts.st_size) + " " +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec) + " " +
         capture.string();
}

Result<Index> open_kept_index(const fs::path& capture, const Cache& cache) {
  std::error_code failure;
  const fs::path real = fs::canonical(capture, failure);
  if (failure) return os_error("read", capture, failure.value());
  const fs::path file = index_file(cache.folder, real);
  Result<Index> index = Index::open(file, PL_TRY(identity_of(real)));
  if (index) mark_as_used(file);
  return index;
}

Result<Index> open_index(const fs::path& capture, const Cache& cache, const BuildOptions& options) {
  std::error_code failure;
  const fs::path real = fs::canonical(capture, failure);
  if (failure) return os_error("read", capture, failure.value());
  const std::string identity = PL_TRY(identity_of(real));
  PL_TRY(create_folders(cache.folder));
  const fs::path file = index_file(cache.folder, real);
  // Any reason not to open it is a reason to build it; what prevents that too is reported then.
  if (auto index = open_kept_index(capture, cache)) return index;
  const FileDescriptor lock = PL_TRY(lock_for(file));
  // Somebody else may have built it meanwhile.
  if (auto index = Index::open(file, identity)) return index;
  // Of builds that were killed. One that cannot be removed takes room and does no harm.
  static_cast<void>(remove_stale_temporaries(cache.folder, SystemClock()));
  PL_TRY(build_index(real, file, identity, options));
  if (PL_TRY(identity_of(real)) != identity) {
    fs::remove(file, failure);
    return Error(ErrorKind::Io, "changed while it was being read", {capture.string(), 0, 0});
  }
  make_room(cache, file);
  return Index::open(file, identity);
}

void remove_index(const fs::path& capture, const Cache& cache) {
  std::error_code failure;
  const fs::path real = fs::canonical(capture, failure);
  if (!failure) fs::remove(index_file(cache.folder, real), failure);
}

}  // namespace profline::tiles
