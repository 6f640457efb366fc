#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "workload/measure/device_clock.h"

namespace profline::workload::ceilings {

using Seconds = std::chrono::duration<double>;

/// How long the parts of a measurement take.
struct Pace {
  Seconds rest{0.5};       ///< without work, so that a burst starts from a rested device
  Seconds burst{0.03};     ///< zero: no burst is measured
  Seconds settle{0.3};     ///< at work before the sustained rate counts
  Seconds sustained{1.0};  ///< zero: no sustained rate is measured
};

/// A rate and when it was measured.
struct PacedRate {
  double per_second = 0;  ///< calls, or what each of them does
  Seconds duration{0};
  /// Largest minus smallest rate of the windows of a tenth of a second, divided by the rate.
  std::optional<double> spread{};
  Clock::Steady begin{};  ///< by the host's clock
  Clock::Steady end{};
};

struct PacedRates {
  std::optional<PacedRate> burst;
  std::optional<PacedRate> sustained;
};

/// What measuring needs from the outside.
struct PaceServices {
  DeviceClock& device;
  const Clock& clock;
  std::function<void(Seconds)> rest;
};

/// The duration of one call: as many calls as fill `least`, after one that is not counted.
Seconds duration_of_call(const PaceServices& services, const std::function<void()>& call,
                         Seconds least);

/// Makes calls at the given pace. A call submits work to the device and need not wait for it.
/// `one` is its duration as far as it is known.
PacedRates rates_at(const PaceServices& services, const Pace& pace,
                    const std::function<void()>& call, Seconds one);

}  // namespace profline::workload::ceilings
