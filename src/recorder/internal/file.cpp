#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "recorder/internal/session.h"
#include "run/names/artifact_names.h"

namespace profline::recorder {
namespace {

/// A write past RLIMIT_FSIZE sends SIGXFSZ, which ends a program that does not expect it. Signals
/// are blocked here; the one that a write of ours caused is taken back.
class FileSizeSignal {
 public:
  FileSizeSignal() {
    sigset_t pending;
    had_one_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }
  ~FileSizeSignal() {
    if (had_one_) return;
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    const timespec at_once{};
    sigtimedwait(&signal, nullptr, &at_once);
  }
  FileSizeSignal(const FileSizeSignal&) = delete;
  FileSizeSignal& operator=(const FileSizeSignal&) = delete;

 private:
  bool had_one_ = false;
};

/// Closes the descriptor at the end of the scope.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// The session's file, or -1 with errno.
int reopen(const Session& session) {
  const int fd = open(session.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  struct stat found {};
  if (fstat(fd, &found) != 0 || found.st_dev != session.device || found.st_ino != session.inode) {
    close(fd);
    errno = ESTALE;
    return -1;
  }
  return fd;
}

/// 0 or an errno. Space is reserved, so that the mapped file cannot run out of it later.
int reserve(int fd, std::uint64_t offset, std::size_t bytes) {
  const FileSizeSignal signal;
  return posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

/// 0 or an errno.
int write_all(int fd, const void* data, std::size_t bytes, std::uint64_t offset) {
  const FileSizeSignal signal;
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(fd, next, bytes, static_cast<off_t>(offset));
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    next += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

/// Takes a part of the file; false at its limit.
bool allocate(Session& session, std::size_t bytes, std::size_t alignment, std::uint64_t& offset) {
  std::uint64_t end = session.end.load();
  std::uint64_t begin = 0;
  do {
    begin = (end + alignment - 1) / alignment * alignment;
    if (begin + bytes > session.limit) {
      stop(session, Loss::Limit, 0);
      return false;
    }
  } while (!session.end.compare_exchange_weak(end, begin + bytes));
  offset = begin;
  return true;
}

char* append(char* at, const char* text) {
  while (*text != '\0') *at++ = *text++;
  return at;
}

char* append(char* at, std::uint64_t number) {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *at++ = digits[--count];
  return at;
}

/// `<folder>/ranges-<pid>-<time>.bin`. A process that calls exec keeps its number and its start
/// time, so the time is that of the file.
void set_path(Session& session, const char* folder, std::uint64_t time_ns) {
  char* at = append(session.path, folder);
  at = append(at, "/");
  at = append(at, run::files::kRecordedRangesPrefix);
  at = append(at, static_cast<std::uint64_t>(getpid()));
  at = append(at, "-");
  at = append(at, time_ns);
  at = append(at, run::files::kRecordedRangesSuffix);
  *at = '\0';
}

/// The new file, or -1 with errno.
int create(Session& session, const char* folder, std::uint64_t time_ns) {
  for (std::uint64_t attempt = 0; attempt < 16; ++attempt) {
    set_path(session, folder, time_ns + attempt);
    const int fd = open(session.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

void fill_header(FileHeader& header, std::uint64_t time_ns, bool forked) {
  header.version = kVersion;
  header.header_bytes = kHeaderBytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.parent_pid = static_cast<std::uint32_t>(getppid());
  header.start_ns = time_ns;
  timespec clock{};
  clock_gettime(CLOCK_REALTIME, &clock);
  header.start_unix_ns = static_cast<std::uint64_t>(clock.tv_sec) * 1'000'000'000U +
                         static_cast<std::uint64_t>(clock.tv_nsec);
  header.forked = forked ? 1 : 0;
  std::strncpy(header.program, program_invocation_short_name, sizeof header.program - 1);
  std::atomic_ref(header.magic).store(kFileMagic, std::memory_order_release);
}

/// Why a file could not be mapped, by errno: some network file systems cannot map files.
Loss unmapped() {
  return errno == ENOMEM || errno == EAGAIN ? Loss::Memory : Loss::Disk;
}

/// Maps part of a file, or null.
void* map_shared(int fd, std::uint64_t offset, std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

void* map_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void create_file(Session& session, const char* folder, bool forked) {
  const std::uint64_t time_ns = now_ns();
  const OpenFile file(create(session, folder, time_ns));
  if (file.get() < 0) return stop(session, Loss::Disk, errno);
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return stop(session, Loss::Disk, errno);
  session.device = found.st_dev;
  session.inode = found.st_ino;
  // A file that stays empty reports that there was no space even for the header.
  if (const int error = reserve(file.get(), 0, kHeaderBytes)) {
    return stop(session, Loss::Disk, error);
  }
  void* const memory = map_shared(file.get(), 0, kHeaderBytes);
  if (memory == nullptr) return stop(session, unmapped(), errno);
  session.header = static_cast<FileHeader*>(memory);
  session.end.store(kHeaderBytes);
  fill_header(*session.header, time_ns, forked);
  add_stage(session, ChunkKind::Names, session.names.stage);
}

bool add_stage(Session& session, ChunkKind kind, Stage& stage) {
  if (session.stopped.load(std::memory_order_relaxed) != 0) return false;
  std::uint64_t offset = 0;
  if (!allocate(session, kStageBytes, kStageBytes, offset)) return false;
  const OpenFile file(reopen(session));
  const int error = file.get() < 0 ? errno : reserve(file.get(), offset, kStageBytes);
  if (error != 0) {
    stop(session, Loss::Disk, error);
    return false;
  }
  void* const memory = map_shared(file.get(), offset, kStageBytes);
  if (memory == nullptr) {
    stop(session, unmapped(), errno);
    return false;
  }
  stage.chunk = static_cast<ChunkHeader*>(memory);
  stage.lap = 0;
  stage.used = sizeof(ChunkHeader);
  stage.chunk->kind = static_cast<std::uint32_t>(kind);
  stage.chunk->bytes = kStageBytes;
  stage.chunk->stage = session.stages.fetch_add(1);
  stage.chunk->state = stage.used;
  std::atomic_ref(stage.chunk->magic).store(kChunkMagic, std::memory_order_release);
  return true;
}

bool flush(Session& session, Stage& stage, std::uint32_t thread) {
  if (session.stopped.load(std::memory_order_relaxed) != 0) return false;
  std::uint64_t offset = 0;
  if (!allocate(session, kStageBytes, kChunkAlignment, offset)) return false;
  const OpenFile file(reopen(session));
  const int error =
      file.get() < 0 ? errno : write_all(file.get(), stage.chunk, kStageBytes, offset);
  if (error != 0) {
    stop(session, Loss::Disk, error);
    return false;
  }
  stage.lap += std::uint64_t{1} << 32;
  stage.used = sizeof(ChunkHeader);
  stage.chunk->thread = thread;
  // Until this store, the stage counts and the copy does not.
  std::atomic_ref(stage.chunk->state).store(stage.lap | stage.used, std::memory_order_release);
  return true;
}

bool write_long_name(Session& session, const NameHeader& header, const char* text) {
  if (session.stopped.load(std::memory_order_relaxed) != 0) return false;
  const std::size_t used =
      sizeof(ChunkHeader) + sizeof(NameHeader) + padded_name_bytes(header.bytes);
  const std::size_t bytes = (used + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
  std::uint64_t offset = 0;
  if (!allocate(session, bytes, kChunkAlignment, offset)) return false;
  struct {
    ChunkHeader chunk;
    NameHeader name;
  } head{};
  head.chunk.kind = static_cast<std::uint32_t>(ChunkKind::Names);
  head.chunk.magic = kChunkMagic;
  head.chunk.bytes = static_cast<std::uint32_t>(bytes);
  head.chunk.stage = session.stages.fetch_add(1);
  head.chunk.state = used;
  head.name = header;
  const OpenFile file(reopen(session));
  int error = file.get() < 0 ? errno : reserve(file.get(), offset, bytes);
  if (error == 0) error = write_all(file.get(), text, header.bytes, offset + sizeof head);
  if (error == 0) error = write_all(file.get(), &head, sizeof head, offset);
  if (error != 0) {
    stop(session, Loss::Disk, error);
    return false;
  }
  return true;
}

}  // namespace profline::recorder
