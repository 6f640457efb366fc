#include "workload/ceilings/pace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace profline::workload::ceilings {
namespace {

constexpr Seconds kWindow{0.1};

/// At least one.
std::size_t calls_in(Seconds span, Seconds one) {
  constexpr double kMost = 1e6;
  if (one.count() <= 0) return 1;
  return static_cast<std::size_t>(std::clamp(std::round(span / one), 1.0, kMost));
}

PacedRate burst_rate(const PaceServices& services, const std::function<void()>& call,
                     std::size_t calls) {
  services.device.restart();
  PacedRate rate;
  rate.begin = services.clock.now();
  const std::size_t first = services.device.mark();
  for (std::size_t i = 0; i < calls; ++i) call();
  const std::size_t last = services.device.mark();
  services.device.synchronise();
  rate.end = services.clock.now();
  rate.duration = services.device.between(first, last);
  rate.per_second = static_cast<double>(calls) / rate.duration.count();
  return rate;
}

PacedRate sustained_rate(const PaceServices& services, const Pace& pace,
                         const std::function<void()>& call, Seconds one) {
  const std::size_t calls = calls_in(kWindow, one);
  const Seconds window = one * static_cast<double>(calls);
  const std::size_t settling = pace.settle.count() <= 0 ? 0 : calls_in(pace.settle, window);
  const std::size_t windows = settling + calls_in(pace.sustained, window);
  services.device.restart();
  std::vector<std::size_t> marks = {services.device.mark()};
  for (std::size_t i = 0; i < windows; ++i) {
    for (std::size_t k = 0; k < calls; ++k) call();
    marks.push_back(services.device.mark());
  }
  services.device.synchronise();
  PacedRate rate;
  rate.end = services.clock.now();
  rate.duration = services.device.between(marks[settling], marks.back());
  rate.begin = rate.end - std::chrono::duration_cast<Clock::Steady::duration>(rate.duration);
  const auto counted = static_cast<double>((windows - settling) * calls);
  rate.per_second = counted / rate.duration.count();
  if (windows - settling < 2) return rate;
  double slowest = 0;
  double fastest = 0;
  for (std::size_t i = settling; i < windows; ++i) {
    const Seconds took = services.device.between(marks[i], marks[i + 1]);
    const double of_window = static_cast<double>(calls) / took.count();
    slowest = i == settling ? of_window : std::min(slowest, of_window);
    fastest = std::max(fastest, of_window);
  }
  rate.spread = (fastest - slowest) / rate.per_second;
  return rate;
}

}  // namespace

Seconds duration_of_call(const PaceServices& services, const std::function<void()>& call,
                         Seconds least) {
  constexpr std::size_t kMostCalls = std::size_t{1} << 16U;
  call();
  services.device.synchronise();
  for (std::size_t calls = 1;;) {
    const PacedRate rate = burst_rate(services, call, calls);
    const Seconds one = rate.duration / static_cast<double>(calls);
    if (rate.duration >= least || calls >= kMostCalls) return one;
    calls = std::min(kMostCalls, std::max(2 * calls, calls_in(least, one) + 1));
  }
}

PacedRates rates_at(const PaceServices& services, const Pace& pace,
                    const std::function<void()>& call, Seconds one) {
  PacedRates rates;
  services.device.synchronise();
  if (pace.rest.count() > 0) services.rest(pace.rest);
  if (pace.burst.count() > 0) rates.burst = burst_rate(services, call, calls_in(pace.burst, one));
  if (pace.sustained.count() > 0) rates.sustained = sustained_rate(services, pace, call, one);
  return rates;
}

}  // namespace profline::workload::ceilings
