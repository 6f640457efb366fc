#include "process/process_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace profline {
namespace {

template <typename Number>
bool parse(std::string_view text, Number& number) noexcept {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

/// Removes the field before the next space from the front.
std::string_view next_field(std::string_view& text) noexcept {
  const std::size_t space = text.find(' ');
  const std::string_view field = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return field;
}

/// "4711 (a name) S 1 4711 ...": the name may contain spaces and parentheses, so the last ')' ends
/// it.
bool parse_stat(std::string_view line, ProcessStat& process) noexcept {
  constexpr int kFieldsBetweenParentAndStart = 17;  // fields 5 to 21
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  const std::string_view name =
      line.substr(open + 1, close - open - 1).substr(0, process.name.size() - 1);
  process.name = {};
  std::memcpy(process.name.data(), name.data(), name.size());
  std::string_view rest = line.substr(close + 1);
  if (rest.size() < 3) return false;
  process.state = rest[1];
  rest.remove_prefix(3);  // " S "
  if (!parse(next_field(rest), process.parent)) return false;
  for (int i = 0; i < kFieldsBetweenParentAndStart; ++i) next_field(rest);
  return parse(next_field(rest), process.start_ticks);
}

}  // namespace

bool read_process(pid_t pid, ProcessStat& process) noexcept {
  constexpr std::string_view kFolder = "/proc/";
  constexpr std::string_view kFile = "/stat";
  std::array<char, 64> path{};
  std::memcpy(path.data(), kFolder.data(), kFolder.size());
  char* end = std::to_chars(path.data() + kFolder.size(), path.data() + 32, pid).ptr;
  std::memcpy(end, kFile.data(), kFile.size());

  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  // All 52 fields at their widest do not fit, but the first 22 do.
  std::array<char, 1024> text{};
  const ssize_t length = ::read(file, text.data(), text.size());
  ::close(file);
  process.pid = pid;
  return length > 0 && parse_stat({text.data(), static_cast<std::size_t>(length)}, process);
}

bool descends_from(const ProcessStat& process, pid_t ancestor) noexcept {
  // If a process of the chain ends while we climb, its children move elsewhere: climb again.
  constexpr int kAttempts = 4;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ProcessStat at = process;
    if (attempt > 0 && !read_process(process.pid, at)) return false;
    bool whole = true;
    while (whole && at.parent > 0) {
      if (at.parent == ancestor) return true;
      whole = read_process(at.parent, at);
    }
    if (whole) return false;
  }
  return false;
}

ProcessList::ProcessList() noexcept
    : folder_(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

ProcessList::~ProcessList() {
  if (folder_ >= 0) ::close(folder_);
}

pid_t ProcessList::next() noexcept {
  while (folder_ >= 0) {
    if (at_ == end_) {
      const ssize_t length = ::getdents64(folder_, entries_.data(), entries_.size());
      if (length <= 0) return 0;
      at_ = 0;
      end_ = static_cast<std::size_t>(length);
    }
    const auto* entry = reinterpret_cast<const dirent64*>(entries_.data() + at_);
    at_ += entry->d_reclen;
    pid_t pid = 0;
    if (parse(std::string_view(entry->d_name), pid)) return pid;
  }
  return 0;
}

}  // namespace profline
