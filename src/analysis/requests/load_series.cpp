#include <algorithm>

#include "analysis/requests/series.h"
#include "statistics/summary.h"

namespace profline::requests {
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
