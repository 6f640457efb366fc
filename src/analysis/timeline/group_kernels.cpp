#include "analysis/timeline/group_kernels.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/exclusive.h"

namespace profline::timeline {
namespace {

using Number = std::uint32_t;  // an index in order of first appearance

/// The key by which kernels share a row.
struct Key {
  Number kernel = 0;
  Number shape = 0;
  Number stack = 0;
  Names::Id op = 0;
  std::int32_t device = 0;
  bool launched = true;

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.kernel | std::uint64_t{key.shape} << 32U;
    hash = (hash ^ (hash >> 31U)) * 0x9E3779B97F4A7C15U;
    hash ^= key.stack | std::uint64_t{key.op} << 32U;
    hash = (hash ^ (hash >> 29U)) * 0xBF58476D1CE4E5B9U;
    hash += static_cast<std::uint32_t>(key.device) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32U) ^ (key.launched ? 1U : 0U);
  }
};

/// Kernels by canonical name; each name is parsed once.
class Identities {
 public:
  Identities(const Timeline& timeline, bool by_spelling, const kernels::Classifier* classes)
      : timeline_(timeline),
        by_spelling_(by_spelling),
        classes_(classes),
        by_id_(timeline.names.size(), kUnknown) {}

  Number of(Names::Id id) {
    if (by_id_[id] == kUnknown) by_id_[id] = find(timeline_.names.text(id));
    return by_id_[id];
  }
  /// Only its names and class.
  const KernelUse& kernel(Number number) const { return known_[number]; }

 private:
  static constexpr Number kUnknown = static_cast<Number>(-1);

  Number find(const std::string& printed) {
    const kernels::CanonicalName name = kernels::canonical_name(printed);
    const auto [place, is_new] = by_name_.try_emplace(by_spelling_ ? printed : name.full,
                                                      static_cast<Number>(known_.size()));
    if (is_new) {
      KernelUse& kernel = known_.emplace_back();
      kernel.name = name.full;
      kernel.short_name = name.short_name;
      kernel.printed_name = printed;
      if (classes_ != nullptr) kernel.kernel_class = classes_->class_of(name);
    }
    return place->second;
  }

  const Timeline& timeline_;
  bool by_spelling_;
  const kernels::Classifier* classes_;
  std::vector<KernelUse> known_;
  std::vector<Number> by_id_;
  std::unordered_map<std::string, Number> by_name_;
};

/// Launch shapes; 0 stands for a shape that was not recorded, or not requested.
class Shapes {
 public:
  /// Grid, block, registers, shared memory.
  using Numbers = std::array<std::uint32_t, 8>;

  Shapes(const Timeline& timeline, KernelKeys::Shape by) : shapes_(1), number_of_(1) {
    if (by == KernelKeys::Shape::Any) return;
    std::map<Numbers, Number> known;
    number_of_.clear();
    for (const LaunchShape& shape : timeline.shapes) {
      Numbers key{};
      std::copy(shape.grid.begin(), shape.grid.end(), key.begin());
      std::copy(shape.block.begin(), shape.block.end(), key.begin() + 3);
      if (by == KernelKeys::Shape::Whole) {
        key[6] = shape.registers_per_thread;
        key[7] = shape.static_shared_bytes + shape.dynamic_shared_bytes;
      }
      const auto [entry, is_new] = known.try_emplace(key, static_cast<Number>(shapes_.size()));
      if (is_new) shapes_.push_back(key);
      number_of_.push_back(entry->second);
    }
  }

  Number of(RowIndex shape) const { return shape < number_of_.size() ? number_of_[shape] : 0; }
  void describe(Number shape, KernelUse& use) const {
    if (shape == 0) return;
    const Numbers& known = shapes_[shape];
    use.grid.assign(known.begin(), known.begin() + 3);
    use.block.assign(known.begin() + 3, known.begin() + 6);
    use.registers_per_thread = known[6];
    use.shared_bytes = known[7];
  }

 private:
  std::vector<Numbers> shapes_;
  std::vector<Number> number_of_;  // by row of Timeline::shapes
};

/// Stacks of ranges by label: thousands of instances of one range are one stack. 0 is the empty
/// stack.
class Stacks {
 public:
  Stacks(const Timeline& timeline, const Attribution& attribution)
      : stack_of_(attribution.context_count()), stacks_(1) {
    const RangeLabels labels(timeline);
    std::map<std::tuple<Number, std::uint32_t, Names::Id>, Number> known;
    for (ContextId id = 1; id < stack_of_.size(); ++id) {
      // A context comes after what is below it.
      const Number below = stack_of_[attribution.context(id).below];
      const Range& range = timeline.ranges[attribution.context(id).range];
      const auto [entry, is_new] =
          known.try_emplace(std::tuple(below, labels.of(range.name), range.domain), stacks_.size());
      if (is_new) {
        std::vector<std::string> stack = stacks_[below];
        stack.push_back(range_label(timeline, range));
        stacks_.push_back(std::move(stack));
      }
      stack_of_[id] = entry->second;
    }
  }

