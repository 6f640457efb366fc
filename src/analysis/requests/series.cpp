#include "analysis/requests/series.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/requests/phases.h"
#include "statistics/summary.h"

namespace profline::requests {
namespace {

using statistics::Better;
using Value = std::optional<double>;

constexpr std::string_view kWhole = "request_ms";
constexpr std::string_view kRateEnds = "s_per_s";
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

class Figures {
 public:
  explicit Figures(std::span<const Request> requests)
      : requests_(requests), tree_(requests), keys_(keys_of(requests)) {}

  std::vector<Series> make() {
    const bool has_steps = std::any_of(tree_.phases().begin(), tree_.phases().end(),
                                       [](const PhaseInfo& phase) { return phase.repeats; });
    Series whole{std::string(kWhole), "ms"};
    if (has_steps) whole.per_step = PerStep::Sum;
    add(std::move(whole),
        [](const Request& request) { return ms(static_cast<double>(request.ns)); });
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

  void add(Series series, const std::function<Value(const Request&)>& of) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const Value value = of(requests_[i]);
      if (!value) continue;
      series.units.push_back(*value);
      series.keys.push_back(keys_[i]);
    }
    if (!series.units.empty()) all_.push_back(std::move(series));
  }

  void add_phase(const PhaseInfo& phase, Series series) {
    if (phase.repeats) series.per_step = PerStep::Sum;
    const auto time = [&](const Request& request) {
      const Phase* const found = request.find_phase(phase.path);
      return found == nullptr ? Value() : ms(static_cast<double>(found->ns));
    };
    add(std::move(series), time);
  }

  /// Over all phases that repeat.
  void add_steps() {
    const auto repeating = std::find_if(tree_.phases().begin(), tree_.phases().end(),
                                        [](const PhaseInfo& phase) { return phase.repeats; });
    if (repeating == tree_.phases().end()) return;
    const auto steps = [this](const Request& request) {
      PhaseTime all;
      for (const PhaseInfo& phase : tree_.phases()) {
        if (!phase.repeats) continue;
        const PhaseTime time = phase_time(request, phase.path);
        all.units += time.units;
        all.ns += time.ns;
      }
      return all;
    };
    const std::string& unit = repeating->unit;
    Series step{unit + "_ms", "ms"};
    step.per_step = PerStep::Each;
    add(std::move(step), [&](const Request& request) {
      const PhaseTime time = steps(request);
      return time.ns > 0 ? Value(time.ns / time.units / kNsPerMs) : std::nullopt;
    });
    Series rate{unit + std::string(kRateEnds), unit + "s/s", Better::Higher};
    rate.per_step = PerStep::Each;
    add(std::move(rate), [&](const Request& request) {
      const PhaseTime time = steps(request);
      return time.ns > 0 ? Value(time.units * kNsPerSecond / time.ns) : std::nullopt;
    });
  }

  std::span<const Request> requests_;
  PhaseTree tree_;
  std::vector<std::string> keys_;
  std::vector<Series> all_;
};

}  // namespace

std::vector<Series> series_of(std::span<const Request> requests) {
  return Figures(requests).make();
}

bool is_figure(std::string_view name) {
  return name.ends_with("_ms") || name.ends_with("_per_s");
}

std::vector<std::string> usual_figures(std::span<const std::string> names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
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

}  // namespace profline::requests
