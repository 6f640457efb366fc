#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/digests.h"
#include "base/error.h"
#include "base/files.h"

namespace profline {
namespace {

struct Registry {
  std::recursive_timed_mutex mutex;
  std::map<std::uint64_t, std::function<void()>> works;  // in the order in which they began
  std::uint64_t last_id = 0;
};

Registry& registry() {
  // Never destroyed: a thread may end the program while its static objects go.
  static auto* const only = new Registry;
  return *only;
}

}  // namespace

UnfinishedWork::Lock UnfinishedWork::lock() {
  return Lock(registry().mutex);
}

UnfinishedWork::UnfinishedWork(std::function<void()> undo) {
  const Lock held = lock();
  id_ = ++registry().last_id;
  registry().works.emplace(id_, std::move(undo));
}

UnfinishedWork::UnfinishedWork(UnfinishedWork&& other) noexcept
    : id_(std::exchange(other.id_, 0)) {}

UnfinishedWork& UnfinishedWork::operator=(UnfinishedWork&& other) noexcept {
  if (this != &other) {
    finish();
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

void UnfinishedWork::finish() noexcept {
  if (id_ == 0) return;
  const Lock held = lock();
  registry().works.erase(std::exchange(id_, 0));
}

void undo_unfinished_work() {
  constexpr std::chrono::milliseconds kPatience{100};
  Registry& all = registry();
  if (!all.mutex.try_lock_for(kPatience)) return;  // and never unlocked
  while (!all.works.empty()) {
    const auto youngest = std::prev(all.works.end());
    const std::function<void()> undo = std::move(youngest->second);
    all.works.erase(youngest);
    undo();
  }
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAttempt = "write";

// .profline-tmp-1f0c22ab-9d41c07be2a95f36: digits for this machine since its last start, then a
// random number. The length is fixed, so that the target's name may be as long as the file system
// allows.
constexpr std::string_view kTemporaryPrefix = ".profline-tmp-";
constexpr std::size_t kMachineDigits = 8;
constexpr std::size_t kRandomDigits = 16;
constexpr std::string_view kUnknownMachine = "00000000";

/// Digits that differ between machines, and between two starts of the same machine.
std::string machine_digits() {
  const Result<std::string> boot_id = read_file("/proc/sys/kernel/random/boot_id");
  return boot_id ? sha256_hex(*boot_id).substr(0, kMachineDigits) : std::string(kUnknownMachine);
}

std::string new_temporary_name() {
  std::uint64_t number = 0;
  PL_ASSERT(::getrandom(&number, sizeof number, 0) == ssize_t{sizeof number},
            "the kernel gives a few random bytes without fail");
  return fmt::format("{}{}-{:016x}", kTemporaryPrefix, machine_digits(), number);
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The machine's digits in the name of a temporary; nothing for any other name.
std::optional<std::string_view> machine_in(std::string_view name) {
  if (name.size() != kTemporaryPrefix.size() + kMachineDigits + 1 + kRandomDigits) return {};
  if (name.substr(0, kTemporaryPrefix.size()) != kTemporaryPrefix) return {};
  name.remove_prefix(kTemporaryPrefix.size());
  const std::string_view machine = name.substr(0, kMachineDigits);
  const bool well_formed =
      name[kMachineDigits] == '-' && is_hex(machine) && is_hex(name.substr(kMachineDigits + 1));
  return well_formed ? std::optional(machine) : std::nullopt;
}

enum class Lock { Taken, HeldByAnother, Unsupported };

Lock try_lock(const FileDescriptor& file) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return Lock::Taken;
  return errno == EWOULDBLOCK ? Lock::HeldByAnother : Lock::Unsupported;
}

/// Returns 0 or errno. Success where the file system does not support fsync for this kind of file.
int sync(const FileDescriptor& file) {
  while (::fsync(file.get()) != 0) {
    if (errno == EINVAL || errno == ENOTSUP) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// The path that a write to `path` ends up at, with symbolic links in the last component followed.
Result<fs::path> follow_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  fs::path place = path;
  for (int link = 0; link < kMostLinks; ++link) {
    std::error_code failure;
    const fs::path target = fs::read_symlink(place, failure);
    if (failure) return place;  // not a link, or nothing there; opening it will report that
    place = target.is_absolute() ? target : place.parent_path() / target;
  }
  return os_error(kAttempt, path, ELOOP);
}

Result<FileDescriptor> open_folder(const fs::path& path, const fs::path& folder) {
  FileDescriptor opened = open_descriptor(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened.is_open()) return opened;
  if (errno == ENOENT) {
    return os_error(kAttempt, path, ErrorKind::NotFound, "no such folder " + folder.string());
  }
  if (errno == ENOTDIR) {
    return os_error(kAttempt, path, ErrorKind::NotFound, folder.string() + " is not a directory");
  }
  return os_error(kAttempt, path, errno);
}

/// The permission bits of the file to be replaced; nothing when it does not exist yet.
Result<std::optional<mode_t>> permissions_to_keep(const fs::path& path, int folder,
                                                  const std::string& name) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, 0) != 0) {
    if (errno == ENOENT) return std::optional<mode_t>();
    return os_error(kAttempt, path, errno);
  }
  if (S_ISDIR(status.st_mode)) return os_error(kAttempt, path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return os_error(kAttempt, path, ErrorKind::NotFound, "it is not a regular file");
  }
  return std::optional<mode_t>(status.st_mode & 0777U);
}

}  // namespace

/// The state between create() and commit(); its destructor removes the temporary.
struct AtomicFile::Pending {
  fs::path path;     // as given, for messages
  std::string name;  // the target in the folder
  FileDescriptor folder;
  FileDescriptor file;
  std::string temporary;  // its name in the folder; empty before creation, after the end
  std::string collected;  // bytes not yet handed to the system
  std::optional<Error> failure;
  UnfinishedWork unfinished;  // while there is a temporary

  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { discard(); }

