

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include <simdjson.h>

#include "base/error.h"
#include "formats/internal/json_window.h"
#include "formats/json_stream.h"

namespace profline {
namespace {

namespace dom = simdjson::dom;

// simdjson's elements and iterators are a pointer to the document and a position on its tape. A
// Handle holds these two, so that no header of ours has to include theirs.
template <typename Theirs>
Theirs theirs(JsonView::Handle handle) {
  return std::bit_cast<Theirs>(handle);
}

template <typename Theirs>
JsonView::Handle ours(const Theirs& place) {
  return std::bit_cast<JsonView::Handle>(place);
}

dom::element element_at(JsonView::Handle handle) {
  return theirs<dom::element>(handle);
}

template <typename T>
std::optional<T> value_of(JsonView::Handle handle) {
  T value{};
  if (element_at(handle).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

}  // namespace

Node::Kind JsonView::kind() const {
  switch (element_at(handle_).type()) {
    case dom::element_type::ARRAY:
      return Node::Kind::List;
    case dom::element_type::OBJECT:
      return Node::Kind::Map;
    case dom::element_type::INT64:
      return Node::Kind::Int;
    case dom::element_type::UINT64:
      return Node::Kind::BigInt;
    case dom::element_type::DOUBLE:
      return Node::Kind::Float;
    case dom::element_type::STRING:
      return Node::Kind::String;
    case dom::element_type::BOOL:
      return Node::Kind::Bool;
    case dom::element_type::NULL_VALUE:
      break;
  }
  return Node::Kind::Null;
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  dom::element found;
  if (element_at(handle_).at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return JsonView(ours(found));
}

std::optional<std::string_view> JsonView::string() const {
  return value_of<std::string_view>(handle_);
}
std::optional<std::int64_t> JsonView::integer() const {
  return value_of<std::int64_t>(handle_);
}
std::optional<std::uint64_t> JsonView::unsigned_integer() const {
  return value_of<std::uint64_t>(handle_);
}
std::optional<double> JsonView::number() const {
  return value_of<double>(handle_);
}
std::optional<bool> JsonView::boolean() const {
  return value_of<bool>(handle_);
}

JsonView::FieldRange JsonView::fields() const {
  dom::object object;
  if (element_at(handle_).get(object) != simdjson::SUCCESS) return {Handle(), Handle()};
  return {ours(object.begin()), ours(object.end())};
}

JsonView::ItemRange JsonView::items() const {
  dom::array array;
  if (element_at(handle_).get(array) != simdjson::SUCCESS) return {Handle(), Handle()};
  return {ours(array.begin()), ours(array.end())};
}

JsonView::Field JsonView::FieldRange::Iterator::operator*() const {
  const auto place = theirs<dom::object::iterator>(handle_);
  return {place.key(), JsonView(ours(place.value()))};
}

JsonView::FieldRange::Iterator& JsonView::FieldRange::Iterator::operator++() {
  handle_ = ours(++theirs<dom::object::iterator>(handle_));
  return *this;
}

JsonView JsonView::ItemRange::Iterator::operator*() const {
  return JsonView(ours(*theirs<dom::array::iterator>(handle_)));
}

JsonView::ItemRange::Iterator& JsonView::ItemRange::Iterator::operator++() {
  handle_ = ours(++theirs<dom::array::iterator>(handle_));
  return *this;
}

Node JsonView::to_node() const {
  switch (kind()) {
    case Node::Kind::Bool:
      return Node::boolean(*boolean());
    case Node::Kind::Int:
      return Node::integer(*integer());
    case Node::Kind::BigInt:
      return Node::big_integer(std::to_string(*unsigned_integer()));
    case Node::Kind::Float:
      return Node::real(*number());
    case Node::Kind::String:
      return Node::string(std::string(*string()));
    case Node::Kind::List: {
      Node::List list;
      for (const JsonView item : items()) list.push_back(item.to_node());
      return Node::list(std::move(list));
    }
    case Node::Kind::Map: {
      NodeMap map;
      for (const auto& [key, value] : fields()) map.set(std::string(key), value.to_node());
      return Node::map(std::move(map));
    }
    case Node::Kind::Null:
    case Node::Kind::Bytes:
      break;
  }
  return {};
}

}  // namespace profline

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
