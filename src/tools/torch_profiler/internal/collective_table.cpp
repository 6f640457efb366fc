#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
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
      {"bfloat16", 2},
      {"float", 4},
      {"half", 2},
      {"long", 8},
      {"int", 4},
      {"byte", 1},
      {"char", 1},
      {"bool", 1},
      {"double", 8},
      {"short", 2},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"complexhalf", 4},
      {"float16", 2},
      {"float32", 4},
      {"float64", 8},
      {"int8", 1},
      {"int16", 2},
      {"int32", 4},
      {"int64", 8},
      {"uint8", 1},
      {"uint16", 2},
      {"uint32", 4},
      {"uint64", 8},
      {"qint8", 1},
      {"quint8", 1},
      {"qint32", 4},
      // In lists of inputs, types have the names of C++: `c10::BFloat16`, `long int`.
      {"long int", 8},
      {"short int", 2},
      {"unsigned char", 1},
      {"signed char", 1},
      {"complex<float>", 8},
      {"complex<double>", 16},
  });
  constexpr std::string_view kNamespace = "c10::";
  if (dtype.starts_with(kNamespace)) dtype.remove_prefix(kNamespace.size());
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

/// The next text in quotes of a list, `["float", "int"]`; nothing at its end.
std::optional<std::string_view> take_quoted(std::string_view& list) {
  const std::size_t open = list.find('"');
  const std::size_t close = open == std::string_view::npos ? open : list.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view text = list.substr(open + 1, close - open - 1);
  list.remove_prefix(close + 1);
  return text;
}

/// The number of elements of the next shape in a list, `[[4, 2], []]`: 8, then 1. Nothing at its
/// end, and for what is no shape.
std::optional<std::uint64_t> take_elements(std::string_view& list) {
  const std::size_t open = list.find('[');
  const std::size_t close = open == std::string_view::npos ? open : list.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view shape = list.substr(open + 1, close - open - 1);
  list.remove_prefix(close + 1);
  std::uint64_t elements = 1;
  while (!trim(shape).empty()) {
    const std::string_view number = trim(shape.substr(0, shape.find(',')));
    std::uint64_t length = 0;
    const auto [rest, failure] =
        std::from_chars(number.data(), number.data() + number.size(), length);
    if (failure != std::errc() || rest != number.data() + number.size() ||
        __builtin_mul_overflow(elements, length, &elements)) {
      return std::nullopt;
    }
    const std::size_t comma = shape.find(',');
    shape = comma == std::string_view::npos ? "" : shape.substr(comma + 1);
  }
  return elements;
}

/// The size of all inputs, `[[9216], [4, 2]]` of `["float", "c10::Half"]`; nothing if it is not
/// known of each, as with lists of tensors.
std::optional<std::uint64_t> bytes_of_inputs(std::string_view shapes, std::string_view types) {
  if (!shapes.starts_with('[')) return std::nullopt;
  shapes.remove_prefix(1);
  std::uint64_t sum = 0;
  bool has_inputs = false;
  while (const auto type = take_quoted(types)) {
    const auto each = bytes_of_type(*type);
    const auto elements = take_elements(shapes);
    std::uint64_t bytes = 0;
    if (!each || !elements || __builtin_mul_overflow(*elements, *each, &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum)) {
      return std::nullopt;
    }
    has_inputs = true;
  }
  if (!has_inputs || take_elements(shapes)) return std::nullopt;
  return sum;
}

/// Whether the inputs of a collective are all that it moves for a rank (message_bytes()).
bool inputs_are_the_message(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter ||
         kind == CollectiveKind::AllToAll || kind == CollectiveKind::Broadcast ||
         kind == CollectiveKind::Reduce;
}

/// The descriptions of collectives that no kernel carried out, for the ranges on the host that did.
/// A range may be on the thread that described it, or on one that takes collectives from a queue.
class HostDescriptions {
 public:
  explicit HostDescriptions(const Timeline& timeline) : timeline_(timeline) {}

