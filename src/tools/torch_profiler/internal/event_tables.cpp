#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>
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

/// The size of an element, from PyTorch's or NumPy's name of its type; nothing for an unknown type.
std::optional<std::uint64_t> bytes_of_type(std::string_view dtype) {
  using Type = std::pair<std::string_view, std::uint64_t>;
  constexpr auto kTypes = std::to_array<Type>({
      {"bfloat16", 2},    {"float", 4},   {"half", 2},         {"long", 8},
      {"int", 4},         {"byte", 1},    {"char", 1},         {"bool", 1},
      {"double", 8},      {"short", 2},   {"complexfloat", 8}, {"complexdouble", 16},
      {"complexhalf", 4}, {"float16", 2}, {"float32", 4},      {"float64", 8},
      {"int8", 1},        {"int16", 2},   {"int32", 4},        {"int64", 8},
      {"uint8", 1},       {"uint16", 2},  {"uint32", 4},       {"uint64", 8},
      {"qint8", 1},       {"quint8", 1},  {"qint32", 4},
  });
  const std::string lower = profline::lower(dtype);
  if (lower.starts_with("float8_")) return 1;
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const Type& known) { return known.first == lower; });
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

/// Nothing if the number of elements or their size is unknown.
std::optional<std::uint64_t> bytes_of(const RawValue& elements, const RawValue& dtype) {
  const auto count = unsigned_of(elements);
  const auto each = bytes_of_type(dtype.text());
  std::uint64_t bytes = 0;
  if (!count || !each || __builtin_mul_overflow(*count, *each, &bytes)) return std::nullopt;
  return bytes;
}

/// The ranks of the group as text: PyTorch writes it in quotes, other writers as a list.
RawValue members_of(const RawEvent& event) {
  const std::string_view text = event.group_ranks.text();
  return {RawValue::Kind::String, text.data(), text.data() + text.size()};
}

/// By id of a name: whether kernels of NCCL, RCCL and MSCCL have such names.
std::vector<bool> library_names(const Names& names) {
  std::vector<bool> found;
  for (Names::Id id = 0; id < names.size(); ++id) {
    found.push_back(lower(names.text(id)).find("ccl") != std::string::npos);
  }
  return found;
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

RowIndex CollectiveTable::add_kernel(const RawEvent& event) {
  if (!event.collective.is_present()) return kNoRow;
  is_operator_.push_back(false);
  return add(event);
}

void CollectiveTable::add_operator(const RawEvent& event) {
  if (!event.collective.is_present()) return;
  is_operator_.push_back(true);
  const RowIndex row = add(event);
  if (external_ids_[row] != 0) of_operator_.emplace(external_ids_[row], row);
}

RowIndex CollectiveTable::add(const RawEvent& event) {
  Collective row;
  row.name = names_.id_of(event.collective);
  row.dtype = names_.id_of(event.dtype);
  row.group = group_of(event);
  row.members = names_.id_of(members_of(event));
  row.sequence = signed_of(event.sequence).value_or(-1);
  const std::uint64_t ranks = unsigned_of(event.group_size).value_or(0);
  if (ranks <= 0xFFFFFFFFU) row.ranks = static_cast<std::uint32_t>(ranks);
  const auto in = bytes_of(event.in_elements, event.dtype);
  const auto out = bytes_of(event.out_elements, event.dtype);
  row.has_bytes = in || out;
  row.in_bytes = in.value_or(0);
  row.out_bytes = out.value_or(0);
  external_ids_.push_back(unsigned_of(event.external_id).value_or(0));
  timeline_.collectives.push_back(row);
  return static_cast<RowIndex>(timeline_.collectives.size() - 1);
}

/// `0 (default_pg)`: a number, and the description of the group if there is one.
Names::Id CollectiveTable::group_of(const RawEvent& event) {
  const Names::Id name = names_.id_of(event.group_name);
  const Names::Id description = names_.id_of(event.group_description);
  const std::string& described = timeline_.names.text(description);
  if (described.empty() || described == "undefined" || description == name) return name;
  if (name == 0) return description;
  return timeline_.names.id_of(timeline_.names.text(name) + " (" + described + ")");
}

/// The row of the operator that started the work, else the kernel's own.
RowIndex CollectiveTable::row_of(const DeviceWork& work) const {
  if (work.collective != kNoRow) {
    const auto found = of_operator_.find(external_ids_[work.collective]);
    if (found != of_operator_.end()) return found->second;
  }
  const RowIndex op = work.launch == kNoRow ? kNoRow : timeline_.calls[work.launch].op;
  if (op == kNoRow) return work.collective;
  const auto found = of_operator_.find(timeline_.operators[op].external_id);
  return found != of_operator_.end() ? found->second : work.collective;
}

void CollectiveTable::finish() {
  if (timeline_.collectives.empty()) return;
  std::vector<bool> used(timeline_.collectives.size());
  const std::vector<bool> of_library = library_names(timeline_.names);
  for (DeviceWork& work : timeline_.work) {
    if (work.kind != WorkKind::Kernel) continue;
    if (work.collective == kNoRow && !of_library[work.name]) continue;
    work.collective = row_of(work);
    if (work.collective != kNoRow) used[work.collective] = true;
  }
  // An operator without a kernel counts if it moved something: on the host, or because its kernel
  // is not in the trace. Waits are operators too, but move nothing.
  for (std::size_t row = 0; row < used.size(); ++row) {
    const Collective& collective = timeline_.collectives[row];
    if (is_operator_[row] && collective.in_bytes + collective.out_bytes > 0) used[row] = true;
  }
  keep_only(used);
}

void CollectiveTable::keep_only(const std::vector<bool>& used) {
  std::vector<RowIndex> moved(used.size(), kNoRow);
  std::vector<Collective> kept;
  for (std::size_t row = 0; row < used.size(); ++row) {
    if (!used[row]) continue;
    moved[row] = static_cast<RowIndex>(kept.size());
    kept.push_back(timeline_.collectives[row]);
  }
  timeline_.collectives = std::move(kept);
  for (DeviceWork& work : timeline_.work) {
    if (work.collective != kNoRow) work.collective = moved[work.collective];
  }
}

}  // namespace profline::torch_profiler::internal
