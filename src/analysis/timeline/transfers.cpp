#include "analysis/timeline/transfers.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analysis/timeline/attribution.h"
#include "base/error.h"
#include "records/timeline.h"

namespace profline::timeline {
namespace {

void add(const DeviceWork& work, TransferRow& row) {
  const std::int64_t duration_ns = work.duration_ns();
  row.min_ns = row.instances == 0 ? duration_ns : std::min(row.min_ns, duration_ns);
  row.max_ns = std::max(row.max_ns, duration_ns);
  ++row.instances;
  row.total_ns += duration_ns;
  if (work.bytes == 0) return;
  ++row.sized;
  row.bytes += work.bytes;
  row.sized_ns += duration_ns;
}

/// Bytes per nanosecond equal 10^9 bytes per second.
std::optional<double> rate(std::uint64_t bytes, std::int64_t ns) {
  if (bytes == 0 || ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(ns);
}

/// How many times the links carry the data of a collective.
enum class Links { TwoRounds, OneRound, Once, Unknown };

Links links_of(std::string_view name) {
  switch (collective_kind(name)) {
    case CollectiveKind::AllReduce:
      return Links::TwoRounds;
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllGather:
    case CollectiveKind::AllToAll:
    case CollectiveKind::Gather:
    case CollectiveKind::Scatter:
      return Links::OneRound;
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce:
    case CollectiveKind::Send:
    case CollectiveKind::Receive:
      return Links::Once;
    case CollectiveKind::Unknown:
      break;
  }
  return Links::Unknown;
}

/// The time of the kernels of each collective.
struct Carried {
  std::uint64_t kernels = 0;
  std::int64_t total_ns = 0;
};

std::vector<Carried> carried_by_collective(const Timeline& timeline,
                                           const CollectiveOptions& options) {
  std::vector<bool> inside;
  if (options.inside) inside = contexts_in_ranges(timeline, *options.attribution, *options.inside);
  std::vector<Carried> carried(timeline.collectives.size());
  for (const DeviceWork& work : timeline.work) {
    if (work.collective == kNoRow) continue;
    if (options.inside) {
      const ContextId context = options.attribution->of_work(work);
      if (context == kNoLaunch || !inside[context]) continue;
    }
    ++carried[work.collective].kernels;
    carried[work.collective].total_ns += work.duration_ns();
  }
  return carried;
}

void add(const Collective& collective, const Carried& carried, CollectiveRow& row) {
  ++row.instances;
  row.kernels += carried.kernels;
  row.total_ns += carried.total_ns;
  if (!collective.has_bytes) return;
  ++row.sized;
  row.bytes += message_bytes(collective);
  row.in_bytes += collective.in_bytes;
  row.out_bytes += collective.out_bytes;
  if (carried.kernels == 0) return;
  row.timed_bytes += message_bytes(collective);
  row.timed_ns += carried.total_ns;
}

}  // namespace

std::string_view direction_of(const DeviceWork& copy_or_fill) {
  if (copy_or_fill.kind == WorkKind::Fill) return "memset";
  switch (copy_or_fill.copy) {
    case CopyKind::HostToDevice:
      return "HtoD";
    case CopyKind::DeviceToHost:
      return "DtoH";
    case CopyKind::DeviceToDevice:
      return "DtoD";
    case CopyKind::PeerToPeer:
      return "PtoP";
    case CopyKind::HostToHost:
      return "HtoH";
    case CopyKind::None:
    case CopyKind::Other:
      break;
  }
  return "unknown";
}

std::string_view to_text(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Pageable:
      return "pageable";
    case MemoryKind::Pinned:
      return "pinned";
    case MemoryKind::Device:
      return "device";
    case MemoryKind::Array:
      return "array";
    case MemoryKind::Managed:
      return "managed";
    case MemoryKind::Unknown:
      break;
  }
  return {};
}

std::optional<double> TransferRow::gigabytes_per_second() const {
  // Bytes per nanosecond equal 10^9 bytes per second.
  if (bytes == 0 || sized_ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(sized_ns);
}

std::vector<TransferRow> transfer_table(const Timeline& timeline, const TransferOptions& options) {
  PL_ASSERT(options.attribution != nullptr || !options.inside, "ranges need the attribution");
  std::vector<bool> inside;
  if (options.inside) inside = contexts_in_ranges(timeline, *options.attribution, *options.inside);
  const auto wanted = [&](const DeviceWork& work) {
    if (work.kind != WorkKind::Copy && work.kind != WorkKind::Fill) return false;
    if (!options.inside) return true;
    const ContextId context = options.attribution->of_work(work);
    return context != kNoLaunch && inside[context];
  };
  using Key = std::tuple<std::string_view, std::string_view, MemoryKind, MemoryKind>;
  std::map<Key, TransferRow> rows;  // sorted, so that ties come out in a fixed order
  for (const DeviceWork& work : timeline.work) {
    if (!wanted(work)) continue;
    const std::string_view direction = direction_of(work);
    TransferRow& row = rows[Key(timeline.names.text(work.name), direction, work.from, work.to)];
    row.name = work.name;
    row.direction = direction;
    row.from = work.from;
    row.to = work.to;
    add(work, row);
  }
  std::vector<TransferRow> table;
  for (auto& [key, row] : rows) table.push_back(row);
  std::stable_sort(table.begin(), table.end(), [](const TransferRow& a, const TransferRow& b) {
    return a.total_ns > b.total_ns;
  });
  return table;
}

std::uint64_t message_bytes(const Collective& collective) {
  return std::max(collective.in_bytes, collective.out_bytes);
}

std::optional<double> bus_factor(std::string_view name, std::uint32_t ranks) {
  const Links links = links_of(name);
  if (links == Links::Unknown) return std::nullopt;
  if (links == Links::Once) return 1.0;
  if (ranks == 0) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return links == Links::TwoRounds ? 2 * others : others;
}

std::optional<double> CollectiveRow::algorithm_gigabytes_per_second() const {
  // Without the number of ranks, the size of a collective that divides its data is one rank's part.
  if (links_of(name) == Links::OneRound && ranks == 0) return std::nullopt;
  return rate(timed_bytes, timed_ns);
}

std::optional<double> CollectiveRow::bus_gigabytes_per_second() const {
  const auto algorithm = algorithm_gigabytes_per_second();
  const auto factor = bus_factor(name, ranks);
  if (!algorithm || !factor) return std::nullopt;
  return *algorithm * *factor;
}

std::vector<CollectiveRow> collective_table(const Timeline& timeline,
                                            const CollectiveOptions& options) {
  PL_ASSERT(options.attribution != nullptr || !options.inside, "ranges need the attribution");
  const std::vector<Carried> carried = carried_by_collective(timeline, options);
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;
  std::map<Key, CollectiveRow> rows;
  for (std::size_t i = 0; i < timeline.collectives.size(); ++i) {
    const Collective& collective = timeline.collectives[i];
    if (options.inside && carried[i].kernels == 0) continue;
    const auto text = [&](Names::Id id) -> const std::string& { return timeline.names.text(id); };
    const Key key(text(collective.name), text(collective.dtype), text(collective.group),
                  collective.ranks);
    CollectiveRow& row = rows[key];
    row.name = text(collective.name);
    row.dtype = text(collective.dtype);
    row.group = text(collective.group);
    row.ranks = collective.ranks;
    add(collective, carried[i], row);
  }
  std::vector<CollectiveRow> table;
  for (auto& [key, row] : rows) table.push_back(std::move(row));
  std::stable_sort(table.begin(), table.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return std::tie(a.total_ns, a.bytes) > std::tie(b.total_ns, b.bytes);
  });
  return table;
}

}  // namespace profline::timeline