  /// In the order of their start. Waits are described too: they are left out.
  void add(RowIndex op) {
    const auto key = key_of(row_of(op).name);
    if (key) queues_[*key].push_back({op, false});
  }

  /// The one of a range, which no other range gets: the last one on its own thread, else the first
  /// one on any. Nothing that the sizes contradict.
  RowIndex take(const Range& range) {
    const auto key = key_of(range.name);
    const auto found = key ? queues_.find(*key) : queues_.end();
    if (found == queues_.end()) return kNoRow;
    std::deque<Entry>& queue = found->second;
    while (!queue.empty() && queue.front().is_taken) queue.pop_front();
    const auto end = std::upper_bound(queue.begin(), queue.end(), range.start_ns,
                                      [&](std::int64_t when_ns, const Entry& entry) {
                                        return when_ns < timeline_.operators[entry.op].start_ns;
                                      });
    Entry* chosen = nullptr;
    std::size_t looked_at = 0;
    for (auto entry = end; entry != queue.begin() && looked_at < kMostLookedAt; ++looked_at) {
      --entry;
      if (!fits(*entry, range) || timeline_.operators[entry->op].thread != range.thread) continue;
      chosen = &*entry;
      break;
    }
    looked_at = 0;
    for (auto entry = queue.begin(); chosen == nullptr && entry != end && looked_at < kMostLookedAt;
         ++entry, ++looked_at) {
      if (fits(*entry, range)) chosen = &*entry;
    }
    if (chosen == nullptr) return kNoRow;
    chosen->is_taken = true;
    return timeline_.operators[chosen->op].collective;
  }

 private:
  static constexpr std::size_t kMostLookedAt = 64;
  struct Entry {
    RowIndex op;
    bool is_taken;
  };
  using Key = std::pair<CollectiveKind, bool>;  // the kind, and whether it is a barrier

  std::optional<Key> key_of(Names::Id name) const {
    const std::string& text = timeline_.names.text(name);
    const Key key(collective_kind(text), text.find("barrier") != std::string::npos);
    if (key.first == CollectiveKind::Unknown && !key.second) return std::nullopt;
    return key;
  }
  const Collective& row_of(RowIndex op) const {
    return timeline_.collectives[timeline_.operators[op].collective];
  }
  bool fits(const Entry& entry, const Range& range) const {
    if (entry.is_taken) return false;
    const Collective& described = row_of(entry.op);
    const Collective& own = timeline_.collectives[range.collective];
    return !described.has_bytes || !own.has_bytes || described.in_bytes == own.in_bytes;
  }

  const Timeline& timeline_;
  std::map<Key, std::deque<Entry>> queues_;
};

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
  return event.collective.is_present() ? add(event, Source::Kernel) : kNoRow;
}

RowIndex CollectiveTable::add_operator(const RawEvent& event) {
  // Depending on its release, PyTorch writes these ranges as operators.
  if (is_host_collective(event.name.text())) return add_range(event);
  if (!event.collective.is_present()) return kNoRow;
  const RowIndex row = add(event, Source::Operator);
  if (external_ids_[row] != 0) of_operator_.emplace(external_ids_[row], row);
  return row;
}

RowIndex CollectiveTable::add_range(const RawEvent& event) {
  if (!is_host_collective(event.name.text())) return kNoRow;
  const RowIndex row = add(event, Source::Range);
  if (!event.collective.is_present()) take_inputs(event, timeline_.collectives[row]);
  return row;
}

RowIndex CollectiveTable::add(const RawEvent& event, Source source) {
  Collective row;
  row.name = names_.id_of(event.collective);
  row.dtype = names_.id_of(event.dtype);
  row.group = group_of(names_.id_of(event.group_name), names_.id_of(event.group_description));
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
  sources_.push_back(source);
  timeline_.collectives.push_back(row);
  return static_cast<RowIndex>(timeline_.collectives.size() - 1);
}

