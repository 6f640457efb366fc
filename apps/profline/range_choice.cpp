#include "range_choice.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/strings.h"

namespace profline {
namespace {

constexpr std::size_t kMostListed = 10;

/// Longest wall time first, each once whatever its domain.
std::vector<std::string> labels_of(const timeline::Accounting& accounting) {
  std::vector<std::string> labels;
  std::set<std::string_view> known;
  for (const timeline::RangeAccount& range : accounting.ranges) {
    if (known.insert(range.label).second) labels.push_back(range.label);
  }
  return labels;
}

std::vector<std::string> nearest_first(const std::string& pattern,
                                       const std::vector<std::string>& labels) {
  std::vector<std::string> order = nearest(pattern, labels, kMostListed);
  for (const std::string& label : labels) {
    if (order.size() == kMostListed) break;
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  }
  return order;
}

}  // namespace

Error no_such_range(const std::string& source, const timeline::Accounting& accounting,
                    const std::string& pattern) {
  const std::vector<std::string> labels = labels_of(accounting);
  if (labels.empty()) {
    return {ErrorKind::NotFound,
            fmt::format("{} has no ranges, so --range '{}' matches nothing", source, pattern)};
  }
  std::vector<std::string> listed = nearest_first(pattern, labels);
  for (std::string& label : listed) label = '\'' + label + '\'';
  std::string names = join(listed, ", ");
  if (labels.size() > listed.size()) {
    names += fmt::format(" and {} more", labels.size() - listed.size());
  }
  return {ErrorKind::NotFound,
          fmt::format("{} has no range that matches '{}'; it has {}", source, pattern, names)};
}

}  // namespace profline
