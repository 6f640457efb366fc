#include "process/internal/output_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "process/environment.h"
#include "process/runner.h"

namespace profline::internal {
namespace {

constexpr mode_t kMode = 0666;       // minus the user's umask
constexpr mode_t kOwnerOnly = 0600;  // programs print command lines, and worse

Error cannot_write(const std::filesystem::path& path, int error) {
  return Error(ErrorKind::Io, "cannot write output to '" + path.string() + "': " + strerror(error));
}

Result<FileDescriptor> nameless_file() {
  const std::filesystem::path folder = PL_TRY(temporary_folder());
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600)));
  if (file.is_open()) return file;
  // Not every file system supports O_TMPFILE.
  std::string name = (folder / "profline-XXXXXX").string();
  file = above_stdio(FileDescriptor(::mkostemp(name.data(), O_APPEND | O_CLOEXEC)));
  if (!file.is_open()) return cannot_write(name, errno);
  ::unlink(name.c_str());
  return file;
}

}  // namespace

Result<OutputLog> OutputLog::open(const std::filesystem::path& path) {
  if (path.empty()) return OutputLog(PL_TRY(nameless_file()));
  // One open file for both streams, in append mode, to keep the order of the output.
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly)));
  if (!file.is_open()) return cannot_write(path, errno);
  return OutputLog(std::move(file));
}

OutputLog::OutputLog(FileDescriptor file)
    : file_(std::move(file)), start_(size()), seen_(start_), given_back_(kLogHeadBytes) {}

std::uint64_t OutputLog::size() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || status.st_size < 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

std::string OutputLog::read_between(std::uint64_t from, std::uint64_t to) const {
  from = std::max(from, to - std::min<std::uint64_t>(to, Exit::kTailBytes));
  if (from >= to) return {};
  std::string bytes(to - from, '\0');
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + length, bytes.size() - length,
                                static_cast<off_t>(from + length));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // truncated by someone else, or not readable
    length += static_cast<std::size_t>(got);
  }
  bytes.resize(length);
  return bytes;
}

/// The child keeps appending, so nothing can be moved; a hole needs no move. Without holes (some
/// network file systems) the file is cut after the child has ended.
void OutputLog::give_back_middle(std::uint64_t end) {
  constexpr std::uint64_t kStep = std::uint64_t{8} << 20U;
  if (end < given_back_ + kLogTailBytes + kStep) return;
  const std::uint64_t upto = end - kLogTailBytes;
  static_cast<void>(::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(given_back_),
                                static_cast<off_t>(upto - given_back_)));
  given_back_ = upto;
}

std::string OutputLog::new_bytes() {
  const std::uint64_t end = size();
  std::string bytes = read_between(seen_, end);
  seen_ = end;
  give_back_middle(end);
  return bytes;
}

std::string OutputLog::tail() const {
  return read_between(start_, size());
}

Result<FileDescriptor> create_output(const std::filesystem::path& path) {
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode)));
  if (!file.is_open()) return cannot_write(path, errno);
  return file;
}

}  // namespace profline::internal
