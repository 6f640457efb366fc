#include "analysis/roofline/kernel_mean.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace profline::roofline {
namespace {

/// Names of one report as ids of another.
class Renaming {
 public:
  Renaming(const Names& from, Names& to) : from_(from), to_(to) {}
  Names::Id operator()(Names::Id id) const { return to_.id_of(from_.text(id)); }

 private:
  const Names& from_;
  Names& to_;
};

ProfiledKernel renamed(const ProfiledKernel& kernel, const Renaming& rename) {
  ProfiledKernel copy = kernel;
  for (Names::Id* id :
       {&copy.process_name, &copy.name, &copy.device_name, &copy.compute_capability}) {
    *id = rename(*id);
  }
  for (OpenRange& range : copy.ranges) {
    range.domain = rename(range.domain);
    range.name = rename(range.name);
  }
  for (Counter& counter : copy.counters) {
    counter.name = rename(counter.name);
    counter.section = rename(counter.section);
    counter.unit = rename(counter.unit);
  }
  for (CounterText& text : copy.texts) {
    text = {rename(text.name), rename(text.section), rename(text.text)};
  }
  for (CounterAdvice& advice : copy.advice) {
    advice = {rename(advice.section), rename(advice.rule), rename(advice.kind),
              rename(advice.text)};
  }
  return copy;
}

bool is_same_launch(const ProfiledKernel& a, const ProfiledKernel& b) {
  return a.id && a.id == b.id && a.process == b.process && a.name == b.name;
}

/// What the second knows and the first does not.
void add_counters(ProfiledKernel& into, ProfiledKernel more) {
  const std::size_t own = into.counters.size();
  for (const Counter& counter : more.counters) {
    const auto end = into.counters.begin() + static_cast<std::ptrdiff_t>(own);
    const bool is_known = std::any_of(into.counters.begin(), end, [&](const Counter& known) {
      return known.name == counter.name && known.section == counter.section &&
             known.unit == counter.unit;
    });
    if (!is_known) into.counters.push_back(counter);
  }
  into.texts.insert(into.texts.end(), more.texts.begin(), more.texts.end());
  into.advice.insert(into.advice.end(), more.advice.begin(), more.advice.end());
  if (into.device_name == 0) into.device_name = more.device_name;
  if (into.ranges.empty()) into.ranges = std::move(more.ranges);
  if (into.shape == LaunchShape()) into.shape = more.shape;
}

void add_reading(Reading& into, const Reading& more) {
  into.used += more.used;
  for (const Reading::Skipped& skipped : more.skipped) {
    for (std::uint64_t i = 0; i < skipped.count; ++i) {
      into.skip(skipped.reason, skipped.first_position);
    }
  }
  for (const std::string& note : more.notes) {
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end()) {
      into.notes.push_back(note);
    }
  }
}

using CounterKey = std::tuple<Names::Id, Names::Id, Names::Id>;

/// Sums that become means.
struct Sums {
  std::map<CounterKey, std::size_t> places;  // in the group's counters
  std::vector<std::uint64_t> counts;
};

void add_launch(KernelMean& group, Sums& sums, const ProfiledKernel& launch) {
  group.launches += launch.launches;
  for (const Counter& counter : launch.counters) {
    const auto [found, is_new] = sums.places.try_emplace(
        CounterKey(counter.name, counter.section, counter.unit), group.kernel.counters.size());
    if (is_new) {
      group.kernel.counters.push_back(counter);
      sums.counts.push_back(1);
      continue;
    }
    group.kernel.counters[found->second].value += counter.value;
    ++sums.counts[found->second];
  }
}

}  // namespace

void merge_into(CounterReport& into, const CounterReport& more) {
  const Renaming rename(more.names, into.names);
  const std::size_t own = into.kernels.size();
  for (const ProfiledKernel& kernel : more.kernels) {
    ProfiledKernel copy = renamed(kernel, rename);
    const auto end = into.kernels.begin() + static_cast<std::ptrdiff_t>(own);
    const auto same = std::find_if(into.kernels.begin(), end, [&](const ProfiledKernel& known) {
      return is_same_launch(known, copy);
    });
    if (same == end) {
      into.kernels.push_back(std::move(copy));
    } else {
      add_counters(*same, std::move(copy));
    }
  }
  into.cells.numbers += more.cells.numbers;
  into.cells.texts += more.cells.texts;
  into.cells.absent += more.cells.absent;
  into.cells.left_out += more.cells.left_out;
  add_reading(into.reading, more.reading);
}

std::vector<KernelMean> mean_kernels(const CounterReport& report, const MeanOptions& options) {
  using Labels = std::vector<std::pair<Names::Id, Names::Id>>;
  using Key = std::tuple<Names::Id, bool, std::array<std::uint32_t, 3>,
                         std::array<std::uint32_t, 3>, std::int32_t, Labels>;
  std::map<Key, std::size_t> places;
  std::vector<KernelMean> groups;
  std::vector<Sums> sums;
  for (const ProfiledKernel& launch : report.kernels) {
    Labels labels;
    if (options.by_ranges) {
      for (const OpenRange& range : launch.ranges) labels.emplace_back(range.domain, range.name);
    }
    const Key key(launch.name, launch.is_range, launch.shape.grid, launch.shape.block,
                  launch.device, std::move(labels));
    const auto [found, is_new] = places.try_emplace(key, groups.size());
    if (is_new) {
      groups.push_back({launch, 0});
      groups.back().kernel.counters.clear();
      sums.emplace_back();
    }
    add_launch(groups[found->second], sums[found->second], launch);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<Counter>& counters = groups[i].kernel.counters;
    for (std::size_t at = 0; at < counters.size(); ++at) {
      counters[at].value /= static_cast<double>(sums[i].counts[at]);
    }
    groups[i].kernel.launches = groups[i].launches;
  }
  return groups;
}

}  // namespace profline::roofline