  void discard() {
    if (!temporary.empty()) ::unlinkat(folder.get(), temporary.c_str(), 0);
    temporary.clear();
    unfinished.finish();
  }

  Result<void> create_temporary(std::optional<mode_t> permissions);
  Result<void> write(std::string_view bytes);
  Result<void> fail(int error_number);
};

Result<void> AtomicFile::Pending::create_temporary(std::optional<mode_t> permissions) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string candidate = new_temporary_name();
    const UnfinishedWork::Lock made_and_noted = UnfinishedWork::lock();
    file = open_descriptor_at(folder.get(), candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL,
                              permissions.value_or(0666));
    if (!file.is_open() && errno == EEXIST) continue;
    if (!file.is_open()) return os_error(kAttempt, path, errno);
    temporary = candidate;
    unfinished =
        UnfinishedWork([at = folder.get(), candidate] { ::unlinkat(at, candidate.c_str(), 0); });
    // A clean-up may have run between the creation and the lock, and removed the file.
    struct stat status {};
    const Lock lock = try_lock(file);
    if (lock == Lock::HeldByAnother || ::fstat(file.get(), &status) != 0 || status.st_nlink == 0) {
      discard();
      continue;
    }
    if (permissions && ::fchmod(file.get(), *permissions) != 0) return fail(errno);
    return {};
  }
  return os_error(kAttempt, path, ErrorKind::Io, "no temporary name is free");
}

Result<void> AtomicFile::Pending::write(std::string_view bytes) {
  const int error_number = write_all(file.get(), bytes);
  return error_number == 0 ? Result<void>() : fail(error_number);
}

Result<void> AtomicFile::Pending::fail(int error_number) {
  discard();
  failure = os_error(kAttempt, path, error_number);
  return *failure;
}

AtomicFile::AtomicFile(std::unique_ptr<Pending> pending) : pending_(std::move(pending)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  return create(path, Access::Usual);
}

Result<AtomicFile> AtomicFile::create_private(const fs::path& path) {
  return create(path, Access::Private);
}

