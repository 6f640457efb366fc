#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>

#include "records/timeline.h"
#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

/// A payload in NVTX_EVENTS.binaryData, as little-endian numbers of 8 bytes: domain, schema, size
/// of the payload, and where nsys found it; then the payload itself.
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kSchemaAt = 8;

std::optional<std::uint64_t> number_at(std::string_view bytes, std::uint64_t offset,
                                       std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  std::uint64_t value = 0;
  for (std::uint64_t byte = size; byte > 0; --byte) {
    value = value << 8U | static_cast<unsigned char>(bytes[offset + byte - 1]);
  }
  return value;
}

/// `0xabc`
std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto [end, failure] =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return "0x" + std::string(digits.data(), end);
}

constexpr std::uint64_t kMostRanks = 1U << 24U;  // more is not plausible

/// How the total relates to the size that NCCL states, which is the part of one rank.
enum class Parts { Same, OutIsAll, InIsAll, BothAre };

Parts parts_of(std::string_view name) {
  switch (collective_kind(name)) {
    case CollectiveKind::AllGather:
    case CollectiveKind::Gather:
      return Parts::OutIsAll;
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::Scatter:
      return Parts::InIsAll;
    case CollectiveKind::AllToAll:
      return Parts::BothAre;
    default:
      return Parts::Same;
  }
}

/// The last of the intervals, which are sorted, that contains the instant.
template <typename Interval>
const Interval* holding(const std::vector<Interval>& intervals, std::int64_t when_ns) {
  const auto after = std::upper_bound(
      intervals.begin(), intervals.end(), when_ns,
      [](std::int64_t when, const Interval& interval) { return when < interval.start_ns; });
  if (after == intervals.begin() || std::prev(after)->end_ns <= when_ns) return nullptr;
  return &*std::prev(after);
}

}  // namespace

NcclSchemas::NcclSchemas(Import& file) {
  const auto table = file.table({"NVTX_PAYLOAD_SCHEMA_ENTRIES"});
  if (!table) return;
  file.scan(*table, {"domainId", "schemaId", "idx", "type", "name", "offset"},
            [&](const Rows& rows) {
              const auto name = rows.text(4);
              const auto field = name ? field_of(*name) : std::nullopt;
              const std::uint64_t size = size_of_type(rows.integer(3));
              // The offset of the first field is omitted in the file.
              const auto offset = rows.integer(2) == 0 ? rows.integer(5) : rows.integer(5, -1);
              if (!field || size == 0 || offset < 0) return;
              fields_[{static_cast<std::uint64_t>(rows.integer(0)),
                       static_cast<std::uint64_t>(rows.integer(1))}]
                  .push_back({*field, static_cast<std::uint64_t>(offset), size});
            });
  // Independent of the order of rows: if they contradict each other, the first place counts.
  for (auto& [schema, places] : fields_) std::sort(places.begin(), places.end());
}

std::optional<NcclSchemas::Field> NcclSchemas::field_of(std::string_view name) {
  if (name == "NCCL communicator ID") return Field::Communicator;
  if (name == "Message size [bytes]") return Field::Bytes;
  if (name == "No. of ranks") return Field::Ranks;
  return std::nullopt;
}

/// By nvtxPayloadEntryType: 0 for anything but an integer of 4 or 8 bytes.
std::uint64_t NcclSchemas::size_of_type(std::int64_t type) {
  constexpr std::array<std::int64_t, 4> kFour = {5, 6, 15, 16};  // int, unsigned, 32 bits
  constexpr std::array<std::int64_t, 7> kEight = {7,  8,  9, 10,
                                                  17, 18, 22};  // long, 64 bits, size_t
  if (std::find(kFour.begin(), kFour.end(), type) != kFour.end()) return 4;
  return std::find(kEight.begin(), kEight.end(), type) != kEight.end() ? 8 : 0;
}

std::optional<NcclPayload> NcclSchemas::decode(std::string_view bytes) const {
  const auto domain = number_at(bytes, 0, 8);
  const auto schema = number_at(bytes, kSchemaAt, 8);
  if (!domain || !schema) return std::nullopt;
  const auto found = fields_.find({*domain, *schema});
  if (found == fields_.end()) return std::nullopt;
  NcclPayload payload;
  for (const Place& place : found->second) {
    std::optional<std::uint64_t>& value = place.field == Field::Communicator ? payload.communicator
                                          : place.field == Field::Bytes      ? payload.bytes
                                                                             : payload.ranks;
    if (!value) value = number_at(bytes, kHeaderBytes + place.offset, place.size);
  }
  if (!payload.communicator && !payload.bytes && !payload.ranks) return std::nullopt;
  return payload;
}

