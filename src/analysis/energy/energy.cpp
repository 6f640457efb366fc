#include "analysis/energy/energy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "analysis/requests/tokens.h"
#include "base/figures.h"

namespace profline::energy {
namespace {

/// A figure and when it was read.
struct Point {
  std::int64_t at_ns = 0;
  double value = 0;
};

std::vector<Point> points_of(std::span<const GpuReading> readings,
                             std::optional<double> GpuReading::*member) {
  std::vector<Point> points;
  for (const GpuReading& reading : readings) {
    if (reading.monotonic_ns && reading.*member) {
      points.push_back({*reading.monotonic_ns, *(reading.*member)});
    }
  }
  return points;
}

/// The usual time between two readings.
double period_s(const std::vector<Point>& points) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    gaps.push_back(points[i].at_ns - points[i - 1].at_ns);
  }
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return static_cast<double>(*middle) * 1e-9;
}

double between(const Point& a, const Point& b, std::int64_t at_ns) {
  if (a.at_ns == b.at_ns) return a.value;
  const double share =
      static_cast<double>(at_ns - a.at_ns) / static_cast<double>(b.at_ns - a.at_ns);
  return a.value + (b.value - a.value) * share;
}

/// The readings of a window: those inside it, and at its edges what lies between the readings on
/// both sides. Empty: a side has none.
std::vector<Point> points_in(const std::vector<Point>& points, const Window& window) {
  const auto after = [&](std::int64_t at_ns) {
    return std::find_if(points.begin(), points.end(),
                        [&](const Point& point) { return point.at_ns >= at_ns; });
  };
  const auto first = after(window.begin_ns);
  const auto last = after(window.end_ns);
  if (first == points.end() || last == points.end()) return {};
  const bool is_covered = first->at_ns == window.begin_ns || first != points.begin();
  if (!is_covered) return {};
  const auto at_edge = [&](std::vector<Point>::const_iterator next, std::int64_t at_ns) {
    return Point{at_ns, next->at_ns == at_ns ? next->value : between(*(next - 1), *next, at_ns)};
  };
  std::vector<Point> found = {at_edge(first, window.begin_ns)};
  for (auto it = first; it != last; ++it) {
    if (it->at_ns > window.begin_ns) found.push_back(*it);
  }
  found.push_back(at_edge(last, window.end_ns));
  return found;
}

/// The longest time between readings of a window, in seconds.
double longest_gap_s(const std::vector<Point>& points, const Window& window) {
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const bool is_outside =
        points[i].at_ns <= window.begin_ns || points[i - 1].at_ns >= window.end_ns;
    if (!is_outside) longest = std::max(longest, points[i].at_ns - points[i - 1].at_ns);
  }
  return static_cast<double>(longest) * 1e-9;
}

/// One source over all windows, or why it says nothing.
struct Source {
  std::optional<double> joules;
  std::string why_not;
};

enum class Kind { Counter, Power };

std::string name_of(Kind kind) {
  return kind == Kind::Counter ? "total energy" : "instantaneous power";
}

std::optional<double> joules_of(const std::vector<Point>& points, Kind kind) {
  double joules = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double seconds = static_cast<double>(points[i].at_ns - points[i - 1].at_ns) * 1e-9;
    const double step = points[i].value - points[i - 1].value;
    if (kind == Kind::Counter && step < 0) return std::nullopt;
    joules += kind == Kind::Counter ? step : seconds * (points[i].value + points[i - 1].value) / 2;
  }
  return joules;
}

Source source_of(const std::vector<Point>& points, Kind kind, std::span<const Window> windows,
                 const Limits& limits) {
  Source source;
  if (points.empty()) {
    source.why_not = "this device does not report its " + name_of(kind);
    return source;
  }
  const double most = std::max(limits.longest_gap_s, limits.longest_gap_periods * period_s(points));
  double joules = 0;
  for (const Window& window : windows) {
    const std::vector<Point> inside = points_in(points, window);
    if (inside.empty()) {
      source.why_not = "its " + name_of(kind) + " was not read for the whole time";
      return source;
    }
    if (const double gap = longest_gap_s(points, window); gap > most) {
      source.why_not =
          fmt::format("its {} was not read for {:.1f} s in between", name_of(kind), gap);
      return source;
    }
    const auto more = joules_of(inside, kind);
    if (!more) {
      source.why_not = "its energy counter was reset in between";
      return source;
    }
    joules += *more;
  }
  source.joules = joules;
  return source;
}

