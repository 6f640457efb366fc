#include "serve/chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/source_commit.h"

namespace profline::serve {
namespace {

using web::element;
using web::Markup;
using web::text;

std::string coordinate(double value) {
  return fmt::format("{:.1f}", value);
}

/// Where values are on the page.
struct Scale {
  double least = 0;
  double most = 1;
  double from = 0;
  double to = 1;

  double operator()(double value) const {
    const double range = most - least;
    const double share = range > 0 ? (value - least) / range : 0.5;
    return from + share * (to - from);
  }
};

Scale scale_of(std::span<const double> values, double from, double to) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most, from, to};
}

// The size of the drawing in its own units; it is scaled to the page's width.
constexpr double kWidth = 960;
constexpr double kHeight = 250;
constexpr double kLeft = 78;
constexpr double kRight = 18;
constexpr double kTop = 34;
constexpr double kBottom = 28;

Markup line(const char* css, double x1, double y1, double x2, double y2) {
  return element("line", {{"class", css},
                          {"x1", coordinate(x1)},
                          {"y1", coordinate(y1)},
                          {"x2", coordinate(x2)},
                          {"y2", coordinate(y2)}});
}

Markup words(const char* css, double x, double y, const char* anchor, const std::string& shown) {
  return element(
      "text", {{"class", css}, {"x", coordinate(x)}, {"y", coordinate(y)}, {"text-anchor", anchor}},
      text(shown));
}

std::string day_of(const std::string& moment) {
  return moment.substr(0, std::min<std::size_t>(moment.size(), 10));
}

/// Levels between changes: lines from the first to the last run of each.
Markup levels_of(const catalog::MetricHistory& history, const Scale& x, const Scale& y) {
  if (history.changes.empty()) return {};
  Markup all;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= history.changes.size(); ++i) {
    const bool is_last = i == history.changes.size();
    const std::size_t end = is_last ? history.points.size() : history.changes[i].at;
    const double level = is_last ? history.changes.back().after : history.changes[i].before;
    all += line("level", x(static_cast<double>(from)), y(level), x(static_cast<double>(end) - 1),
                y(level));
    from = end;
  }
  return all;
}

Markup changes_of(const catalog::MetricHistory& history, const Scale& x) {
  Markup all;
  bool is_upper = true;
  for (const catalog::HistoryChange& change : history.changes) {
    const double at = x(static_cast<double>(change.at) - 0.5);
    const bool is_slower = change.verdict == catalog::Verdict::Slower;
    // Near the right edge the words go to the left of their line.
    const bool is_late = at > kWidth * 0.72;
    std::string shown = signed_percent(change.change);
    const bool is_of_commit = !change.commit.empty() && change.commit != change.commit_before;
    if (is_of_commit) shown += " · " + short_commit(change.commit);
    all += element("g", {{"class", is_slower ? "change slower" : "change faster"}},
                   line("", at, kTop - 14, at, kHeight - kBottom) +
                       words("", is_late ? at - 6 : at + 6, is_upper ? kTop - 18 : kTop - 4,
                             is_late ? "end" : "start", (is_slower ? "▲ " : "▼ ") + shown));
    is_upper = !is_upper;
  }
  return all;
}

}  // namespace

std::vector<double> axis_ticks(double least, double most) {
  constexpr int kMost = 5;
  if (!(most > least)) return {least};
  const double rough = (most - least) / kMost;
  const double magnitude = std::pow(10, std::floor(std::log10(rough)));
  double step = magnitude * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (magnitude * factor >= rough) {
      step = magnitude * factor;
      break;
    }
  }
  std::vector<double> ticks;
  for (double at = std::ceil(least / step) * step; at <= most + step * 1e-9; at += step) {
    ticks.push_back(at);
  }
  return ticks;
}

Markup sparkline(std::span<const double> values, const std::string& label) {
  constexpr double kWide = 92;
  constexpr double kTall = 20;
  constexpr double kMargin = 3;
  if (values.size() < 2) return {};
  Scale y = scale_of(values, kTall - kMargin, kMargin);
  // Noise of a thousandth must not look like a landslide.
  const double middle = (y.least + y.most) / 2;
  const double half = std::max((y.most - y.least) / 2, std::abs(middle) * 0.02);
  y.least = middle - half;
  y.most = middle + half;
  const Scale x{0, static_cast<double>(values.size() - 1), kMargin, kWide - kMargin};
  std::string points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) points += ' ';
    points += coordinate(x(static_cast<double>(i))) + "," + coordinate(y(values[i]));
  }
  return element("svg",
                 {{"class", "spark"},
                  {"role", "img"},
                  {"aria-label", label},
                  {"width", coordinate(kWide)},
                  {"height", coordinate(kTall)},
                  {"viewBox", fmt::format("0 0 {} {}", kWide, kTall)}},
                 element("polyline", {{"points", points}}) +
                     element("circle", {{"cx", coordinate(x(x.most))},
                                        {"cy", coordinate(y(values.back()))},
                                        {"r", "2.2"}}));
}

Markup trend_chart(const catalog::MetricHistory& history, const std::vector<std::string>& addresses,
                   const std::vector<bool>& marked) {
  if (history.points.empty()) return {};
  std::vector<double> values;
  for (const catalog::HistoryPoint& point : history.points) values.push_back(point.value);
  Scale y = scale_of(values, kHeight - kBottom, kTop);
  const double margin = std::max((y.most - y.least) * 0.08, std::abs(y.most) * 0.01);
  y.least -= margin;
  y.most += margin;
  const double last = static_cast<double>(values.size()) - 1;
  const Scale x{0, std::max(last, 1.0), kLeft + 8, kWidth - kRight};
  Markup all;
  for (const double tick : axis_ticks(y.least, y.most)) {
    all += line("grid", kLeft, y(tick), kWidth - kRight, y(tick)) +
           words("axis", kLeft - 8, y(tick) + 4, "end", catalog::value_text(tick, history.unit));
  }
  all += levels_of(history, x, y) + changes_of(history, x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const catalog::HistoryPoint& point = history.points[i];
    const std::string what =
        fmt::format("{}: {}{}", point.folder, catalog::value_text(point.value, history.unit),
                    point.commit.empty() ? "" : ", commit " + short_commit(point.commit));
    const bool is_newest = i + 1 == values.size();
    Markup dot;
    if (i < marked.size() && marked[i]) {
      dot += element("circle", {{"cx", coordinate(x(static_cast<double>(i)))},
                                {"cy", coordinate(y(values[i]))},
                                {"class", "ring"},
                                {"r", "9"}});
    }
    dot += element("circle",
                   {{"cx", coordinate(x(static_cast<double>(i)))},
                    {"cy", coordinate(y(values[i]))},
                    {"class", is_newest ? "newest" : ""},
                    {"r", is_newest ? "4.5" : "3.4"}},
                   element("title", text(what)));
    // Keyboard and screen reader have the same links in the table below.
    all += element("a", {{"href", addresses[i]}, {"tabindex", "-1"}}, dot);
  }
  all += words("axis", x(0), kHeight - 8, "start", day_of(history.points.front().started));
  if (values.size() > 1) {
    all += words("axis", x(last), kHeight - 8, "end", day_of(history.points.back().started));
  }
  return element("svg",
                 {{"class", "trend"},
                  {"aria-hidden", "true"},
                  {"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)}},
                 all);
}

}  // namespace profline::serve
