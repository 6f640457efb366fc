#include "pipeline/child_log.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/atomic_file.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/os_error.h"
#include "process/log_limits.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_part(const FileDescriptor& file, const fs::path& path, std::uint64_t from,
                              std::uint64_t length) {
  std::string bytes(length, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

/// Beginning and end, in whole lines as far as there are lines, with a line between.
std::string cut(std::string head, std::string tail, std::uint64_t size, std::uint64_t& left_out) {
  constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
  const std::size_t last = head.rfind('\n');
  if (last != std::string::npos && head.size() - last < kLongestLine) head.resize(last + 1);
  const std::size_t first = tail.find('\n');
  if (first != std::string::npos && first < kLongestLine) tail.erase(0, first + 1);
  left_out = size - head.size() - tail.size();
  const std::string gap = head.ends_with('\n') ? "" : "\n";
  return head + gap + "[profline: " + human_bytes(left_out) +
         " of output left out here; the first " + human_bytes(kLogHeadBytes) + " and the last " +
         human_bytes(kLogTailBytes) + " are kept]\n" + tail;
}

}  // namespace

Result<std::uint64_t> settle_log(const fs::path& log, const Redactor& redactor) {
  auto file = open_for_reading(log);
  if (!file && file.error().kind() == ErrorKind::NotFound) return std::uint64_t{0};
  if (!file) return std::move(file).error();
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return os_error("read", log, errno);
  if (!S_ISREG(status.st_mode)) return std::uint64_t{0};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t left_out = 0;
  std::string text;
  if (size > kLogHeadBytes + kLogTailBytes) {
    std::string head = PL_TRY(read_part(*file, log, 0, kLogHeadBytes));
    text = cut(std::move(head), PL_TRY(read_part(*file, log, size - kLogTailBytes, kLogTailBytes)),
               size, left_out);
  } else {
    text = PL_TRY(read_part(*file, log, 0, size));
  }
  const std::string kept = redactor.output(text);
  if (left_out > 0 || kept != text) PL_TRY(write_private_file(log, kept));
  return left_out;
}

}  // namespace profline::pipeline
