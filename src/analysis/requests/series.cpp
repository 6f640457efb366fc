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

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerSecond = 1e9;

Value ms(double ns) {
  return ns > 0 ? Value(ns / kNsPerMs) : std::nullopt;
}

/// Of one request; a picture may be in the list several times in one epoch.
std::vector<std::string> keys_of(std::span<const Request> requests) {
  std::map<std::string, int> seen;
  std::vector<std::string> keys;
  keys.reserve(requests.size());
  for (const Request& request : requests) {
    std::string key =
        request.attributes.contains("image")
            ? request.text("image") + '\n' + std::to_string(request.integer("epoch").value_or(0))
            : "id " + std::to_string(request.id);
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
    add("request_ms", "ms",
        [](const Request& request) { return ms(static_cast<double>(request.ns)); });
    for (const PhaseInfo& phase : tree_.phases()) {
      if (is_metric(phase)) add_phase(phase, phase.name + "_ms", false);
    }
    add_steps();
    for (const PhaseInfo& phase : tree_.phases()) {
      if (!is_metric(phase) && !phase.has_parts) add_phase(phase, phase.name, true);
    }
    return std::move(all_);
  }

 private:
  static bool is_metric(const PhaseInfo& phase) { return phase.is_outermost() && !phase.is_host; }

  void add(std::string name, std::string unit, const std::function<Value(const Request&)>& of,
           Better better = Better::Lower, bool is_phase = false) {
    Series series{std::move(name), std::move(unit), better, is_phase, {}, {}};
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const Value value = of(requests_[i]);
      if (!value) continue;
      series.units.push_back(*value);
      series.keys.push_back(keys_[i]);
    }
    if (!series.units.empty()) all_.push_back(std::move(series));
  }

  void add_phase(const PhaseInfo& phase, std::string name, bool is_phase) {
    const auto time = [&](const Request& request) {
      const Phase* const found = request.find_phase(phase.path);
      return found == nullptr ? Value() : ms(static_cast<double>(found->ns));
    };
    add(std::move(name), "ms", time, Better::Lower, is_phase);
  }

  /// Of all phases that repeat, together.
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
    add(unit + "_ms", "ms", [&](const Request& request) {
      const PhaseTime time = steps(request);
      return time.ns > 0 ? Value(time.ns / time.units / kNsPerMs) : std::nullopt;
    });
    add(
        unit + "s_per_s", unit + "s/s",
        [&](const Request& request) {
          const PhaseTime time = steps(request);
          return time.ns > 0 ? Value(time.units * kNsPerSecond / time.ns) : std::nullopt;
        },
        Better::Higher);
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