void NcclCalls::add(const Range& range, const Names& names,
                    const std::optional<NcclPayload>& payload) {
  if (names.text(range.name) == "ncclGroupEnd") {
    group_ends_[range.thread].push_back({range.start_ns, range.end_ns});
  }
  if (!payload) return;
  if (payload->communicator && payload->ranks && *payload->ranks <= kMostRanks) {
    std::uint64_t& ranks = ranks_[*payload->communicator];
    ranks = std::max(ranks, *payload->ranks);
  }
  if (!payload->bytes) return;
  calls_.push_back({range.start_ns, range.end_ns, range.thread, range.name,
                    payload->communicator.value_or(0), *payload->bytes, kNoRow});
}

Collective NcclCalls::collective(const Call& call, Names& names) const {
  Collective row;
  row.name = call.name;
  row.has_bytes = true;
  row.in_bytes = call.bytes;
  row.out_bytes = call.bytes;
  if (call.communicator != 0) row.group = names.id_of(hexadecimal(call.communicator));
  const auto ranks = ranks_.find(call.communicator);
  if (ranks == ranks_.end()) return row;
  row.ranks = static_cast<std::uint32_t>(ranks->second);
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(call.bytes, ranks->second, &all)) return row;
  const Parts parts = parts_of(names.text(call.name));
  if (parts == Parts::OutIsAll || parts == Parts::BothAre) row.out_bytes = all;
  if (parts == Parts::InIsAll || parts == Parts::BothAre) row.in_bytes = all;
  return row;
}

void NcclCalls::put_in_order(std::vector<Call>& calls, const Names& names) {
  std::sort(calls.begin(), calls.end(), [&](const Call& a, const Call& b) {
    return std::tie(a.start_ns, a.end_ns, a.communicator, a.bytes, names.text(a.name)) <
           std::tie(b.start_ns, b.end_ns, b.communicator, b.bytes, names.text(b.name));
  });
}

void NcclCalls::finish(Timeline& timeline) {
  if (calls_.empty()) return;
  put_in_order(calls_, timeline.names);
  std::vector<OfThread> threads(timeline.threads.size());
  for (Call& call : calls_) {
    call.row = static_cast<RowIndex>(timeline.collectives.size());
    timeline.collectives.push_back(collective(call, timeline.names));
    threads[call.thread].calls.push_back(call);
  }
  for (auto& [thread, ends] : group_ends_) {
    std::sort(ends.begin(), ends.end(),
              [](const GroupEnd& a, const GroupEnd& b) { return a.start_ns < b.start_ns; });
    threads[thread].group_ends = std::move(ends);
  }
  link(timeline, threads);
}

/// A kernel belongs to the call that launched it. In a group, calls only record what to do, and
/// ncclGroupEnd launches it: the kernels then belong to the call of the group if there is only one.
/// With several calls it is unknown which kernel did what.
void NcclCalls::link(Timeline& timeline, const std::vector<OfThread>& threads) {
  struct Launch {
    std::int64_t when_ns;
    RowIndex thread;
    RowIndex work;
  };
  std::vector<Launch> launches;
  for (RowIndex row = 0; row < timeline.work.size(); ++row) {
    const DeviceWork& work = timeline.work[row];
    if (work.kind != WorkKind::Kernel || work.launch == kNoRow) continue;
    const HostCall& call = timeline.calls[work.launch];
    if (!threads[call.thread].calls.empty()) launches.push_back({call.start_ns, call.thread, row});
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.when_ns < b.when_ns; });
  // By thread: where the previous group ended, and the end of the one that launches now.
  std::vector<std::int64_t> since_ns(threads.size(), std::numeric_limits<std::int64_t>::min());
  std::vector<std::int64_t> until_ns(threads.size(), std::numeric_limits<std::int64_t>::min());
  for (const Launch& launch : launches) {
    const OfThread& thread = threads[launch.thread];
    if (const Call* call = holding(thread.calls, launch.when_ns)) {
      timeline.work[launch.work].collective = call->row;
      continue;
    }
    const GroupEnd* group = holding(thread.group_ends, launch.when_ns);
    if (group == nullptr) continue;
    if (group->end_ns != until_ns[launch.thread]) {
      since_ns[launch.thread] = until_ns[launch.thread];
      until_ns[launch.thread] = group->end_ns;
    }
    const auto first =
        std::lower_bound(thread.calls.begin(), thread.calls.end(), since_ns[launch.thread],
                         [](const Call& call, std::int64_t when) { return call.start_ns < when; });
    const auto last =
        std::lower_bound(thread.calls.begin(), thread.calls.end(), group->start_ns,
                         [](const Call& call, std::int64_t when) { return call.start_ns < when; });
    if (last - first == 1) timeline.work[launch.work].collective = first->row;
  }
}

}  // namespace profline::nsys::internal
