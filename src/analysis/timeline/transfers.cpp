#include "analysis/timeline/transfers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/timeline/range_names.h"
#include "base/assert.h"

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
  // Bytes in a nanosecond are 10^9 bytes in a second.
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
  std::map<Key, TransferRow> rows;  // by what they say: ties come out in that order
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

}  // namespace profline::timeline