Result<AtomicFile> AtomicFile::create(const fs::path& path, Access access) {
  constexpr mode_t kOwnerOnly = 0600;
  PL_TRY(internal::check_path(kAttempt, path));
  const fs::path place = PL_TRY(follow_links(path));
  const fs::path name = place.filename();
  if (name.empty() || name == "." || name == "..") return os_error(kAttempt, path, EISDIR);
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");

  auto pending = std::make_unique<Pending>();
  pending->path = path;
  pending->name = name.string();
  pending->folder = PL_TRY(open_folder(path, folder));
  std::optional<mode_t> permissions =
      PL_TRY(permissions_to_keep(path, pending->folder.get(), pending->name));
  if (access == Access::Private) permissions = kOwnerOnly;
  PL_TRY(pending->create_temporary(permissions));
  return AtomicFile(std::move(pending));
}

Result<void> AtomicFile::append(std::string_view bytes) {
  constexpr std::size_t kCollectedBytes = std::size_t{64} * 1024;
  PL_ASSERT(pending_ != nullptr, "nothing is appended to a committed file");
  if (pending_->failure) return *pending_->failure;
  if (pending_->collected.size() + bytes.size() < kCollectedBytes) {
    pending_->collected += bytes;
    return {};
  }
  PL_TRY(pending_->write(pending_->collected));
  pending_->collected.clear();
  return pending_->write(bytes);
}

Result<void> AtomicFile::commit() {
  PL_ASSERT(pending_ != nullptr, "a file is committed once");
  const std::unique_ptr<Pending> pending = std::move(pending_);
  if (pending->failure) return *pending->failure;
  PL_TRY(pending->write(pending->collected));
  if (const int failed = sync(pending->file)) return pending->fail(failed);
  // The lock is still held: nobody takes the temporary for a stale one before the rename.
  const int folder = pending->folder.get();
  if (::renameat(folder, pending->temporary.c_str(), folder, pending->name.c_str()) != 0) {
    return pending->fail(errno);
  }
  pending->temporary.clear();
  pending->unfinished.finish();
  if (const int failed = sync(pending->folder)) {
    return os_error("make durable", pending->path, failed);
  }
  return {};
}

Result<void> write_private_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file = PL_TRY(AtomicFile::create_private(path));
  PL_TRY(file.append(bytes));
  return file.commit();
}

namespace {

bool left_alone_for_a_day(const struct stat& status, const Clock& clock) {
  const auto changed = std::chrono::system_clock::from_time_t(status.st_mtime);
  return clock.wall_now() - changed > std::chrono::hours(24);
}

/// Whether the temporary's writer is gone; false when in doubt. If true, `file` may hold the lock.
bool is_stale(const FileDescriptor& file, bool made_here, const Clock& clock) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  switch (try_lock(file)) {
    case Lock::HeldByAnother:
      return false;
    case Lock::Taken:
      return made_here || left_alone_for_a_day(status, clock);
    case Lock::Unsupported:
      break;
  }
  return left_alone_for_a_day(status, clock);
}

}  // namespace

Result<std::vector<fs::path>> remove_stale_temporaries(const fs::path& folder, const Clock& clock) {
  constexpr std::string_view kClearing = "clean up";
  PL_TRY(internal::check_path(kClearing, folder));
  const std::string here = machine_digits();
  std::vector<fs::path> removed;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    const std::optional<std::string_view> machine = machine_in(name);
    if (!machine) continue;
    // Opened for writing because NFS requires it for an exclusive lock; non-blocking because of
    // pipes.
    const FileDescriptor file =
        open_descriptor(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    const bool made_here = *machine == here && here != kUnknownMachine;
    if (!file.is_open() || !is_stale(file, made_here, clock)) continue;
    if (::unlink(path.c_str()) == 0) removed.push_back(path);
  }
  if (failure) return os_error(kClearing, folder, failure.value());
  std::sort(removed.begin(), removed.end());
  return removed;
}

}  // namespace profline
