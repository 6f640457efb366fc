#include "comparison/series_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace profline::comparison {
namespace {

using Key = std::tuple<Family, std::string_view, std::string_view>;
using Member = std::vector<const Series*> SeriesGroup::*;

class Groups {
 public:
  void add(std::span<const RunMeasurements> side, Member member) {
    for (const RunMeasurements& run : side) {
      for (const Series& series : run.series) {
        const Key key(series.family, series.name, series.shape);
        const auto [place, is_new] = places_.try_emplace(key, groups_.size());
        if (is_new) groups_.emplace_back();
        (groups_[place->second].*member).push_back(&series);
      }
    }
  }
  std::vector<SeriesGroup> take() && { return std::move(groups_); }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<SeriesGroup> groups_;
};

double mean_total(const std::vector<const Series*>& runs) {
  double sum = 0;
  for (const Series* series : runs) sum += series->total.value_or(0);
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

bool is_captured(const SeriesGroup& group) {
  return group.any().family == Family::Operator || group.any().family == Family::Kernel;
}

std::vector<std::size_t> by_key(const Series& series) {
  std::vector<std::size_t> order(series.keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return series.keys[i] < series.keys[j]; });
  return order;
}

std::vector<std::string> sorted_keys(const Series& series) {
  std::vector<std::string> keys = series.keys;
  std::sort(keys.begin(), keys.end());
  return keys;
}

statistics::RunUnits units_of(const std::vector<const Series*>& runs, bool in_key_order) {
  statistics::RunUnits all;
  for (const Series* series : runs) {
    if (!in_key_order) {
      all.push_back(series->units);
      continue;
    }
    std::vector<double> units;
    for (const std::size_t i : by_key(*series)) units.push_back(series->units[i]);
    all.push_back(std::move(units));
  }
  return all;
}

}  // namespace

std::vector<SeriesGroup> group_series(std::span<const RunMeasurements> a,
                                      std::span<const RunMeasurements> b) {
  Groups collected;
  collected.add(a, &SeriesGroup::a);
  collected.add(b, &SeriesGroup::b);
  std::vector<SeriesGroup> groups = std::move(collected).take();
  std::stable_sort(groups.begin(), groups.end(), [](const SeriesGroup& x, const SeriesGroup& y) {
    const auto rank = [](const SeriesGroup& group) {
      const double time = std::max(mean_total(group.a), mean_total(group.b));
      return std::pair(group.any().family, is_captured(group) ? -time : 0.0);
    };
    return rank(x) < rank(y);
  });
  return groups;
}

PairedUnits pair_units(const SeriesGroup& group, bool may_pair) {
  const std::vector<std::string> first = sorted_keys(group.any());
  bool paired = may_pair && !first.empty();
  for (const auto& side : {group.a, group.b}) {
    for (const Series* series : side) paired = paired && sorted_keys(*series) == first;
  }
  return {paired, units_of(group.a, paired), units_of(group.b, paired)};
}

bool matches(std::string_view pattern, std::string_view text) {
  // Greedy with one place to come back to: linear in practice, quadratic at worst.
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.size();
}

}  // namespace profline::comparison
