#include "analysis/requests/series.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/requests/phases.h"
#include "analysis/requests/tokens.h"
#include "statistics/summary.h"

namespace profline::requests {
namespace {

using statistics::Better;
using statistics::Steadiness;
using Value = std::optional<double>;

constexpr std::string_view kWhole = "request_ms";
constexpr std::string_view kRateEnds = "s_per_s";
constexpr std::string_view kToken = "token";
constexpr double kNsPerMs = 1e6;
constexpr double kNsPerSecond = 1e9;

Value ms(double ns) {
  return ns > 0 ? Value(ns / kNsPerMs) : std::nullopt;
}

/// The key of one request; a picture may occur several times in one epoch.
std::vector<std::string> keys_of(std::span<const Request> requests) {
  std::map<std::string, int> seen;
  std::vector<std::string> keys;
  keys.reserve(requests.size());
  for (const Request& request : requests) {
    const std::string key = subject_of(request);
    const int before = seen[key]++;
    keys.push_back(key + '\n' + std::to_string(before));
  }
  return keys;
}

/// A figure of one request.
struct RequestFigure {
  Value value = {};
  bool is_left_out = false;
};

class Figures {
 public:
  Figures(std::span<const Request> requests, const PhaseTree& tree, const SteadyPart& steady)
      : requests_(requests),
        tree_(tree),
        steady_(steady),
        generating_(generating_phases(tree)),
        keys_(keys_of(requests)) {}

  std::vector<Series> make() {
    Series whole{std::string(kWhole), "ms"};
    if (!generating_.empty()) whole.per_step = PerStep::Sum;
    const bool is_known =
        steady_.verdict() != Steadiness::TooShort && steady_.steady_requests() > 0;
    add(std::move(whole), [&](std::size_t i) {
      if (is_known && !steady_.is_steady(i)) return RequestFigure{{}, true};
      return RequestFigure{ms(static_cast<double>(requests_[i].ns))};
    });
    for (const PhaseInfo& phase : tree_.phases()) {
      if (is_metric(phase)) add_phase(phase, {phase.name + "_ms", "ms"});
    }
    add_steps();
    for (const PhaseInfo& phase : tree_.phases()) {
      if (!is_metric(phase) && !phase.has_parts) {
        add_phase(phase, {phase.name, "ms", Better::Lower, true});
      }
    }
    return std::move(all_);
  }

 private:
  static bool is_metric(const PhaseInfo& phase) { return phase.is_outermost() && !phase.is_host; }

  void add(Series series, const std::function<RequestFigure(std::size_t)>& of) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const RequestFigure figure = of(i);
      if (figure.is_left_out) series.left_out.push_back(keys_[i]);
      if (!figure.value) continue;
      series.units.push_back(*figure.value);
      series.keys.push_back(keys_[i]);
    }
    if (!series.units.empty()) all_.push_back(std::move(series));
  }

  /// The units of a phase that count in a request.
  PhaseTime counted(std::size_t request, std::string_view path) const {
    const PhaseSteadiness* const steadiness = steady_.find(path);
    const bool is_known = steadiness != nullptr && steadiness->verdict != Steadiness::TooShort;
    return is_known ? steady_.time(request, path) : phase_time(requests_[request], path);
  }

  RequestFigure phase_figure(std::size_t i, const std::string& path) const {
    const Phase* const phase = requests_[i].find_phase(path);
    if (phase == nullptr) return {};
    const PhaseTime all = phase_time(requests_[i], path);
    const PhaseTime steady = counted(i, path);
    if (all.units > 0 && steady.units <= 0) return {{}, true};
    auto ns = static_cast<double>(phase->ns);
    if (steady.units < all.units) {  // single steps are left out: each counts as a steady one
      const auto steps = static_cast<std::size_t>(all.units);
      ns += steady_.typical_ns(i, path, steps).value_or(all.ns) - all.ns;
    }
    return {ms(ns)};
  }