void settle(const Source& counter, const Source& power, const Limits& limits,
            SummaryEnergy& energy) {
  energy.counter_j = counter.joules;
  energy.integrated_j = power.joules;
  if (!counter.joules && !power.joules) {
    energy.withheld = counter.why_not;
    if (power.why_not != counter.why_not) energy.withheld += "; " + power.why_not;
    return;
  }
  energy.joules = counter.joules ? counter.joules : power.joules;
  if (!counter.joules || !power.joules) {
    energy.notes.push_back("not checked by a second source: " +
                           (counter.joules ? power.why_not : counter.why_not));
    return;
  }
  const double larger = std::max(*counter.joules, *power.joules);
  if (larger <= 0) {
    energy.withheld = "neither source counted any energy";
    energy.joules.reset();
    return;
  }
  energy.difference = std::abs(*counter.joules - *power.joules) / larger;
  if (*energy.difference <= limits.most_different) return;
  energy.withheld =
      fmt::format("the energy counter ({:.4g} J) and the integrated power ({:.4g} J) differ by {}",
                  *counter.joules, *power.joules, percent(*energy.difference));
  energy.joules.reset();
}

/// What follows from energy, time and tokens.
void add_rates(SummaryEnergy& energy) {
  if (!energy.joules) return;
  energy.watts = *energy.joules / energy.seconds;
  if (energy.tokens == 0 || *energy.joules <= 0) return;
  energy.joules_per_token = *energy.joules / static_cast<double>(energy.tokens);
  energy.tokens_per_joule = static_cast<double>(energy.tokens) / *energy.joules;
}

bool overlaps(const Request& other, const Window& window) {
  return *other.start_ns<window.end_ns&& * other.start_ns + other.ns> window.begin_ns;
}

/// The tokens that the steps of a phase made, of all sequences; 0 for a phase without steps.
double tokens_of(const Request& request, const Phase& phase) {
  const auto tokens = requests::tokens_of(request);
  if (!tokens || !phase.steps_ns) return 0;
  return static_cast<double>(phase.steps_ns->size()) * tokens->per_step();
}

class Requests {
 public:
  Requests(std::span<const GpuReading> readings, std::span<const Request> all, const Limits& limits)
      : readings_(readings), all_(all), limits_(limits), steady_(requests::steady_window(all)) {}

  std::vector<SummaryEnergy> run() const {
    std::vector<SummaryEnergy> found = {whole()};
    const requests::PhaseTree tree(all_);
    for (const requests::PhaseInfo& phase : tree.phases()) {
      if (!phase.is_outermost() || phase.is_host) continue;
      if (auto energy = of_phase(phase)) found.push_back(std::move(*energy));
    }
    return found;
  }

 private:
  std::span<const Request> steady() const { return all_.subspan(steady_.first, steady_.count); }

  SummaryEnergy whole() const {
    Window window{*steady().front().start_ns, 0};
    std::uint64_t tokens = 0;
    bool knows_tokens = true;
    for (const Request& request : steady()) {
      window.begin_ns = std::min(window.begin_ns, *request.start_ns);
      window.end_ns = std::max(window.end_ns, *request.start_ns + request.ns);
      if (const auto made = requests::tokens_of(request)) tokens += made->all;
      knows_tokens = knows_tokens && request.new_tokens;
    }
    SummaryEnergy energy = energy_in(readings_, {&window, 1}, limits_);
    energy.requests = steady_.count;
    energy.tokens = knows_tokens ? tokens : 0;
    add_rates(energy);
    return energy;
  }

  std::optional<SummaryEnergy> of_phase(const requests::PhaseInfo& info) const {
    std::vector<Window> windows;
    double tokens = 0;
    for (const Request& request : steady()) {
      const Phase* const phase = request.find_phase(info.path);
      if (phase == nullptr || !phase->start_ns) continue;
      const std::int64_t begin = *request.start_ns + *phase->start_ns;
      const Window window{begin, begin + phase->ns};
      if (window.seconds() < limits_.shortest_s) continue;  // most are: the rest takes long
      const bool is_alone = std::none_of(all_.begin(), all_.end(), [&](const Request& other) {
        return &other != &request && overlaps(other, window);
      });
      if (!is_alone) continue;
      windows.push_back(window);
      tokens += tokens_of(request, *phase);
    }
    if (windows.empty()) return std::nullopt;
    SummaryEnergy energy = energy_in(readings_, windows, limits_);
    energy.phase = info.name;
    energy.requests = windows.size();
    energy.tokens = static_cast<std::uint64_t>(std::llround(tokens));
    add_rates(energy);
    return energy;
  }

