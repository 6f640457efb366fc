#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/attribution.h"
#include "analysis/timeline/exclusive.h"
#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/yaml.h"
#include "kernel_lab/launches.h"
#include "schema/read.h"

namespace profline::kernel_lab {
namespace {

/// A range as users write it for ncu, matched against stacks of ranges by us: `decode`, `decode*`,
/// `A::A1` (A1 inside A).
class RangePattern {
 public:
  /// Nothing if the text uses ncu's own grammar.
  static std::optional<RangePattern> of(std::string_view text);

  /// `stack` is outermost first.
  bool is_open_in(std::span<const std::string> stack) const;

 private:
  std::vector<std::string> levels_;  // outermost first, with wildcards
};

std::optional<RangePattern> RangePattern::of(std::string_view text) {
  text = trim(text);
  // tools/ncu/nvtx.h passes these unchanged.
  const bool is_ncus =
      text.starts_with("regex:") || text.find_first_of("/@,[]+\\") != std::string_view::npos;
  if (is_ncus || text.empty()) return std::nullopt;
  constexpr std::string_view kNesting = "::";
  RangePattern pattern;
  for (std::size_t begin = 0; begin != std::string_view::npos;) {
    const std::size_t end = text.find(kNesting, begin);
    const bool is_last = end == std::string_view::npos;
    pattern.levels_.emplace_back(text.substr(begin, is_last ? end : end - begin));
    begin = is_last ? end : end + kNesting.size();
  }
  return pattern;
}

bool RangePattern::is_open_in(std::span<const std::string> stack) const {
  std::size_t level = 0;
  for (const std::string& range : stack) {
    if (level < levels_.size() && matches_wildcards(range, levels_[level])) ++level;
  }
  return level == levels_.size();
}

struct KernelFile {
  std::vector<WantedKernel> kernels;
};
constexpr auto fields(std::type_identity<KernelFile>) {
  return field_list(
      schema::field("kernels", &KernelFile::kernels, "name and regex of each").required());
}

constexpr std::size_t kFewestDigits = 4;

// std::regex recurses for each character it examines.
constexpr std::size_t kLongestSearched = 8192;

/// ncu uses Perl's grammar and searches anywhere in the name; for what users write, ECMAScript's
/// grammar is the same.
Result<std::regex> compiled(const WantedKernel& kernel) {
  try {
    return std::regex(kernel.regex, std::regex::ECMAScript);
  } catch (const std::regex_error& failure) {
    return Error(ErrorKind::Config, "kernel '" + kernel.name + "': '" + kernel.regex +
                                        "' is not a regular expression: " + failure.what());
  }
}

bool matches(const std::regex& expression, const std::string& name) {
  const auto end =
      name.begin() + static_cast<std::ptrdiff_t>(std::min(name.size(), kLongestSearched));
  try {
    return std::regex_search(name.begin(), end, expression);
  } catch (const std::regex_error&) {
    return false;  // it gave up: too many ways to match
  }
}

/// Numbers the distinct names.
class NameTable {
 public:
  explicit NameTable(std::vector<std::string>& names) : names_(names) {}

  std::uint32_t number_of(const std::string& name) {
    const auto [entry, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

using Patterns = std::vector<RangePattern>;

/// Empty if there are no ranges, or one that only ncu understands.
Patterns patterns_of(std::span<const std::string> ranges, SeenLaunches& seen) {
  Patterns patterns;
  for (const std::string& range : ranges) {
    if (auto pattern = RangePattern::of(range)) {
      patterns.push_back(*std::move(pattern));
    } else {
      seen.ignored_ranges.push_back(range);
    }
  }
  if (!seen.ignored_ranges.empty()) patterns.clear();
  return patterns;
}

bool is_open_in(const Patterns& patterns, const std::vector<std::string>& stack) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const RangePattern& pattern) { return pattern.is_open_in(stack); });
}

/// Whether requested ranges are open in a context; computed once per context.
class Inside {
 public:
  Inside(const Timeline& timeline, Patterns patterns)
      : timeline_(timeline),
        patterns_(std::move(patterns)),
        attribution_(timeline::Attribution::of(timeline)) {}

  bool operator()(const DeviceWork& work) {
    if (patterns_.empty()) return true;
    const timeline::ContextId context = attribution_.of_work(work);
    const auto known = known_.find(context);
    if (known != known_.end()) return known->second;
    std::vector<std::string> stack;
    attribution_.each(context, [&](RowIndex range) {
      stack.push_back(timeline_.names.text(timeline_.ranges[range].name));
    });
    std::reverse(stack.begin(), stack.end());
    return known_[context] = is_open_in(patterns_, stack);
  }

