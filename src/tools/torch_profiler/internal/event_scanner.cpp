#include <array>
#include <bit>
#include <cstring>

#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {
namespace {

constexpr std::uint8_t kNests = 1;     // quotes and brackets
constexpr std::uint8_t kEndsBare = 2;  // cannot be part of a number or word

constexpr std::array<std::uint8_t, 256> kMeaning = [] {
  std::array<std::uint8_t, 256> meaning{};
  for (std::size_t c = 0; c <= ' '; ++c) meaning[c] = kEndsBare;
  for (const char c : {',', ':'}) meaning[static_cast<unsigned char>(c)] = kEndsBare;
  for (const char c : {'"', '{', '}', '[', ']'}) {
    meaning[static_cast<unsigned char>(c)] = kNests | kEndsBare;
  }
  return meaning;
}();

std::uint8_t meaning(char c) {
  return kMeaning[static_cast<unsigned char>(c)];
}

/// Where the next quote is, or `end`. Most strings of a trace have a few bytes, which this finds
/// eight at a time faster than memchr; kernel names have hundreds, where memchr wins.
const char* find_quote(const char* at, const char* end) {
  constexpr std::uint64_t kQuotes = 0x2222222222222222U;
  constexpr std::uint64_t kLow = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  for (int step = 0; step < 4 && end - at >= 8; ++step) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= kQuotes;
    const std::uint64_t found = (word - kLow) & ~word & kHigh;
    if constexpr (std::endian::native == std::endian::little) {
      if (found != 0) return at + (std::countr_zero(found) >> 3);
    } else if (found != 0) {
      break;
    }
    at += 8;
  }
  const void* quote = std::memchr(at, '"', static_cast<std::size_t>(end - at));
  return quote == nullptr ? end : static_cast<const char*>(quote);
}

using Slot = RawValue RawEvent::*;

// The two switches below distinguish keys by length first: most need one comparison.

Slot event_slot(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return &RawEvent::time;
      return key == "id" ? &RawEvent::id : nullptr;
    case 3:
      if (key == "cat") return &RawEvent::category;
      if (key == "pid") return &RawEvent::process;
      if (key == "tid") return &RawEvent::thread;
      return key == "dur" ? &RawEvent::duration : nullptr;
    case 4:
      return key == "name" ? &RawEvent::name : nullptr;
    default:
      return nullptr;
  }
}

Slot long_args_slot(std::string_view key) {
  if (key == "External id" || key == "external id") return &RawEvent::external_id;
  if (key == "correlation" || key == "correlationId" || key == "correlation_id") {
    return &RawEvent::correlation;
  }
  if (key == "Input Dims" || key == "Input dims") return &RawEvent::input_shapes;
  if (key == "Input type") return &RawEvent::input_types;
  if (key == "shared memory") return &RawEvent::shared_bytes;
  if (key == "graph node id") return &RawEvent::graph_node;
  if (key == "registers per thread") return &RawEvent::registers;
  return nullptr;
}

/// PyTorch's keys about a collective, by length as below.
Slot collective_slot(std::string_view key) {
  switch (key.size()) {
    case 3:
      return key == "Seq" ? &RawEvent::sequence : nullptr;
    case 5:
      return key == "dtype" ? &RawEvent::dtype : nullptr;
    case 10:
      return key == "Group size" ? &RawEvent::group_size : nullptr;
    case 13:
      return key == "In msg nelems" ? &RawEvent::in_elements : nullptr;
    case 14:
      return key == "Out msg nelems" ? &RawEvent::out_elements : nullptr;
    case 15:
      return key == "Collective name" ? &RawEvent::collective : nullptr;
    case 18:
      return key == "Process Group Name" ? &RawEvent::group_name : nullptr;
    case 19:
      return key == "Process Group Ranks" ? &RawEvent::group_ranks : nullptr;
    case 25:
      return key == "Process Group Description" ? &RawEvent::group_description : nullptr;
    default:
      return nullptr;
  }
}

Slot args_slot(std::string_view key) {
  switch (key.size()) {
    case 4:
      if (key == "grid") return &RawEvent::grid;
      if (key == "size") return &RawEvent::bytes;  // of HIP's calls
      return key == "name" ? &RawEvent::args_name : nullptr;
    case 5:
      if (key == "block") return &RawEvent::block;
      if (key == "bytes") return &RawEvent::bytes;
      return collective_slot(key);
    case 6:
      if (key == "device") return &RawEvent::device;
      return key == "stream" ? &RawEvent::stream : nullptr;
    case 7:
      return key == "context" ? &RawEvent::context : nullptr;
    case 11:
    case 20:
      return long_args_slot(key);
    case 10:
    case 13:
    case 14: {
      const Slot slot = long_args_slot(key);
      return slot != nullptr ? slot : collective_slot(key);
    }
    case 3:
    case 15:
    case 18:
    case 19:
    case 25:
      return collective_slot(key);
    default:
      return nullptr;
  }
}

