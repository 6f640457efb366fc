#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "tools/torch_profiler/internal/timeline_builder.h"

namespace profline::torch_profiler::internal {
namespace {

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
