#include "report/svg/scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace profline::svg {
namespace {

constexpr double kWantedTicks = 5;

/// 1, 2 or 5 times a power of ten that divides the span into about five.
double round_step(double span) {
  const double raw = span / kWantedTicks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double digit = raw / power;
  if (digit < 1.5) return power;
  if (digit < 3.5) return 2 * power;
  return digit < 7.5 ? 5 * power : 10 * power;
}

/// `1`, `100 k`, `10 T`.
std::string decade_label(double value) {
  struct Unit {
    double factor;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const Unit& unit : kUnits) {
    if (value >= unit.factor * 0.999) return fmt::format("{:g}{}", value / unit.factor, unit.name);
  }
  return fmt::format("{:g}", value);
}

}  // namespace

Scale Scale::linear(double low, double high, double begin, double end) {
  Scale scale;
  if (!(high > low)) high = low + (low == 0 ? 1 : std::fabs(low) * 0.1);
  scale.low_ = low, scale.high_ = high, scale.begin_ = begin, scale.end_ = end;
  return scale;
}

Scale Scale::decades(double low, double high, double begin, double end) {
  Scale scale;
  scale.low_ = std::pow(10.0, std::floor(std::log10(low)));
  scale.high_ = std::pow(10.0, std::ceil(std::log10(high)));
  if (!(scale.high_ > scale.low_)) scale.high_ = scale.low_ * 10;
  scale.begin_ = begin, scale.end_ = end;
  scale.is_log_ = true;
  return scale;
}

double Scale::at(double value) const {
  value = std::clamp(value, low_, high_);
  const double share =
      is_log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return begin_ + share * (end_ - begin_);
}

std::vector<Scale::Tick> Scale::ticks() const {
  std::vector<Tick> ticks;
  if (!is_log_) {
    const double step = round_step(high_ - low_);
    const double first = std::ceil(low_ / step - 1e-9) * step;
    for (int i = 0; first + i * step <= high_ + step * 1e-9; ++i) {
      const double value = first + i * step;
      ticks.push_back({value, fmt::format("{:g}", std::fabs(value) < step * 1e-9 ? 0 : value)});
    }
    return ticks;
  }
  const int decades = static_cast<int>(std::lround(std::log10(high_ / low_)));
  for (int decade = 0; decade <= decades; ++decade) {
    const double value = low_ * std::pow(10.0, decade);
    ticks.push_back({value, decade_label(value)});
    for (const int digit : {2, 5}) {
      if (decade < decades && decades <= 4) ticks.push_back({value * digit, ""});
    }
  }
  return ticks;
}

}  // namespace profline::svg