  Number of(ContextId context) const { return context == kNoLaunch ? 0 : stack_of_[context]; }
  const std::vector<std::string>& labels(Number stack) const { return stacks_[stack]; }

 private:
  std::vector<Number> stack_of_;
  std::vector<std::vector<std::string>> stacks_;
};

/// Reorders them.
double median_of(std::span<std::int64_t> durations) {
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  const auto upper = static_cast<double>(*middle);
  if (durations.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(durations.begin(), middle)) + upper) / 2;
}

void add_durations(std::span<std::int64_t> durations, KernelUse& use) {
  use.launches = durations.size();
  for (const std::int64_t duration : durations) use.total_ns += duration;
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  use.min_ns = *least;
  use.max_ns = *most;
  use.median_ns = median_of(durations);
}

class Grouping {
 public:
  Grouping(const Timeline& timeline, const KernelKeys& keys, const KernelGroupOptions& options)
      : timeline_(timeline),
        keys_(keys),
        attribution_(options.attribution),
        identities_(timeline, keys.spelling, options.classes),
        shapes_(timeline, keys.shape) {
    if ((keys.ranges || options.inside) && attribution_ == nullptr) {
      attribution_ = &made_.emplace(Attribution::of(timeline));
    }
    if (keys.ranges) stacks_.emplace(timeline, *attribution_);
    if (options.inside) inside_ = contexts_in_ranges(timeline, *attribution_, *options.inside);
  }

  KernelUses run() {
    assign_rows();
    add_up();
    order();
    return std::move(uses_);
  }

 private:
  bool is_wanted(const DeviceWork& work) const {
    if (work.kind != WorkKind::Kernel) return false;
    if (!inside_) return true;
    const ContextId context = attribution_->of_work(work);
    return context != kNoLaunch && (*inside_)[context];
  }

  Names::Id operator_of(const DeviceWork& work) const {
    if (work.launch == kNoRow) return 0;
    const RowIndex op = timeline_.calls[work.launch].op;
    return op == kNoRow ? 0 : timeline_.operators[op].name;
  }

  Key key_of(const DeviceWork& work) {
    Key key{.kernel = identities_.of(work.name), .shape = shapes_.of(work.shape)};
    if (keys_.op) key.op = operator_of(work);
    if (keys_.device && work.stream != kNoRow) key.device = timeline_.streams[work.stream].device;
    if (stacks_) {
      const ContextId context = attribution_->of_work(work);
      key.stack = stacks_->of(context);
      key.launched = context != kNoLaunch;
    }
    return key;
  }

  void assign_rows() {
    std::unordered_map<Key, RowIndex, KeyHash> rows;
    uses_.row_of.reserve(timeline_.work.size());
    for (const DeviceWork& work : timeline_.work) {
      if (!is_wanted(work)) {
        uses_.row_of.push_back(kNoRow);
        continue;
      }
      const Key key = key_of(work);
      const auto [entry, is_new] = rows.try_emplace(key, static_cast<RowIndex>(counts_.size()));
      if (is_new) {
        counts_.push_back(0);
        uses_.rows.push_back(row_of(key));
      }
      uses_.row_of.push_back(entry->second);
      ++counts_[entry->second];
    }
  }

  KernelUse row_of(const Key& key) const {
    KernelUse row = identities_.kernel(key.kernel);
    shapes_.describe(key.shape, row);
    if (stacks_) row.ranges = stacks_->labels(key.stack);
    row.launch_recorded = key.launched;
    row.device = key.device;
    row.op = timeline_.names.text(key.op);
    return row;
  }

  void add_up() {
    std::vector<std::size_t> next(counts_.size());
    std::size_t sum = 0;
    for (std::size_t row = 0; row < counts_.size(); ++row) {
      next[row] = sum;
      sum += counts_[row];
    }
    std::vector<std::int64_t> durations(sum);
    for (std::size_t i = 0; i < timeline_.work.size(); ++i) {
      if (uses_.row_of[i] == kNoRow) continue;
      durations[next[uses_.row_of[i]]++] = timeline_.work[i].duration_ns();
    }
    exclusive_times(timeline_, [&](RowIndex work, const ExclusiveTime& time) {
      if (uses_.row_of[work] == kNoRow) return;
      KernelUse& row = uses_.rows[uses_.row_of[work]];
      row.exclusive_ns += time.exclusive_ns();
      row.alone_ns += time.alone_ns;
    });
    for (std::size_t row = 0; row < counts_.size(); ++row) {
      const std::size_t begin = next[row] - counts_[row];
      add_durations(std::span(durations).subspan(begin, counts_[row]), uses_.rows[row]);
      uses_.total_ns += uses_.rows[row].total_ns;
      uses_.exclusive_ns += uses_.rows[row].exclusive_ns;
      uses_.launches += uses_.rows[row].launches;
    }
  }

