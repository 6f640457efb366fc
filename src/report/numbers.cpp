#include "report/numbers.h"

#include <fmt/format.h>

#include "base/units.h"

namespace profline::report {
namespace {

constexpr const char* kNotKnown = "–";

}  // namespace

std::string duration(double ns) {
  return human_duration(FractionalNanoseconds(ns));
}

std::string percent(double share) {
  return share > 0 && share < 0.001 ? fmt::format("{:.2g} %", share * 100)
                                    : fmt::format("{:.1f} %", share * 100);
}

std::string factor(double ratio) {
  return ratio >= 9.95 ? fmt::format("{:.0f}x", ratio) : fmt::format("{:.1f}x", ratio);
}

std::string duration(const std::optional<double>& ns) {
  return ns ? duration(*ns) : kNotKnown;
}

std::string percent(const std::optional<double>& share) {
  return share ? percent(*share) : kNotKnown;
}

std::string count(const std::optional<double>& value) {
  return value ? human_count(*value) : kNotKnown;
}

}  // namespace profline::report
