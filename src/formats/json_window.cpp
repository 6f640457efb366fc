#include "formats/internal/json_window.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace profline::internal {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// What a byte outside strings means in the search for an element's end.
constexpr std::uint8_t kNests = 1;  // quotes and brackets
constexpr std::uint8_t kComma = 2;

constexpr std::array<std::uint8_t, 256> kMeaning = [] {
  std::array<std::uint8_t, 256> meaning{};
  for (const char c : {'"', '{', '}', '[', ']'}) meaning[static_cast<unsigned char>(c)] = kNests;
  meaning[static_cast<unsigned char>(',')] = kComma;
  return meaning;
}();

}  // namespace

JsonWindow::JsonWindow(ChunkSource source, const JsonStreamLimits& limits, std::size_t padding)
    : source_(std::move(source)), limits_(limits), padding_(padding) {
  buffer_.resize(std::max<std::size_t>(limits.window_bytes, 1) + padding);
}

void JsonWindow::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // One byte more than the limit, to detect an element that exceeds it.
  if (end_ == capacity()) {
    const std::size_t largest = std::max(limits_.max_element_bytes, limits_.window_bytes) + 1;
    buffer_.resize(std::min(2 * capacity(), largest) + padding_);
  }
}

Result<bool> JsonWindow::extend() {
  PL_TRY(check_size(rest().size()));
  if (at_end_) return false;
  if (end_ == capacity() || begin_ == end_) make_room();
  const std::size_t before = end_;
  while (end_ < capacity()) {
    const std::size_t bytes =
        PL_TRY(source_(std::span<char>(buffer_.data() + end_, capacity() - end_)));
    PL_ASSERT(bytes <= capacity() - end_, "a source writes into the span it is given");
    if (bytes == 0) {
      at_end_ = true;
      break;
    }
    end_ += bytes;
    end_offset_ += bytes;
  }
  return end_ > before;
}

Result<bool> JsonWindow::skip_blank() {
  while (true) {
    while (begin_ < end_ && is_blank(buffer_[begin_])) ++begin_;
    if (begin_ < end_) return true;
    if (!PL_TRY(extend())) return false;
  }
}

Result<void> JsonWindow::check_size(std::size_t bytes) const {
  if (bytes <= limits_.max_element_bytes) return {};
  return Error(ErrorKind::Parse, "byte " + std::to_string(offset()) + ": an element of more than " +
                                     std::to_string(limits_.max_element_bytes) + " bytes");
}

/// True after the quote that ends the string.
bool JsonBorder::skip_string(std::string_view text) {
  while (true) {
    const std::size_t quote = text.find('"', at_);
    if (quote == std::string_view::npos) {
      at_ = text.size();
      return false;
    }
    std::size_t backslashes = 0;  // the quote that begins the string ends this loop
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;
    at_ = quote + 1;
    if (backslashes % 2 == 0) return true;
  }
}

std::size_t JsonBorder::find(std::string_view text) {
  while (true) {
    if (in_string_ && !skip_string(text)) return kNotYet;
    in_string_ = false;
    const unsigned wanted = depth_ == 0 ? kNests | kComma : kNests;
    while (at_ < text.size() && (kMeaning[static_cast<unsigned char>(text[at_])] & wanted) == 0) {
      ++at_;
    }
    if (at_ == text.size()) return kNotYet;
    const char c = text[at_];
    if (depth_ == 0 && (c == ',' || c == close_)) return at_;
    ++at_;
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (depth_ > 0) {
      --depth_;
    }
  }
}

}  // namespace profline::internal
