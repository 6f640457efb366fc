#include "workload/model/copy_threads.h"

#include <algorithm>
#include <cstring>

namespace profline::workload {
namespace {

/// Less is not worth another thread.
constexpr std::size_t kLeastPart = 64U << 10U;

}  // namespace

CopyThreads::CopyThreads(std::size_t count)
    : count_(std::max<std::size_t>(1, count)),
      begin_(static_cast<std::ptrdiff_t>(count_)),
      end_(static_cast<std::ptrdiff_t>(count_)) {
  others_.reserve(count_ - 1);
  for (std::size_t i = 1; i < count_; ++i) others_.emplace_back([this, i] { work(i); });
}

CopyThreads::~CopyThreads() {
  is_over_ = true;
  begin_.arrive_and_wait();
}

void CopyThreads::copy(std::span<const std::byte> from, std::byte* to) {
  from_ = from;
  to_ = to;
  begin_.arrive_and_wait();
  copy_part(0);
  end_.arrive_and_wait();
}

void CopyThreads::work(std::size_t index) {
  while (true) {
    begin_.arrive_and_wait();
    if (is_over_) return;
    copy_part(index);
    end_.arrive_and_wait();
  }
}

void CopyThreads::copy_part(std::size_t index) const {
  const std::size_t part = std::max(kLeastPart, (from_.size() + count_ - 1) / count_);
  const std::size_t begin = std::min(from_.size(), index * part);
  const std::size_t size = std::min(part, from_.size() - begin);
  if (size > 0) std::memcpy(to_ + begin, from_.data() + begin, size);
}

}  // namespace profline::workload
