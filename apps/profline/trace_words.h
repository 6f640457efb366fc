#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/figures.h"

/// How `profline trace` writes figures.
namespace profline {

inline std::string duration(std::int64_t ns) {
  return human_duration(std::chrono::nanoseconds(ns));
}

inline std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Of a share of 1.
inline std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100.0 * *share) : "-";
}

/// 10^9 bytes per second: `12.3`, `0.0042`.
inline std::string gigabytes_per_second(const std::optional<double>& rate) {
  if (!rate) return "-";
  return *rate < 1000 ? fmt::format("{:.3g}", *rate) : fmt::format("{:.0f}", *rate);
}

}  // namespace profline