  void add_phase(const PhaseInfo& phase, Series series) {
    if (phase.repeats) series.per_step = PerStep::Sum;
    add(std::move(series), [&](std::size_t i) { return phase_figure(i, phase.path); });
  }

  void add_steps() {
    if (generating_.empty()) return;
    const std::string& unit = generating_.front()->unit;
    add_rate({unit + "_ms", "ms"},
             [](const Request&, const PhaseTime& time) { return time.ns / time.units / kNsPerMs; });
    add_rate(
        {unit + std::string(kRateEnds), unit + "s/s", Better::Higher},
        [](const Request&, const PhaseTime& time) { return time.units * kNsPerSecond / time.ns; });
    if (unit == kToken) return;
    add_rate({std::string(kToken) + std::string(kRateEnds), "tokens/s", Better::Higher},
             [](const Request& request, const PhaseTime& time) {
               const auto tokens = tokens_of(request);
               if (!tokens) return Value();
               return Value(time.units * tokens->per_step() * kNsPerSecond / time.ns);
             });
  }

  /// A figure of the steps of a request.
  void add_rate(Series series, const std::function<Value(const Request&, const PhaseTime&)>& of) {
    series.per_step = PerStep::Each;
    add(std::move(series), [&](std::size_t i) {
      PhaseTime all;
      PhaseTime steady;
      for (const PhaseInfo* const phase : generating_) {
        const PhaseTime one = phase_time(requests_[i], phase->path);
        const PhaseTime without_costs = counted(i, phase->path);
        all = {all.units + one.units, all.ns + one.ns};
        steady = {steady.units + without_costs.units, steady.ns + without_costs.ns};
      }
      if (steady.ns <= 0) return RequestFigure{{}, all.ns > 0};
      return RequestFigure{of(requests_[i], steady)};
    });
  }

  std::span<const Request> requests_;
  const PhaseTree& tree_;
  const SteadyPart& steady_;
  std::vector<const PhaseInfo*> generating_;
  std::vector<std::string> keys_;
  std::vector<Series> all_;
};

}  // namespace

std::vector<Series> series_of(std::span<const Request> requests, const PhaseTree& tree,
                              const SteadyPart& steady) {
  return Figures(requests, tree, steady).make();
}

std::vector<Series> series_of(std::span<const Request> requests) {
  const PhaseTree tree(requests);
  return series_of(requests, tree, SteadyPart(requests, tree));
}

bool is_figure(std::string_view name) {
  return name.ends_with("_ms") || name.ends_with("_per_s");
}

std::vector<std::string> usual_figures(std::span<const std::string> names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(kLoadFigures[0]) && has(kLoadFigures[2])) {
    std::vector<std::string> usual(kLoadFigures.begin(), kLoadFigures.end());
    std::erase_if(usual, [&](const std::string& name) { return !has(name); });
    return usual;
  }
  const auto rate = std::find_if(names.begin(), names.end(),
                                 [](const std::string& name) { return name.ends_with(kRateEnds); });
  if (rate == names.end()) {
    return has(kWhole) ? std::vector{std::string(kWhole)} : std::vector<std::string>();
  }
  const std::string step = rate->substr(0, rate->size() - kRateEnds.size()) + "_ms";
  std::vector<std::string> usual;
  const auto first = std::find_if(names.begin(), rate, [](const std::string& name) {
    return is_figure(name) && name != kWhole;
  });
  if (first != rate && *first != step) usual.push_back(*first);
  if (has(step)) usual.push_back(step);
  return usual;
}

double value_of(const Series& series) {
  std::vector<double> sorted = series.units;
  std::sort(sorted.begin(), sorted.end());
  return statistics::quantile(sorted, 0.5);
}

std::optional<double> wall_ms(const Node& process) {
  const Node* wall = process.is_map() ? process.find("wall_ns") : nullptr;
  return wall != nullptr && wall->is_int() ? ms(static_cast<double>(wall->as_int())) : std::nullopt;
}