class Scanner {
 public:
  Scanner(std::string_view text, RawEvent& event)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), event_(event) {}

  JsonTaken scan() {
    using Outcome = JsonTaken::Outcome;
    if (at_ == end_ || *at_ != '{') return {Outcome::Refused};
    if (members(false)) return {Outcome::Taken, static_cast<std::size_t>(at_ - begin_)};
    return {at_ == end_ ? Outcome::TooShort : Outcome::Refused};
  }

 private:
  // Each returns false if the text ends (at_ is then end_) or is malformed.
  bool members(bool of_args);
  bool member(bool of_args);
  bool string(RawValue& value);
  bool container(RawValue& value);
  bool bare(RawValue& value);
  bool value(RawValue& value);
  bool next();
  bool takes(char c);
  void store(Slot slot, const RawValue& value);

  const char* begin_;
  const char* at_;
  const char* end_;
  RawEvent& event_;
};

/// To the next byte that is not blank.
bool Scanner::next() {
  while (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ') ++at_;
  return at_ != end_;
}

bool Scanner::takes(char c) {
  if (!next() || *at_ != c) return false;
  ++at_;
  return true;
}

bool Scanner::string(RawValue& value) {
  const char* const first = ++at_;
  while (true) {
    const char* const quote = find_quote(at_, end_);
    if (quote == end_) {
      at_ = end_;
      return false;
    }
    at_ = quote + 1;
    const char* escape = quote;
    while (escape != first && escape[-1] == '\\') --escape;
    if ((quote - escape) % 2 == 0) {
      value = RawValue(RawValue::Kind::String, first, quote);
      return true;
    }
  }
}

bool Scanner::container(RawValue& value) {
  const char* const first = at_;
  std::size_t depth = 0;
  RawValue inner;
  while (true) {
    while (at_ != end_ && (meaning(*at_) & kNests) == 0) ++at_;
    if (at_ == end_) return false;
    if (*at_ == '"') {
      if (!string(inner)) return false;
      continue;
    }
    const bool opens = *at_ == '{' || *at_ == '[';
    ++at_;
    depth = opens ? depth + 1 : depth - 1;
    if (depth == 0) break;
  }
  value = RawValue(RawValue::Kind::Container, first, at_);
  return true;
}

bool Scanner::bare(RawValue& value) {
  const char* const first = at_;
  while (at_ != end_ && (meaning(*at_) & kEndsBare) == 0) ++at_;
  if (at_ == end_ || at_ == first) return false;
  value = RawValue(RawValue::Kind::Bare, first, at_);
  return true;
}

bool Scanner::value(RawValue& value) {
  if (!next()) return false;
  if (*at_ == '"') return string(value);
  if (*at_ == '{' || *at_ == '[') return container(value);
  return bare(value);
}

void Scanner::store(Slot slot, const RawValue& value) {
  if (slot == nullptr) return;
  event_.has_duplicates = event_.has_duplicates || (event_.*slot).is_present();
  event_.*slot = value;
}

bool Scanner::member(bool of_args) {
  if (!next() || *at_ != '"') return false;
  RawValue key;
  if (!string(key) || !takes(':') || !next()) return false;
  if (!of_args && key.text() == "args" && *at_ == '{') return members(true);
  RawValue found;
  if (!value(found)) return false;
  if (!of_args && key.text() == "ph") {
    event_.phase = found.text().size() == 1 ? found.text().front() : '?';
    return true;
  }
  store(of_args ? args_slot(key.text()) : event_slot(key.text()), found);
  return true;
}

bool Scanner::members(bool of_args) {
  ++at_;
  if (!next()) return false;
  while (*at_ != '}') {
    if (!member(of_args) || !next()) return false;
    if (*at_ == ',') {
      ++at_;
      if (!next()) return false;
    } else if (*at_ != '}') {
      return false;
    }
  }
  ++at_;
  return true;
}

}  // namespace

JsonTaken scan_event(std::string_view text, RawEvent& event) {
  return Scanner(text, event).scan();
}

}  // namespace profline::torch_profiler::internal
