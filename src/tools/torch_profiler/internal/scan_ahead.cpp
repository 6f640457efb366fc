#include "tools/torch_profiler/internal/scan_ahead.h"

#include <algorithm>
#include <utility>

namespace profline::torch_profiler::internal {
namespace {

/// Wrong guesses cost time, and a hostile text could make each cost a whole block.
constexpr int kMostWrongGuesses = 16;

std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) <= ' ') ++at;
  return at;
}

/// Where the event after the one that ends at `end` begins: `}, {`, or `}` and `{` on two lines.
/// The text's size if something else follows.
std::size_t next_event(std::string_view text, std::size_t end) {
  std::size_t at = skip_blank(text, end);
  if (at < text.size() && text[at] == ',') at = skip_blank(text, at + 1);
  return at < text.size() && text[at] == '{' ? at : text.size();
}

/// A place from `at` on that looks like the beginning of an event; the text's size if there is
/// none.
std::size_t guess_event(std::string_view text, std::size_t at) {
  while ((at = text.find('}', at)) != std::string_view::npos) {
    const std::size_t event = next_event(text, ++at);
    if (event < text.size()) return event;
  }
  return text.size();
}

}  // namespace

ScanAhead::ScanAhead(ChunkSource source, const Settings& settings)
    : source_(std::move(source)), settings_(settings) {}

ScanAhead::~ScanAhead() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  room_.notify_all();
}

void ScanAhead::start() {
  const std::size_t of_window = settings_.window_bytes / settings_.block_bytes + 2;
  most_held_ = of_window;
  blocks_.resize(2 * of_window + settings_.threads);
  for (Block& block : blocks_) block.text.resize(settings_.block_bytes);
  for (unsigned i = 0; i < settings_.threads; ++i) threads_.emplace_back([this] { work(); });
}

void ScanAhead::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] {
      return stops_ || ended_ || (!is_filling_ && next_ < released_ + blocks_.size());
    });
    if (stops_ || ended_) return;
    is_filling_ = true;
    const std::uint64_t number = next_++;
    lock.unlock();
    Block& filled = block(number);
    fill(filled);
    lock.lock();
    is_filling_ = false;
    ended_ = filled.is_last;
    lock.unlock();
    room_.notify_all();
    scan_block(filled, number);
    lock.lock();
    filled.is_ready = true;
    lock.unlock();
    ready_.notify_one();
  }
}

void ScanAhead::fill(Block& block) {
  block.offset = offset_;
  block.bytes = 0;
  while (block.bytes < block.text.size()) {
    const auto more = source_(std::span(block.text).subspan(block.bytes));
    block.is_last = !more || *more == 0;
    if (!more) block.error = more.error();
    if (block.is_last) break;
    block.bytes += *more;
  }
  offset_ += block.bytes;
}

void ScanAhead::scan_block(Block& block, std::uint64_t number) {
  const std::string_view text(block.text.data(), block.bytes);
  int wrong_guesses = 0;
  std::size_t at = guess_event(text, 0);
  while (at < text.size() && !stops_ && wanted_ <= number) {
    Scanned& scanned = block.events.emplace_back();
    const JsonTaken taken = scan_event(text.substr(at), scanned.event);
    if (taken.outcome == JsonTaken::Outcome::Taken) {
      scanned.begin = at;
      scanned.bytes = taken.bytes;
      at = next_event(text, at + taken.bytes);
      if (at == text.size()) at = guess_event(text, scanned.begin + scanned.bytes);
      continue;
    }
    block.events.pop_back();
    // An event that goes on in the next block, or a guess in the middle of one.
    if (++wrong_guesses == kMostWrongGuesses) return;
    at = guess_event(text, at + 1);
  }
}

void ScanAhead::release(std::uint64_t first_kept) {
  if (first_kept <= released_) return;
  {
    const std::lock_guard lock(mutex_);
    for (; released_ < first_kept; ++released_) {
      Block& old = block(released_);
      old.events.clear();
      old.next = 0;
      old.is_ready = false;
    }
  }
  room_.notify_one();
}

Result<std::size_t> ScanAhead::read(std::span<char> into) {
  if (threads_.empty()) {
    if (settings_.threads == 0 || offset_ < settings_.bytes_before) {
      const std::size_t bytes = PL_TRY(source_(into));
      offset_ += bytes;
      return bytes;
    }
    start();
  }
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!block(reading_).is_ready) {
        wanted_ = reading_ + 1;
        ready_.wait(lock, [this] { return block(reading_).is_ready; });
      }
    }
    Block& current = block(reading_);
    if (read_bytes_ < current.bytes) {
      const std::string_view rest(current.text.data() + read_bytes_, current.bytes - read_bytes_);
      const std::size_t bytes = rest.copy(into.data(), into.size());
      read_bytes_ += bytes;
      return bytes;
    }
    if (current.error) return *current.error;
    if (current.is_last) return std::size_t{0};
    ++reading_;
    read_bytes_ = 0;
    // An event may be larger than all blocks: the first ones are given up, the rest must be read.
    if (reading_ >= most_held_) release(reading_ - most_held_ + 1);
  }
}

const ScanAhead::Scanned* ScanAhead::find(std::uint64_t offset) {
  std::uint64_t number = released_;
  while (number < reading_ && block(number).end() <= offset) ++number;
  release(number);
  Block& holder = block(number);
  if (offset < holder.offset) return nullptr;
  while (holder.next < holder.events.size() &&
         holder.offset + holder.events[holder.next].begin < offset) {
    ++holder.next;
  }
  if (holder.next == holder.events.size()) return nullptr;
  const Scanned& scanned = holder.events[holder.next];
  return holder.offset + scanned.begin == offset ? &scanned : nullptr;
}

JsonTaken ScanAhead::scan(std::string_view text, std::uint64_t offset, const RawEvent*& event) {
  if (!threads_.empty()) {
    if (const Scanned* scanned = find(offset)) {
      event = &scanned->event;
      if (scanned->bytes > text.size()) return {JsonTaken::Outcome::TooShort};
      ++ahead_;
      return {JsonTaken::Outcome::Taken, scanned->bytes};
    }
  }
  event_ = RawEvent();
  event = &event_;
  return scan_event(text, event_);
}

}  // namespace profline::torch_profiler::internal
