#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

/// A cheap hash: both ends, the middle and the length. Kernel names have hundreds of bytes and
/// often begin alike.
std::size_t fingerprint(std::string_view text) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = text.size() * kMix;
  const auto add = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
    hash = (hash ^ word) * kMix;
    hash ^= hash >> 29U;
  };
  if (text.empty()) return 0;
  add(0);
  if (text.size() > 8) add(text.size() - 8);
  if (text.size() > 24) {
    add(text.size() / 2);
    add(text.size() / 4);
    add(text.size() - text.size() / 4 - 8);
  }
  return static_cast<std::size_t>(hash >> 32U);
}

std::string lane_key(const RawValue& process, const RawValue& thread) {
  std::string key(trim(process.text()));
  key += '\x1f';
  key += trim(thread.text());
  return key;
}

/// `[4, 27, 1]`, also in quotes; zeros for missing numbers.
std::array<std::uint32_t, 3> triple(const RawValue& value) {
  std::array<std::uint32_t, 3> numbers{};
  const char* at = value.text().data();
  const char* const end = at + value.text().size();
  for (std::uint32_t& number : numbers) {
    while (at != end && (*at < '0' || *at > '9')) ++at;
    const auto [rest, failure] = std::from_chars(at, end, number);
    if (failure != std::errc()) break;
    at = rest;
  }
  return numbers;
}

std::uint32_t small_number(const RawValue& value) {
  const std::uint64_t number = unsigned_of(value).value_or(0);
  return number > 0xFFFFFFFFU ? 0 : static_cast<std::uint32_t>(number);
}

std::size_t combine(std::size_t seed, std::uint64_t value) {
  return (seed ^ value) * 0x9E3779B97F4A7C15U + (seed >> 7U);
}

}  // namespace

Names::Id NameTable::id_of(const RawValue& value) {
  if (value.kind() != RawValue::Kind::String) return 0;
  const std::string_view raw = value.text();
  if (raw.size() > kLongestKept) return first_sight(raw);
  Slot& slot = slots_[fingerprint(raw) % kSlots];
  if (slot.is_filled && slot.raw == raw) return slot.id;
  slot.id = first_sight(raw);
  slot.raw.assign(raw);
  slot.is_filled = true;
  return slot.id;
}

Names::Id NameTable::first_sight(std::string_view raw) {
  const std::size_t before = names_.size();
  bool bad_escape = false;
  Names::Id id = 0;
  if (raw.find('\\') == std::string_view::npos) {
    id = names_.id_of(raw);
  } else {
    id = names_.id_of(unescaped(raw, bad_escape));
  }
  if (names_.size() == before) return id;
  if (bad_escape) ++bad_escapes_;
  if (first_invalid_utf8(names_.text(id))) ++bad_utf8_;
  return id;
}

RowIndex ThreadTable::row_of(const RawValue& process, const RawValue& thread) {
  // The common case compares two short texts and creates none.
  const std::string_view p = process.text();
  const std::string_view t = thread.text();
  if (last_row_ != kNoRow && last_key_.size() == p.size() + 1 + t.size() &&
      last_key_.starts_with(p) && last_key_.ends_with(t) && last_key_[p.size()] == '\x1f') {
    return last_row_;
  }
  last_key_ = lane_key(process, thread);
  const auto [entry, is_new] = rows_.try_emplace(last_key_, static_cast<RowIndex>(threads_.size()));
  if (is_new) {
    const auto number = signed_of(thread);
    threads_.push_back({signed_of(process).value_or(-1), number.value_or(-1), 0});
    texts_.push_back(number ? std::string() : std::string(trim(thread.text())));
  }
  last_row_ = entry->second;
  return last_row_;
}

void ThreadTable::set_name(const RawValue& process, const RawValue& thread, Names::Id name) {
  names_[lane_key(process, thread)] = name;
}

void ThreadTable::apply_names(Names& names) {
  for (const auto& [key, row] : rows_) {
    const auto named = names_.find(key);
    if (named != names_.end()) threads_[row].name = named->second;
  }
  for (std::size_t row = 0; row < threads_.size(); ++row) {
    if (threads_[row].name == 0 && !texts_[row].empty()) {
      threads_[row].name = names.id_of(texts_[row]);
    }
  }
}

std::size_t StreamTable::Hash::operator()(const Stream& stream) const {
  return combine(combine(static_cast<std::size_t>(stream.device), stream.context),
                 static_cast<std::uint64_t>(stream.stream));
}

RowIndex StreamTable::row_of(const Stream& stream) {
  if (last_ != kNoRow && streams_[last_] == stream) return last_;
  const auto [entry, is_new] = rows_.try_emplace(stream, static_cast<RowIndex>(streams_.size()));
  if (is_new) streams_.push_back(stream);
  last_ = entry->second;
  return last_;
}

std::size_t ShapeTable::Hash::operator()(const LaunchShape& shape) const {
  std::size_t seed = shape.registers_per_thread;
  for (const std::uint32_t number : shape.grid) seed = combine(seed, number);
  for (const std::uint32_t number : shape.block) seed = combine(seed, number);
  return combine(combine(seed, shape.static_shared_bytes), shape.dynamic_shared_bytes);
}

RowIndex ShapeTable::row_of(const RawEvent& event) {
  if (!event.grid.is_present()) return kNoRow;
  LaunchShape shape;
  shape.grid = triple(event.grid);
  shape.block = triple(event.block);
  shape.registers_per_thread = small_number(event.registers);
  // Kineto adds static and dynamic shared memory; the sum is kept as dynamic.
  shape.dynamic_shared_bytes = small_number(event.shared_bytes);
  if (last_ != kNoRow && shapes_[last_] == shape) return last_;
  const auto [entry, is_new] = rows_.try_emplace(shape, static_cast<RowIndex>(shapes_.size()));
  if (is_new) shapes_.push_back(shape);
  last_ = entry->second;
  return last_;
}

}  // namespace profline::torch_profiler::internal
