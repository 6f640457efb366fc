#include "analysis/timeline/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analysis/timeline/range_names.h"
#include "base/assert.h"

namespace profline::timeline {
namespace {

/// What makes two kernels fall into one row.
struct Key {
  Names::Id name = 0;
  RowIndex shape = kNoRow;
  Names::Id range = 0;
  Names::Id domain = 0;
  bool in_range = false;
  bool launched = true;
  Names::Id op = 0;

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.name | std::uint64_t{key.shape} << 32U;
    hash = (hash ^ (hash >> 31U)) * 0x9E3779B97F4A7C15U;
    hash ^= key.range | std::uint64_t{key.domain} << 32U;
    hash = (hash ^ (hash >> 29U)) * 0xBF58476D1CE4E5B9U;
    hash += key.op * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32U) ^ (key.in_range ? 1U : 0U) ^ (key.launched ? 2U : 0U);
  }
};

/// Rows of work by key, and each row's durations one after the other.
class Grouping {
 public:
  template <typename KeyOf>
  Grouping(const std::vector<DeviceWork>& work, KeyOf&& key_of) {
    std::unordered_map<Key, RowIndex, KeyHash> rows;
    row_of_.reserve(work.size());
    for (const DeviceWork& piece : work) {
      Key key;
      if (!key_of(piece, key)) {
        row_of_.push_back(kNoRow);
        continue;
      }
      const auto [entry, is_new] = rows.try_emplace(key, static_cast<RowIndex>(keys_.size()));
      if (is_new) {
        keys_.push_back(key);
        counts_.push_back(0);
      }
      row_of_.push_back(entry->second);
      ++counts_[entry->second];
    }
    collect_durations(work);
  }

  KernelTable table() {
    KernelTable table;
    std::size_t begin = 0;
    for (std::size_t row = 0; row < keys_.size(); ++row) {
      const std::span<std::int64_t> durations(durations_.data() + begin, counts_[row]);
      begin += counts_[row];
      table.rows.push_back(summary(keys_[row], durations));
      table.total_ns += table.rows.back().total_ns;
      table.instances += table.rows.back().instances;
    }
    return table;
  }

 private:
  void collect_durations(const std::vector<DeviceWork>& work) {
    std::vector<std::size_t> next(counts_.size());
    std::size_t sum = 0;
    for (std::size_t row = 0; row < counts_.size(); ++row) {
      next[row] = sum;
      sum += counts_[row];
    }
    durations_.resize(sum);
    for (std::size_t piece = 0; piece < work.size(); ++piece) {
      if (row_of_[piece] == kNoRow) continue;
      durations_[next[row_of_[piece]]++] = work[piece].duration_ns();
    }
  }

  static KernelRow summary(const Key& key, std::span<std::int64_t> durations) {
    KernelRow row;
    row.name = key.name;
    row.shape = key.shape;
    row.range = key.range;
    row.range_domain = key.domain;
    row.in_range = key.in_range;
    row.launched = key.launched;
    row.op = key.op;
    row.instances = durations.size();
    for (const std::int64_t duration : durations) row.total_ns += duration;
    const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
    row.min_ns = *least;
    row.max_ns = *most;
    row.stddev_ns = stddev(durations, row.mean_ns());
    row.median_ns = median(durations);
    return row;
  }

  static double stddev(std::span<const std::int64_t> durations, double mean) {
    if (durations.size() < 2) return 0;
    double sum = 0;
    for (const std::int64_t duration : durations) {
      const double off = static_cast<double>(duration) - mean;
      sum += off * off;
    }
    return std::sqrt(sum / static_cast<double>(durations.size() - 1));
  }

  /// Reorders them.
  static double median(std::span<std::int64_t> durations) {
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle, durations.end());
    const auto upper = static_cast<double>(*middle);
    if (durations.size() % 2 == 1) return upper;
    return (static_cast<double>(*std::max_element(durations.begin(), middle)) + upper) / 2;
  }

  std::vector<Key> keys_;
  std::vector<std::size_t> counts_;
  std::vector<RowIndex> row_of_;
  std::vector<std::int64_t> durations_;
};

void order_rows(const Timeline& timeline, KernelTable& table) {
  const auto text = [&](Names::Id id) -> const std::string& { return timeline.names.text(id); };
  std::stable_sort(
      table.rows.begin(), table.rows.end(), [&](const KernelRow& a, const KernelRow& b) {
        if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
        if (a.instances != b.instances) return a.instances < b.instances;
        return std::tie(text(a.name), text(a.range_domain), text(a.range), text(a.op)) <
               std::tie(text(b.name), text(b.range_domain), text(b.range), text(b.op));
      });
}

/// The name of the operator that launched the work.
Names::Id operator_of(const Timeline& timeline, const DeviceWork& work) {
  if (work.launch == kNoRow) return 0;
  const RowIndex op = timeline.calls[work.launch].op;
  return op == kNoRow ? 0 : timeline.operators[op].name;
}

}  // namespace

double KernelTable::share(const KernelRow& row) const {
  if (total_ns == 0) return 0;
  return 100.0 * static_cast<double>(row.total_ns) / static_cast<double>(total_ns);
}

KernelTable kernel_table(const Timeline& timeline, const KernelTableOptions& options) {
  PL_ASSERT(options.attribution != nullptr || (!options.by_range && !options.inside),
            "ranges need the attribution");
  std::vector<bool> inside;
  if (options.inside) {
    inside = contexts_in_ranges(timeline, *options.attribution, *options.inside);
  }
  const auto wanted = [&](const DeviceWork& work) {
    if (work.kind != WorkKind::Kernel) return false;
    if (options.device &&
        (work.stream == kNoRow || timeline.streams[work.stream].device != *options.device)) {
      return false;
    }
    if (!options.inside) return true;
    const ContextId context = options.attribution->of_work(work);
    return context != kNoLaunch && inside[context];
  };
  Grouping grouping(timeline.work, [&](const DeviceWork& work, Key& key) {
    if (!wanted(work)) return false;
    key.name = work.name;
    if (options.by_shape) key.shape = work.shape;
    if (options.by_operator) key.op = operator_of(timeline, work);
    if (!options.by_range) return true;
    const ContextId context = options.attribution->of_work(work);
    key.launched = context != kNoLaunch;
    const RowIndex range = options.attribution->innermost(context);
    if (range == kNoRow) return true;
    key.in_range = true;
    key.range = timeline.ranges[range].name;
    key.domain = timeline.ranges[range].domain;
    return true;
  });
  KernelTable table = grouping.table();
  order_rows(timeline, table);
  return table;
}

KernelTable copy_table(const Timeline& timeline) {
  Grouping grouping(timeline.work, [](const DeviceWork& work, Key& key) {
    key.name = work.name;
    return work.kind == WorkKind::Copy || work.kind == WorkKind::Fill;
  });
  KernelTable table = grouping.table();
  order_rows(timeline, table);
  return table;
}

}  // namespace profline::timeline
