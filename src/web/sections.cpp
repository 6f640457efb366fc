#include "web/internal/sections.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "statistics/summary.h"
#include "web/markup.h"

namespace profline::web {

void Section::add_chart(const std::string& name, const std::string& label, const Markup& caption,
                        Node data) {
  const Markup plot = element(
      "div", {{"class", "plot"}, {"data-chart", name}, {"role", "img"}, {"aria-label", label}});
  body += element("figure", {{"class", "chart"}, {"id", "chart-" + name}},
                  plot + element("figcaption", caption));
  charts.emplace_back(name, std::move(data));
}

void Section::add_nothing(std::string_view why) {
  body += element("p", {{"class", "nothing"}}, text(why));
}

Markup from_files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& list : given) {
    for (const std::string_view part : split(list, ',')) {
      const std::string file(trim(part));
      if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
        files.push_back(file);
      }
    }
  }
  Markup all;
  for (const std::string& file : files) {
    if (!all.empty()) all += text(", ");
    all += code(file);
  }
  return all;
}

Markup source_line(std::string_view what, const std::vector<std::string>& files) {
  const Markup from = from_files(files);
  return element("p", {{"class", "from"}},
                 text(what) + (from.empty() ? from : text(" From ") + from + text(".")));
}

Node number(double value) {
  return std::isfinite(value) ? Node::real(value) : Node();
}

Node number(const std::optional<double>& value) {
  return value ? number(*value) : Node();
}

Node texts(const std::vector<std::string>& values) {
  Node list = Node::list();
  for (const std::string& value : values) list.as_list().push_back(Node::string(value));
  return list;
}

Node numbers(const std::vector<double>& values) {
  Node list = Node::list();
  list.as_list().reserve(values.size());
  for (const double value : values) list.as_list().push_back(number(value));
  return list;
}

Node object(std::vector<std::pair<std::string, Node>> entries) {
  NodeMap map;
  for (auto& entry : entries) map.set(entry.first, std::move(entry.second));
  return Node::map(std::move(map));
}

Histogram histogram(std::vector<double> values, std::size_t bins) {
  Histogram result;
  if (values.empty() || bins == 0) return result;
  std::sort(values.begin(), values.end());
  const double low = values.front();
  double high = values.back();
  // One slow token in a thousand must not squeeze all others into one bin.
  const double far = statistics::quantile(values, 0.99);
  const double median = statistics::quantile(values, 0.5);
  if (high - median > 4 * (far - median) && far > low) high = far;
  const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
  if (high <= low) bins = 1;
  for (std::size_t i = 0; i <= bins; ++i) {
    result.edges.push_back(low + width * static_cast<double>(i));
  }
  result.counts.assign(bins, 0);
  for (const double value : values) {
    if (value > high) {
      ++result.above;
      continue;
    }
    const auto bin = static_cast<std::size_t>((value - low) / width);
    result.counts[std::min(bin, bins - 1)] += 1;
  }
  return result;
}

std::vector<Band> bands(std::span<const std::vector<double>> series, std::size_t most) {
  std::size_t longest = 0;
  for (const auto& values : series) longest = std::max(longest, values.size());
  if (longest == 0 || most == 0) return {};
  const std::size_t step = (longest + most - 1) / most;
  std::vector<Band> result;
  for (std::size_t from = 0; from < longest; from += step) {
    std::vector<double> together;
    for (const auto& values : series) {
      const std::size_t to = std::min(from + step, values.size());
      for (std::size_t i = from; i < to; ++i) together.push_back(values[i]);
    }
    std::sort(together.begin(), together.end());
    Band band;
    band.first = static_cast<double>(from);
    band.last = static_cast<double>(std::min(from + step, longest) - 1);
    band.low = statistics::quantile(together, 0.1);
    band.median = statistics::quantile(together, 0.5);
    band.high = statistics::quantile(together, 0.9);
    band.n = together.size();
    result.push_back(band);
  }
  return result;
}

}  // namespace profline::web
