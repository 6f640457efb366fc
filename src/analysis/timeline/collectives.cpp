#include "analysis/timeline/collectives.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>

#include "analysis/timeline/range_names.h"
#include "base/assert.h"

namespace profline::timeline {
namespace {

/// Bytes in a nanosecond are 10^9 bytes in a second.
std::optional<double> rate(std::uint64_t bytes, std::int64_t ns) {
  if (bytes == 0 || ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(ns);
}

/// `ncclAllReduce`, `_all_reduce_base` and `allreduce` are spellings of one thing.
std::string letters(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

enum class Links { TwoRounds, OneRound, Once };

struct Kind {
  std::string_view word;
  Links links;
};
// The first that the name holds: `reduce` is in others.
constexpr std::array kKinds = {
    Kind{"allreduce", Links::TwoRounds}, Kind{"reducescatter", Links::OneRound},
    Kind{"allgather", Links::OneRound},  Kind{"alltoall", Links::OneRound},
    Kind{"gather", Links::OneRound},     Kind{"scatter", Links::OneRound},
    Kind{"broadcast", Links::Once},      Kind{"reduce", Links::Once},
    Kind{"send", Links::Once},           Kind{"recv", Links::Once},
};

/// Nothing for the name of a collective that we do not know.
const Kind* kind_of(std::string_view name) {
  const std::string plain = letters(name);
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& known) {
    return plain.find(known.word) != std::string::npos;
  });
  return found == kKinds.end() ? nullptr : found;
}

/// What the kernels of each collective took.
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

std::uint64_t message_bytes(const Collective& collective) {
  return std::max(collective.in_bytes, collective.out_bytes);
}

std::optional<double> bus_factor(std::string_view name, std::uint32_t ranks) {
  const Kind* const kind = kind_of(name);
  if (kind == nullptr) return std::nullopt;
  if (kind->links == Links::Once) return 1.0;
  if (ranks == 0) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return kind->links == Links::TwoRounds ? 2 * others : others;
}

std::optional<double> CollectiveRow::algorithm_gigabytes_per_second() const {
  // Without the number of ranks the size of a collective that divides its data is one rank's part.
  const Kind* const kind = kind_of(name);
  if (kind != nullptr && kind->links == Links::OneRound && ranks == 0) return std::nullopt;
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