 private:
  const Timeline& timeline_;
  Patterns patterns_;
  timeline::Attribution attribution_;
  std::map<timeline::ContextId, bool> known_;
};

/// Kernels in the order in which the host launched them, which is how ncu counts them.
std::vector<const DeviceWork*> in_launch_order(const Timeline& timeline) {
  std::vector<const DeviceWork*> kernels;
  for (const DeviceWork& work : timeline.work) {
    if (work.kind == WorkKind::Kernel) kernels.push_back(&work);
  }
  const auto launched_at = [&](const DeviceWork* work) {
    return work->launch == kNoRow ? work->start_ns : timeline.calls[work->launch].start_ns;
  };
  std::stable_sort(kernels.begin(), kernels.end(), [&](const DeviceWork* a, const DeviceWork* b) {
    return launched_at(a) < launched_at(b);
  });
  return kernels;
}

}  // namespace

Result<std::vector<WantedKernel>> load_kernel_list(const std::filesystem::path& file,
                                                   const std::string& shown_as,
                                                   std::optional<std::size_t> at_most) {
  return read_kernel_list(PL_TRY(parse_yaml(PL_TRY(read_file(file)), shown_as)), at_most);
}

Result<std::vector<WantedKernel>> read_kernel_list(const Node& tree,
                                                   std::optional<std::size_t> at_most) {
  KernelFile file = PL_TRY(schema::read<KernelFile>(tree));
  if (file.kernels.empty()) {
    return Error(ErrorKind::Config, "'kernels' is empty: there is nothing to profile",
                 tree.position());
  }
  const Node::List& entries = tree.find("kernels")->as_list();
  for (std::size_t i = 0; i < file.kernels.size(); ++i) {
    if (!file.kernels[i].regex.empty()) continue;
    return Error(ErrorKind::Config,
                 fmt::format("kernels.{}: an empty regex would match every kernel", i),
                 entries[i].position());
  }
  if (at_most && *at_most < file.kernels.size()) file.kernels.resize(*at_most);
  return std::move(file.kernels);
}

std::string kernel_folder(std::size_t rank, std::size_t count, std::string_view name) {
  const std::size_t digits = std::max(kFewestDigits, fmt::format("{}", count).size());
  return fmt::format("kernel_{:0{}}_{}", rank, digits, md5_hex(name));
}

SeenLaunches seen_launches(const Timeline& timeline, std::span<const std::string> ranges) {
  SeenLaunches seen;
  seen.source = timeline.tool;
  seen.program = std::chrono::nanoseconds(timeline.end_ns - timeline.begin_ns);
  Inside is_inside(timeline, patterns_of(ranges, seen));
  NameTable names(seen.names);
  const std::vector<timeline::ExclusiveTime> times = timeline::exclusive_times(timeline);
  const bool knows_times = std::any_of(times.begin(), times.end(), [](const auto& time) {
    return time.exclusive_ns() > 0;  // captures without streams have none
  });
  for (const DeviceWork* work : in_launch_order(timeline)) {
    const auto row = static_cast<std::size_t>(work - timeline.work.data());
    seen.launches.push_back({names.number_of(timeline.names.text(work->name)), work->duration_ns(),
                             is_inside(*work),
                             knows_times ? times[row].exclusive_ns() : work->duration_ns()});
  }
  return seen;
}

SeenLaunches seen_launches(const CounterReport& report, std::span<const std::string> ranges) {
  SeenLaunches seen;
  seen.source = "ncu";
  const Patterns patterns = patterns_of(ranges, seen);
  NameTable names(seen.names);
  for (const ProfiledKernel& kernel : report.kernels) {
    std::vector<std::string> stack;
    for (const OpenRange& range : kernel.ranges) stack.push_back(report.names.text(range.name));
    const Counter* time = report.find(kernel, "gpu__time_duration.sum");
    // ncu runs one kernel at a time.
    const auto duration_ns = time == nullptr ? 0 : static_cast<std::int64_t>(time->value);
    seen.launches.push_back({names.number_of(report.names.text(kernel.name)), duration_ns,
                             is_open_in(patterns, stack), duration_ns});
  }
  return seen;
}

std::int64_t KernelLaunches::total_ns() const {
  return std::accumulate(
      launches.begin(), launches.end(), std::int64_t{0},
      [](std::int64_t sum, const Launch& launch) { return sum + launch.exclusive_ns; });
}

Result<std::vector<KernelLaunches>> take_census(const SeenLaunches& seen,
                                                std::span<const WantedKernel> kernels) {
  constexpr std::uint32_t kNot = static_cast<std::uint32_t>(-1);
  std::vector<KernelLaunches> census;
  for (const WantedKernel& kernel : kernels) {
    const std::regex expression = PL_TRY(compiled(kernel));
    KernelLaunches found;
    std::vector<std::uint32_t> function_of(seen.names.size(), kNot);
    for (std::size_t name = 0; name < seen.names.size(); ++name) {
      if (!matches(expression, seen.names[name])) continue;
      function_of[name] = static_cast<std::uint32_t>(found.functions.size());
      found.functions.push_back(seen.names[name]);
    }
    std::vector<std::uint32_t> invocations(found.functions.size(), 0);
    for (std::size_t place = 0; place < seen.launches.size(); ++place) {
      const SeenLaunch& launch = seen.launches[place];
      const std::uint32_t function = function_of[launch.name];
      if (function == kNot) continue;
      const std::uint32_t invocation = ++invocations[function];
      if (launch.is_inside) {
        found.launches.push_back(
            {function, invocation, launch.duration_ns, place, launch.exclusive_ns});
      } else {
        ++found.outside;
      }
    }
    census.push_back(std::move(found));
  }
  return census;
}

std::vector<std::string> similar_names(const SeenLaunches& seen, const WantedKernel& kernel) {
  std::vector<std::string> functions;
  for (const std::string& name : seen.names) {
    std::string function = kernels::canonical_name(name).function;
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) {
      functions.push_back(std::move(function));
    }
  }
  const bool has_name = kernel.name != kUnnamed;
  const std::string wanted =
      has_name ? kernels::canonical_name(kernel.name).function : kernel.regex;
  std::vector<std::string> similar = nearest(wanted, functions, 3);
  if (!similar.empty()) return similar;
  if (functions.size() > 3) functions.resize(3);
  return functions;
}

}  // namespace profline::kernel_lab
