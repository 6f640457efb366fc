#include "workload/ceilings/internal/bench.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::workload::ceilings {
namespace {

/// With this much time nothing has to be shortened.
constexpr Seconds kAmple{60};

/// What was sampled between two moments; otherwise the last sample before.
std::vector<gpu::GpuState> states_in(const std::vector<gpu::GpuSample>& samples,
                                     Clock::Steady began, const PacedRate& rate) {
  std::vector<gpu::GpuState> states;
  const gpu::GpuSample* before = nullptr;
  for (const gpu::GpuSample& sample : samples) {
    const Clock::Steady at = began + sample.at;
    if (at < rate.begin) before = &sample;
    if (at >= rate.begin && at <= rate.end) states.push_back(sample.state);
  }
  if (states.empty() && before != nullptr) states.push_back(before->state);
  return states;
}

template <typename T>
std::optional<double> median(const std::vector<gpu::GpuState>& states,
                             std::optional<T> gpu::GpuState::*member) {
  std::vector<double> values;
  for (const gpu::GpuState& state : states) {
    if (state.*member) values.push_back(static_cast<double>(*(state.*member)));
  }
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

CeilingValue value_of(const PacedRate& rate, const std::vector<gpu::GpuState>& states) {
  constexpr double kMilli = 1e-3;
  CeilingValue value;
  value.value = rate.per_second;
  value.seconds = rate.duration.count();
  value.spread = rate.spread;
  value.sm_clock_mhz = median(states, &gpu::GpuState::sm_clock_mhz);
  value.memory_clock_mhz = median(states, &gpu::GpuState::memory_clock_mhz);
  auto power = median(states, &gpu::GpuState::power_instant_mw);
  if (!power) power = median(states, &gpu::GpuState::power_mw);
  if (power) value.power_w = *power * kMilli;
  for (const gpu::GpuState& state : states) {
    value.throttle_reasons |= state.throttle_reasons.value_or(0);
  }
  return value;
}

}  // namespace

Bench::Bench(const CeilingsRequest& request, const CeilingsServices& services, DeviceClock& device)
    : services_(services),
      paced_{device, services.clock, services.rest},
      deadline_(services.clock.now() +
                std::chrono::duration_cast<Clock::Steady::duration>(request.budget)),
      factor_(std::min(1.0, request.budget / kAmple)),
      most_bytes_(request.array_bytes) {}

std::size_t Bench::array_bytes(std::size_t usual) const {
  return most_bytes_ == 0 ? usual : std::min(usual, most_bytes_);
}

bool Bench::is_over() const {
  return is_stopped() || services_.clock.now() >= deadline_;
}

bool Bench::lacks_time_for(const std::string& what) {
  if (!is_over()) return false;
  note(what + ": not measured, because the time was up");
  return true;
}

Pace Bench::pace() const {
  const Pace usual;
  return {shortened(usual.rest), shortened(usual.burst), shortened(usual.settle),
          shortened(usual.sustained)};
}

void Bench::measure(CeilingFigure figure, double amount, const std::function<void()>& call,
                    const Pace& pace) {
  const PacedRates rates = rates_of(figure, amount, call, pace);
  add(std::move(figure), rates);
}

PacedRates Bench::rates_of(const CeilingFigure& figure, double amount,
                           const std::function<void()>& call, const Pace& pace) const {
  constexpr Seconds kLeast{0.005};
  const Seconds one = duration_of(call, kLeast);
  PacedRates rates = rates_at(paced_, pace, call, one);
  for (std::optional<PacedRate>* rate : {&rates.burst, &rates.sustained}) {
    if (*rate) (*rate)->per_second *= amount;
  }
  const PacedRate& shown = rates.sustained ? *rates.sustained : *rates.burst;
  services_.progress.note(fmt::format("{} {}: {}", figure.name, figure.shape,
                                      profline::amount(shown.per_second, figure.unit)));
  return rates;
}

void Bench::add(CeilingFigure figure, PacedRates rates) {
  measured_.push_back({std::move(figure), rates});
}

void Bench::add_latency(std::string name, std::string detail, Seconds one, Seconds measured) {
  constexpr double kNs = 1e9;
  CeilingFigure figure;
  figure.kind = "latency";
  figure.name = std::move(name);
  figure.unit = "ns";
  figure.detail = std::move(detail);
  PacedRate rate;
  rate.per_second = one.count() * kNs;
  rate.duration = measured;
  PacedRates rates;
  rates.sustained = rate;
  add(std::move(figure), rates);
}

std::vector<CeilingFigure> Bench::take(const std::vector<gpu::GpuSample>& samples,
                                       Clock::Steady began) {
  std::vector<CeilingFigure> figures;
  for (Measured& one : measured_) {
    const auto known = [&](const std::optional<PacedRate>& rate) -> std::optional<CeilingValue> {
      if (!rate) return std::nullopt;
      const bool is_rate = one.figure.kind != "latency";
      return value_of(*rate,
                      is_rate ? states_in(samples, began, *rate) : std::vector<gpu::GpuState>());
    };
    one.figure.burst = known(one.rates.burst);
    one.figure.sustained = known(one.rates.sustained);
    figures.push_back(std::move(one.figure));
  }
  measured_.clear();
  return figures;
}

std::size_t fastest(const Bench& bench, std::size_t count,
                    const std::function<Seconds(std::size_t, Seconds)>& time_of) {
  constexpr Seconds kTrial{0.02};
  constexpr Seconds kLonger{0.2};
  constexpr std::size_t kFinalists = 3;
  struct Way {
    Seconds time;
    std::size_t index;
    auto operator<=>(const Way&) const = default;
  };
  std::vector<Way> tried;
  for (std::size_t i = 0; i < count && (i == 0 || !bench.is_over()); ++i) {
    tried.push_back({time_of(i, kTrial), i});
  }
  std::sort(tried.begin(), tried.end());
  tried.resize(std::min(tried.size(), kFinalists));
  const std::size_t quickest = tried.front().index;
  for (Way& way : tried) {
    if (bench.is_over()) return quickest;
    way.time = time_of(way.index, kLonger);
  }
  return std::min_element(tried.begin(), tried.end())->index;
}

}  // namespace profline::workload::ceilings
