#include "pipeline/internal/child_output.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "process/runner.h"

namespace profline::pipeline {
namespace {

constexpr std::size_t kMostBegun = 4096;

bool is_count(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size()) return false;
  constexpr std::string_view kDigits = "0123456789";
  return text.find_first_not_of(kDigits) == slash &&
         kDigits.find(text[slash + 1]) != std::string_view::npos;
}

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

/// The beginning and the end, in whole lines where possible, with a line between them.
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

std::string_view shown_part(std::string_view line) {
  line = trim(line);
  if (line.starts_with("warning: ")) return {};
  const std::size_t gap = line.find("  ");
  if (gap == std::string_view::npos) return line;
  const std::string_view rest = trim(line.substr(gap));
  const bool is_one_word = line.substr(0, gap).find(' ') == std::string_view::npos;
  if (is_one_word && is_count(rest)) return rest;
  const bool is_step = rest == "started" || rest.starts_with("ok  ");
  return is_one_word && is_step ? std::string_view() : line;
}

void ChildOutput::show(std::string_view line) {
  const std::string_view shown = shown_part(line);
  if (!shown.empty()) progress_.note(shown);
}

void ChildOutput::take(std::string_view bytes) {
  if (bytes.empty()) progress_.tick();
  while (!bytes.empty()) {
    // A progress bar that redraws itself returns to the start of its line.
    const std::size_t end = bytes.find_first_of("\r\n");
    begun_ += bytes.substr(0, std::min(end, bytes.size()));
    if (end == std::string_view::npos) break;
    show(begun_);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  if (begun_.size() > kMostBegun) begun_.clear();
}

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
