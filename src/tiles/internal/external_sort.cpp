#include "tiles/internal/external_sort.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "tiles/internal/layout.h"

namespace profline::tiles::internal {
namespace {

constexpr std::uint64_t kEventsPerRead = 4096;

/// A file that has no name from the beginning, or loses it at once.
Result<FileDescriptor> unnamed_file(const std::filesystem::path& folder) {
  FileDescriptor file = open_descriptor(folder.c_str(), O_RDWR | O_TMPFILE | O_EXCL, 0600);
  if (file.is_open()) return file;
  std::string name = (folder / ".sort-XXXXXX").string();
  FileDescriptor made(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.is_open()) return os_error("create a temporary file in", folder, errno);
  ::unlink(name.c_str());
  return made;
}

}  // namespace

/// A run, read a piece at a time.
class ExternalSort::RunReader {
 public:
  RunReader(const ExternalSort& sort, Run run) : sort_(&sort), rest_(run) {}

  /// The next event; a null pointer at the end.
  Result<const LaneEvent*> next() {
    if (at_ == events_.size()) PL_TRY(read());
    return at_ < events_.size() ? &events_[at_++] : nullptr;
  }

 private:
  Result<void> read() {
    const std::uint64_t count = std::min(rest_.count, kEventsPerRead);
    events_.resize(count);
    at_ = 0;
    auto* bytes = reinterpret_cast<char*>(events_.data());
    std::size_t missing = count * sizeof(LaneEvent);
    std::uint64_t offset = rest_.offset;
    while (missing > 0) {
      const ssize_t got = ::pread(sort_->file_.get(), bytes, missing, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        return os_error("read a temporary file in", sort_->folder_, got < 0 ? errno : EIO);
      }
      bytes += got;
      offset += static_cast<std::uint64_t>(got);
      missing -= static_cast<std::size_t>(got);
    }
    rest_ = {offset, rest_.count - count};
    return {};
  }

  const ExternalSort* sort_;
  Run rest_;
  std::vector<LaneEvent> events_;
  std::size_t at_ = 0;
};

ExternalSort::ExternalSort(FileDescriptor file, std::filesystem::path folder,
                           std::size_t events_in_memory)
    : file_(std::move(file)), folder_(std::move(folder)), events_in_memory_(events_in_memory) {}

Result<ExternalSort> ExternalSort::in(const std::filesystem::path& folder,
                                      std::size_t events_in_memory) {
  return ExternalSort(PL_TRY(unnamed_file(folder)), folder, events_in_memory);
}

Result<void> ExternalSort::add(const LaneEvent& event) {
  pending_.push_back(event);
  return pending_.size() < events_in_memory_ ? Result<void>() : write_run();
}

Result<void> ExternalSort::write_run() {
  std::sort(pending_.begin(), pending_.end());
  const std::string_view bytes = bytes_of(pending_);
  if (const int failure = write_all(file_.get(), bytes)) {
    return os_error("write a temporary file in", folder_, failure);
  }
  runs_.push_back({written_, pending_.size()});
  written_ += bytes.size();
  pending_.clear();
  return {};
}

Result<void> ExternalSort::visit_in_order(
    const std::function<Result<void>(const LaneEvent&)>& visit) {
  if (runs_.empty()) {
    std::sort(pending_.begin(), pending_.end());
    for (const LaneEvent& event : pending_) PL_TRY(visit(event));
    return {};
  }
  if (!pending_.empty()) PL_TRY(write_run());
  pending_ = {};

  struct Head {
    LaneEvent event;
    std::size_t run = 0;
  };
  const auto later = [](const Head& a, const Head& b) { return b.event < a.event; };
  std::vector<RunReader> readers;
  std::vector<Head> heads;
  for (const Run& run : runs_) {
    readers.emplace_back(*this, run);
    const LaneEvent* first = PL_TRY(readers.back().next());
    if (first != nullptr) heads.push_back({*first, readers.size() - 1});
  }
  std::make_heap(heads.begin(), heads.end(), later);
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end(), later);
    Head& head = heads.back();
    PL_TRY(visit(head.event));
    const LaneEvent* next = PL_TRY(readers[head.run].next());
    if (next == nullptr) {
      heads.pop_back();
      continue;
    }
    head.event = *next;
    std::push_heap(heads.begin(), heads.end(), later);
  }
  return {};
}

}  // namespace profline::tiles::internal