double disturbed_share(std::span<const Request> requests) {
  constexpr double kUsual = 5;
  double lost = 0;
  double all = 0;
  for (const Request& request : requests) {
    for (const Phase& phase : request.phases) {
      if (!phase.steps_ns || phase.steps_ns->empty()) continue;
      std::vector<double> sorted(phase.steps_ns->begin(), phase.steps_ns->end());
      std::sort(sorted.begin(), sorted.end());
      const double median = statistics::quantile(sorted, 0.5);
      for (const double ns : sorted) {
        all += ns;
        if (ns > kUsual * median) lost += ns - median;
      }
    }
  }
  return all > 0 ? lost / all : 0;
}

namespace {

using Figure = std::optional<double>;

constexpr double kNsInMs = 1e6;

Figure ttft_ms(const Request& request) {
  return request.ttft_ns ? Figure(static_cast<double>(*request.ttft_ns) / kNsInMs) : std::nullopt;
}

Figure tpot_ms(const Request& request) {
  if (!request.ttft_ns || request.new_tokens.value_or(0) < 2) return std::nullopt;
  return static_cast<double>(request.ns - *request.ttft_ns) / kNsInMs /
         static_cast<double>(*request.new_tokens - 1);
}

/// The median of those of one request: they are not independent of each other.
Figure itl_ms(const Request& request) {
  std::vector<double> steps;
  for (const Phase& phase : request.phases) {
    if (phase.steps_ns) steps.insert(steps.end(), phase.steps_ns->begin(), phase.steps_ns->end());
  }
  if (steps.empty()) return std::nullopt;
  std::sort(steps.begin(), steps.end());
  return statistics::quantile(steps, 0.5) / kNsInMs;
}

Figure e2e_ms(const Request& request) {
  return static_cast<double>(request.ns) / kNsInMs;
}

Series per_request(std::string name, std::span<const Request> requests,
                   Figure (*of)(const Request&)) {
  Series series{std::move(name), "ms"};
  for (const Request& request : requests) {
    if (const Figure value = of(request); value.value_or(0) > 0) series.units.push_back(*value);
  }
  return series;
}

/// A figure of the whole run.
Series per_run(std::string name, std::string unit, statistics::Better better,
               const std::optional<LoadFigure>& figure) {
  Series series{std::move(name), std::move(unit), better};
  if (figure && figure->value > 0) series.units = {figure->value};
  return series;
}

}  // namespace

statistics::Steadiness steadiness_of(const LoadRecord& load) {
  if (load.steady.verdict == "steady") return statistics::Steadiness::Steady;
  return load.steady.verdict == "drifting" ? statistics::Steadiness::Drifting
                                           : statistics::Steadiness::TooShort;
}

std::span<const Request> steady_requests(std::span<const Request> requests,
                                         const LoadRecord& load) {
  return requests.last(std::min<std::size_t>(requests.size(), load.metrics.e2e.n));
}

std::vector<Series> load_series(std::span<const Request> requests, const LoadRecord& load) {
  using statistics::Better;
  const std::span<const Request> steady = steady_requests(requests, load);
  const LoadMetrics& metrics = load.metrics;
  std::vector<Series> all = {
      per_request(std::string(kLoadFigures[0]), steady, ttft_ms),
      per_request(std::string(kLoadFigures[1]), steady, tpot_ms),
      per_request("itl_ms", steady, itl_ms),
      per_request("e2e_ms", steady, e2e_ms),
      per_run("ttft_p99_ms", "ms", Better::Lower, metrics.ttft.p99),
      per_run("tpot_p99_ms", "ms", Better::Lower, metrics.tpot.p99),
      per_run("requests_per_s", "requests/s", Better::Higher, metrics.requests.per_second),
      per_run(std::string(kLoadFigures[2]), "tokens/s", Better::Higher,
              metrics.output_tokens.per_second)};
  if (metrics.goodput) {
    all.push_back(
        per_run("goodput_per_s", "requests/s", Better::Higher, metrics.goodput->per_second));
  }
  std::erase_if(all, [](const Series& series) { return series.units.empty(); });
  return all;
}

}  // namespace profline::requests
