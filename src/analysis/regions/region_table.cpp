#include "analysis/regions/region_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "analysis/kernels/canonical_name.h"
#include "analysis/roofline/counted_kernel.h"
#include "analysis/roofline/roofline.h"
#include "base/strings.h"
#include "records/range_use.h"

namespace profline::regions {
namespace {

using roofline::KernelMean;
using Labels = std::vector<std::string>;

constexpr double kTolerance = 0.01;
// std::regex recurses for each character it examines.
constexpr std::size_t kLongestSearched = 8192;

Labels labels_of(const CounterReport& report, const ProfiledKernel& kernel) {
  Labels labels;
  for (const OpenRange& range : kernel.ranges) {
    const std::string& domain = report.names.text(range.domain);
    const std::string& name = report.names.text(range.name);
    labels.push_back(domain.empty() ? name : domain + ":" + name);
  }
  return labels;
}

std::optional<double> time_of(const CounterReport& report, const ProfiledKernel& kernel) {
  const roofline::Measurement measured = roofline::measure(report, kernel);
  if (!measured.time_ns) return std::nullopt;
  return measured.time_ns->value;
}

/// The total over all launches that the mean covers.
std::optional<double> instructions_of(const CounterReport& report, const KernelMean& mean) {
  const Counter* counter = report.find(mean.kernel, kInstructions);
  if (counter == nullptr || !std::isfinite(counter->value)) return std::nullopt;
  return counter->value * static_cast<double>(mean.launches);
}

void add_to(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

/// A parent's name, and the sum of its children.
using Inside = std::map<Labels, double>;

/// For a region that was not measured: the sum of its content.
void take_children(const Labels& labels, const Inside& inside, bool is_measured,
                   std::optional<double>& children, std::optional<double>& total) {
  const auto found = inside.find(labels);
  if (found != inside.end()) children = found->second;
  if (!is_measured) total = children;
}

void add_to_parent(const Labels& labels, const std::optional<double>& total, Inside& inside) {
  if (total && labels.size() > 1) inside[Labels(labels.begin(), labels.end() - 1)] += *total;
}

/// Whether they agree within the tolerance; nothing if one of them is not known.
std::optional<bool> holds(const std::optional<double>& total,
                          const std::optional<double>& children) {
  if (!total || !children) return std::nullopt;
  return *children <= *total * (1 + kTolerance);
}

/// Rules with compiled expressions.
class Filter {
 public:
  static Result<Filter> create(const Rules& rules) {
    Filter filter;
    for (const bool is_include : {true, false}) {
      for (const KernelRule& rule : is_include ? rules.include : rules.exclude) {
        auto regex = compiled(rule);
        if (!regex) return std::move(regex).error();
        (is_include ? filter.include_ : filter.exclude_)
            .push_back({rule.region, *std::move(regex)});
      }
    }
    return filter;
  }

  bool is_empty() const { return include_.empty() && exclude_.empty(); }

  bool lets_in(const std::string& region, std::string_view kernel) const {
    const std::string name(kernel.substr(0, kLongestSearched));
    bool has_include = false;
    bool is_included = false;
    for (const Compiled& rule : include_) {
      if (!concerns(rule, region)) continue;
      has_include = true;
      is_included = is_included || std::regex_search(name, rule.regex);
    }
    if (has_include && !is_included) return false;
    return std::none_of(exclude_.begin(), exclude_.end(), [&](const Compiled& rule) {
      return concerns(rule, region) && std::regex_search(name, rule.regex);
    });
  }

 private:
  struct Compiled {
    std::string region;
    std::regex regex;
  };

  static bool concerns(const Compiled& rule, const std::string& region) {
    return rule.region.empty() || rule.region == region;
  }

  static Result<std::regex> compiled(const KernelRule& rule) {
    try {
      return std::regex(rule.regex);
    } catch (const std::regex_error& failure) {
      return Error(ErrorKind::Config,
                   "'" + rule.regex + "' is not a regular expression: " + failure.what());
    }
  }

  std::vector<Compiled> include_;
  std::vector<Compiled> exclude_;
};

/// Regions by name, in order of first appearance, parents first.
class Table {
 public:
  Table(const CounterReport& report, const Filter& filter) : report_(report), filter_(filter) {}

  void add(const KernelMean& mean) {
    Labels labels = labels_of(report_, mean.kernel);
    if (mean.kernel.is_range) {
      if (labels.empty()) labels = {report_.names.text(mean.kernel.name)};
      add_range(labels, mean);
      return;
    }
    for (Labels around = labels; !around.empty(); around.pop_back()) {
      add_kernel(around, labels.size() == around.size(), mean);
    }
  }

  std::vector<NcuRegion> finish() {
    sum_up();
    std::vector<NcuRegion> rows;
    for (auto& [labels, region] : regions_) rows.push_back(std::move(region));
    name_folders(rows);
    return rows;
  }

 private:
  NcuRegion& region(const Labels& labels, const ProfiledKernel& kernel) {
    for (std::size_t size = 1; size < labels.size(); ++size) {
      (void)row(Labels(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(size)), kernel);
    }
    return row(labels, kernel);
  }

  NcuRegion& row(const Labels& labels, const ProfiledKernel& kernel) {
    const auto [entry, is_new] = regions_.try_emplace(labels);
    NcuRegion& made = entry->second;
    if (!is_new) return made;
    made.name = join(labels, "::");
    made.depth = static_cast<std::uint32_t>(labels.size() - 1);
    made.parent = join(std::span(labels).first(labels.size() - 1), "::");
    made.source = RegionSource::Children;
    made.process_name = report_.names.text(kernel.process_name);
    made.device = kernel.device;
    made.device_name = report_.names.text(kernel.device_name);
    return made;
  }

  void add_range(const Labels& labels, const KernelMean& mean) {
    NcuRegion& made = region(labels, mean.kernel);
    made.source = RegionSource::Range;
    made.instances += mean.launches;
    add_to(made.instructions, instructions_of(report_, mean));
    if (const auto time = time_of(report_, mean.kernel)) {
      made.total_ns = made.total_ns.value_or(0) + *time * static_cast<double>(mean.launches);
      made.duration_ns = *made.total_ns / static_cast<double>(made.instances);
    }
    if (!made.counters.empty()) return;
    for (const Counter& counter : mean.kernel.counters) {
      if (!std::isfinite(counter.value)) continue;
      made.counters.push_back(
          {report_.names.text(counter.name), report_.names.text(counter.unit), counter.value});
    }
  }

  void add_kernel(const Labels& labels, bool is_innermost, const KernelMean& mean) {
    NcuRegion& made = region(labels, mean.kernel);
    if (made.source == RegionSource::Range) return;  // measured as a whole
    made.source = RegionSource::Kernels;
    const std::string& printed = report_.names.text(mean.kernel.name);
    if (!filter_.lets_in(made.name, printed)) {
      made.launches_left_out += mean.launches;
      return;
    }
    const double total =
        time_of(report_, mean.kernel).value_or(0) * static_cast<double>(mean.launches);
    add_to(made.total_ns, total);
    add_to(made.instructions, instructions_of(report_, mean));
    if (is_innermost) own_[labels] += total;
    const std::string name = kernels::canonical_name(printed).short_name;
    auto known = std::find_if(made.kernels.begin(), made.kernels.end(),
                              [&](const NcuRegionKernel& kernel) { return kernel.name == name; });
    if (known == made.kernels.end()) known = made.kernels.insert(known, {name, 0, 0});
    known->launches += mean.launches;
    known->total_ns += total;
  }

  /// From the deepest up: the sum of what is nested in each, and its exclusive rest.
  void sum_up() {
    Inside time_inside;
    Inside work_inside;
    for (auto entry = regions_.rbegin(); entry != regions_.rend(); ++entry) {
      const Labels& labels = entry->first;
      NcuRegion& region = entry->second;
      const bool is_measured = region.source != RegionSource::Children;
      take_children(labels, time_inside, is_measured, region.children_ns, region.total_ns);
      take_children(labels, work_inside, is_measured, region.children_instructions,
                    region.instructions);
      region.inclusive_ns = region.total_ns;
      settle(labels, region);
      add_to_parent(labels, region.inclusive_ns, time_inside);
      add_to_parent(labels, region.instructions, work_inside);
    }
  }

  void settle(const Labels& labels, NcuRegion& region) const {
    region.reconciles = holds(region.instructions, region.children_instructions);
    if (!region.reconciles) region.reconciles = holds(region.inclusive_ns, region.children_ns);
    if (!region.inclusive_ns) return;
    region.exclusive_ns = std::max(0.0, *region.inclusive_ns - region.children_ns.value_or(0));
    // A child's rules may include what its parent's exclude.
    const auto counted = own_.find(labels);
    if (region.source == RegionSource::Kernels && !filter_.is_empty()) {
      region.exclusive_ns = counted == own_.end() ? 0 : counted->second;
    }
  }

  static void name_folders(std::vector<NcuRegion>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string plain = folder_name(rows[i].name);
      rows[i].folder = plain;
      const auto is_taken = [&](const NcuRegion& known) { return known.folder == rows[i].folder; };
      const auto before = rows.begin() + static_cast<std::ptrdiff_t>(i);
      for (int n = 2; std::any_of(rows.begin(), before, is_taken); ++n) {
        rows[i].folder = plain + "-" + std::to_string(n);
      }
      std::stable_sort(rows[i].kernels.begin(), rows[i].kernels.end(),
                       [](const NcuRegionKernel& a, const NcuRegionKernel& b) {
                         return a.total_ns > b.total_ns;
                       });
    }
  }

  const CounterReport& report_;
  const Filter& filter_;
  std::map<Labels, NcuRegion> regions_;  // parents precede their children
  std::map<Labels, double> own_;         // of kernels that are in no deeper region
};

}  // namespace

KernelRule parse_kernel_rule(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool is_lookahead = equals != std::string::npos && equals > 0 && text[equals - 1] == '?';
  if (equals == std::string::npos || is_lookahead) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::vector<NcuRegion>> region_table(const CounterReport& report, const Rules& rules) {
  const Filter filter = PL_TRY(Filter::create(rules));
  Table table(report, filter);
  const std::vector<KernelMean> means = roofline::mean_kernels(report, {.by_ranges = true});
  const bool has_ranges = std::any_of(means.begin(), means.end(),
                                      [](const KernelMean& mean) { return mean.kernel.is_range; });
  if (has_ranges && !filter.is_empty()) {
    return Error(ErrorKind::Config,
                 "ranges were replayed as a whole, so no kernel can be excluded from them: capture "
                 "with replay_mode=kernel to choose kernels by region");
  }
  // Ranges first: a kernel inside a replayed range does not count again.
  for (const bool of_ranges : {true, false}) {
    for (const KernelMean& mean : means) {
      if (mean.kernel.is_range == of_ranges) table.add(mean);
    }
  }
  return table.finish();
}

}  // namespace profline::regions