  void order() {
    const std::string KernelUse::*const name =
        keys_.spelling ? &KernelUse::printed_name : &KernelUse::name;
    std::vector<RowIndex> by_time(uses_.rows.size());
    for (RowIndex i = 0; i < by_time.size(); ++i) by_time[i] = i;
    const KernelRanking ranking = uses_.ranking();
    std::stable_sort(by_time.begin(), by_time.end(), [&](RowIndex first, RowIndex second) {
      const KernelUse& a = uses_.rows[first];
      const KernelUse& b = uses_.rows[second];
      if (ranking.ns(a) != ranking.ns(b)) return ranking.ns(a) > ranking.ns(b);
      return std::tie(a.launches, a.*name, a.ranges, a.op) <
             std::tie(b.launches, b.*name, b.ranges, b.op);
    });
    std::vector<KernelUse> ordered;
    std::vector<RowIndex> place_of(by_time.size());
    for (const RowIndex row : by_time) {
      place_of[row] = static_cast<RowIndex>(ordered.size());
      ordered.push_back(std::move(uses_.rows[row]));
    }
    uses_.rows = std::move(ordered);
    for (RowIndex& row : uses_.row_of) row = row == kNoRow ? kNoRow : place_of[row];
  }

  const Timeline& timeline_;
  const KernelKeys& keys_;
  const Attribution* attribution_;
  std::optional<Attribution> made_;
  Identities identities_;
  Shapes shapes_;
  std::optional<Stacks> stacks_;
  std::optional<std::vector<bool>> inside_;  // by context
  std::vector<std::size_t> counts_;          // by row
  KernelUses uses_;
};

/// The row reduced to the requested keys.
KernelUse with_keys_only(const KernelUse& row, const KernelKeys& keys) {
  KernelUse use;
  use.name = row.name;
  use.short_name = row.short_name;
  use.printed_name = row.printed_name;
  use.kernel_class = row.kernel_class;
  if (keys.shape != KernelKeys::Shape::Any) {
    use.grid = row.grid;
    use.block = row.block;
  }
  if (keys.shape == KernelKeys::Shape::Whole) {
    use.registers_per_thread = row.registers_per_thread;
    use.shared_bytes = row.shared_bytes;
  }
  if (keys.ranges) {
    use.ranges = row.ranges;
    use.launch_recorded = row.launch_recorded;
  }
  if (keys.op) use.op = row.op;
  return use;
}

void add(const KernelUse& row, KernelUse& sum) {
  sum.min_ns = sum.launches == 0 ? row.min_ns : std::min(sum.min_ns, row.min_ns);
  sum.max_ns = std::max(sum.max_ns, row.max_ns);
  sum.launches += row.launches;
  sum.total_ns += row.total_ns;
  sum.exclusive_ns += row.exclusive_ns;
  sum.alone_ns += row.alone_ns;
}

}  // namespace

double KernelUses::share(const KernelUse& row) const {
  const KernelRanking by = ranking();
  if (by.ns(*this) == 0) return 0;
  return 100.0 * static_cast<double>(by.ns(row)) / static_cast<double>(by.ns(*this));
}

KernelUses group_kernels(const Timeline& timeline, const KernelKeys& keys,
                         const KernelGroupOptions& options) {
  return Grouping(timeline, keys, options).run();
}

std::vector<KernelGroup> group_kernels(std::span<const KernelUse> rows, const KernelKeys& keys) {
  const auto key_of = [&](const KernelUse& use) {
    return std::tuple(keys.spelling ? use.printed_name : use.name, use.grid, use.block,
                      use.registers_per_thread, use.shared_bytes, use.ranges, use.launch_recorded,
                      use.op);
  };
  std::map<decltype(key_of(rows.front())), std::size_t> places;
  std::vector<KernelGroup> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    KernelUse use = with_keys_only(rows[i], keys);
    const auto [place, is_new] = places.try_emplace(key_of(use), groups.size());
    if (is_new) groups.push_back({std::move(use), {}});
    KernelGroup& group = groups[place->second];
    add(rows[i], group.all);
    group.members.push_back(i);
  }
  return groups;
}

}  // namespace profline::timeline