  std::span<const GpuReading> readings_;
  std::span<const Request> all_;
  const Limits& limits_;
  requests::SteadyWindow steady_;
};

}  // namespace

SummaryEnergy energy_in(std::span<const GpuReading> readings, std::span<const Window> windows,
                        const Limits& limits) {
  SummaryEnergy energy;
  for (const Window& window : windows) energy.seconds += window.seconds();
  if (energy.seconds < limits.shortest_s) {
    energy.withheld = fmt::format("{:.2g} s are too short to measure energy: it takes {:.2g} s",
                                  energy.seconds, limits.shortest_s);
    return energy;
  }
  settle(source_of(points_of(readings, &GpuReading::energy_j), Kind::Counter, windows, limits),
         source_of(points_of(readings, &GpuReading::instant_power_w), Kind::Power, windows, limits),
         limits, energy);
  return energy;
}

std::vector<SummaryEnergy> energy_of(std::span<const GpuReading> readings,
                                     std::span<const Request> requests, const Limits& limits) {
  const bool knows_when =
      std::any_of(readings.begin(), readings.end(),
                  [](const GpuReading& reading) { return reading.monotonic_ns.has_value(); }) &&
      std::all_of(requests.begin(), requests.end(),
                  [](const Request& request) { return request.start_ns.has_value(); });
  if (!knows_when || requests.empty()) return {};
  return Requests(readings, requests, limits).run();
}

SummaryEnergy energy_of(std::span<const GpuReading> readings, const RepeatedPhase& repeated,
                        const Limits& limits) {
  const Window window{repeated.begin_ns, repeated.end_ns};
  SummaryEnergy energy = energy_in(readings, {&window, 1}, limits);
  energy.phase = repeated.phase;
  energy.requests = repeated.requests;
  energy.tokens = repeated.tokens;
  add_rates(energy);
  energy.notes.emplace_back("repeated alone after the measured run");
  return energy;
}

std::optional<SummaryEnergy> energy_of(std::span<const GpuReading> readings,
                                       std::span<const Request> requests, const LoadRecord& load,
                                       const Limits& limits) {
  const auto steady = requests::steady_requests(requests, load);
  const bool knows_when = std::any_of(readings.begin(), readings.end(), [](const auto& reading) {
    return reading.monotonic_ns.has_value();
  });
  if (!knows_when || steady.empty() || !steady.front().start_ns) return std::nullopt;
  const double seconds = load.steady.end_s - load.steady.start_s;
  const std::int64_t begin_ns = *steady.front().start_ns;
  const Window window{begin_ns, begin_ns + static_cast<std::int64_t>(seconds * 1e9)};
  SummaryEnergy energy = energy_in(readings, {&window, 1}, limits);
  energy.requests = steady.size();
  const auto& rate = load.metrics.output_tokens.per_second;
  if (rate) energy.tokens = static_cast<std::uint64_t>(std::llround(rate->value * seconds));
  add_rates(energy);
  energy.notes.emplace_back("of one GPU; others that the server uses are not included");
  return energy;
}

namespace {

requests::Series token_series(double joules_per_token) {
  requests::Series series;
  series.name = kTokenEnergy;
  series.unit = "J";
  series.units = {joules_per_token};
  series.keys = {"steady requests"};
  series.per_step = requests::PerStep::Each;
  return series;
}

}  // namespace

std::optional<requests::Series> series_of(std::span<const GpuReading> readings,
                                          std::span<const Request> requests,
                                          const LoadRecord& load) {
  const auto energy = energy_of(readings, requests, load);
  if (!energy || !energy->joules_per_token) return std::nullopt;
  return token_series(*energy->joules_per_token);
}

std::optional<requests::Series> series_of(std::span<const GpuReading> readings,
                                          std::span<const Request> requests) {
  const std::vector<SummaryEnergy> all = energy_of(readings, requests);
  if (all.empty() || !all.front().joules_per_token) return std::nullopt;
  return token_series(*all.front().joules_per_token);
}

}  // namespace profline::energy