void CollectiveTable::take_inputs(const RawEvent& event, Collective& row) {
  row.name = names_.id_of(event.name);
  std::string_view types = event.input_types.text();
  const auto bytes = bytes_of_inputs(event.input_shapes.text(), types);
  if (const auto type = take_quoted(types)) {
    row.dtype = names_.id_of({RawValue::Kind::String, type->data(), type->data() + type->size()});
  }
  if (!bytes || !inputs_are_the_message(collective_kind(event.name.text()))) return;
  row.has_bytes = true;
  row.in_bytes = *bytes;
}

/// `0 (default_pg)`: a number, and the description of the group if there is one.
Names::Id CollectiveTable::group_of(Names::Id name, Names::Id description) {
  const std::string& described = timeline_.names.text(description);
  if (described.empty() || described == "undefined" || description == name) return name;
  if (name == 0) return description;
  return timeline_.names.id_of(timeline_.names.text(name) + " (" + described + ")");
}

/// `[{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}]`
void CollectiveTable::set_groups(const Node& groups) {
  only_group_.reset();
  if (!groups.is_list() || groups.as_list().size() != 1) return;
  const Node& group = groups.as_list().front();
  if (!group.is_map()) return;
  const auto text_of = [&](std::string_view key) {
    const Node* value = group.find(key);
    return value != nullptr && value->is_string() ? timeline_.names.id_of(value->as_string()) : 0;
  };
  Collective only;
  only.group = group_of(text_of("pg_name"), text_of("pg_desc"));
  const Node* ranks = group.find("ranks");
  if (ranks != nullptr && ranks->is_list()) {
    std::string members;
    for (const Node& rank : ranks->as_list()) {
      if (!rank.is_int()) return;
      members += (members.empty() ? "" : ", ") + std::to_string(rank.as_int());
    }
    only.members = timeline_.names.id_of("[" + members + "]");
    only.ranks = static_cast<std::uint32_t>(ranks->as_list().size());
  }
  if (only.group != 0) only_group_ = only;
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
  link_ranges(used);
  // An operator without a kernel counts if it moved something: on the host, or because its kernel
  // is not in the trace. Waits are operators too, but move nothing.
  for (std::size_t row = 0; row < used.size(); ++row) {
    const Collective& collective = timeline_.collectives[row];
    const bool moves = collective.in_bytes + collective.out_bytes > 0;
    if (sources_[row] == Source::Operator && moves) used[row] = true;
  }
  keep_only(used);
}

/// A range on the host is the collective that an operator described, or what its inputs show.
void CollectiveTable::link_ranges(std::vector<bool>& used) {
  if (std::find(sources_.begin(), sources_.end(), Source::Range) == sources_.end()) return;
  HostDescriptions descriptions(timeline_);
  for (RowIndex op = 0; op < timeline_.operators.size(); ++op) {
    const RowIndex row = timeline_.operators[op].collective;
    if (row != kNoRow && sources_[row] == Source::Operator && !used[row]) descriptions.add(op);
  }
  for (Range& range : timeline_.ranges) {
    if (range.collective == kNoRow) continue;
    Collective& own = timeline_.collectives[range.collective];
    const RowIndex described = descriptions.take(range);
    if (described != kNoRow) {
      Collective& row = timeline_.collectives[described];
      row.has_bytes = row.has_bytes || own.has_bytes;
      row.in_bytes = std::max(row.in_bytes, own.in_bytes);
      if (row.dtype == 0) row.dtype = own.dtype;
      range.collective = described;
    } else if (own.group == 0 && only_group_) {
      own.group = only_group_->group;
      own.members = only_group_->members;
      own.ranks = only_group_->ranks;
    }
    const Collective& linked = timeline_.collectives[range.collective];
    used[range.collective] = linked.has_bytes || linked.group != 0;
  }
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
  for (Range& range : timeline_.ranges) {
    if (range.collective != kNoRow) range.collective = moved[range.collective];
  }
  for (Operator& op : timeline_.operators) {
    if (op.collective != kNoRow) op.collective = moved[op.collective];
  }
}

}  // namespace profline::torch_profiler::internal
