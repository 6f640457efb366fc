#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The steady part of a series of measurements, and what is left out of it. docs/steady-state.md
/// describes the method.
namespace profline::statistics {

/// Why a measurement says nothing about the ones that follow.
enum class OneTime : std::uint8_t {
  WarmUp,    ///< at the start, slower than everything after it
  FirstUse,  ///< the first of its shape, slower than that shape takes otherwise
  Marked,    ///< reported by the workload: it captured a graph, compiled or tuned a kernel
  Event,     ///< an isolated slow measurement; the series continues as before
};

struct OneTimeCost {
  std::size_t index = 0;
  OneTime reason = OneTime::Event;
  double typical = 0;  ///< what this measurement would be without the cost

  bool operator==(const OneTimeCost&) const = default;
};

enum class Steadiness : std::uint8_t {
  Steady,
  TooShort,  ///< too few measurements to tell; only gross one-time costs were detected
  Drifting,  ///< the level still changes: no part of the series stands for what follows
};
/// `steady`, `too-short` or `drifting`.
std::string_view to_text(Steadiness verdict);

/// Two levels that alternate, such as two clock rates.
struct Levels {
  double low = 0;
  double high = 0;

  bool operator==(const Levels&) const = default;
};

struct SteadyState {
  Steadiness verdict = Steadiness::TooShort;
  /// Where the steady part begins. Measurements ahead of it do not belong to it, even if they are
  /// not a cost (a processor may be fastest at the start).
  std::size_t first = 0;
  std::vector<OneTimeCost> one_time = {};  ///< by index; not in the steady part
  /// Slow measurements that recur, such as garbage collections. They belong to the steady state.
  std::vector<std::size_t> recurring = {};
  std::optional<std::size_t> period = {};  ///< of the recurring ones, if they are regular
  std::optional<Levels> levels = {};       ///< both are part of the steady state

  /// The indices of the steady part of a series of `size` measurements. Never empty unless the
  /// series is.
  std::vector<std::size_t> steady(std::size_t size) const;
};

/// What is known about the measurements besides their values. A list is empty if nothing is known;
/// otherwise it has one element per measurement, except for `marked`.
struct SeriesFacts {
  std::span<const std::size_t> shapes = {};  ///< equal numbers: the same input shape
  /// An amount that the measurement may grow with, above 0: prompt tokens.
  std::span<const double> work = {};
  std::span<const std::size_t> marked =
      {};  ///< indices of one-time events that the workload reported
  /// Measurements are expected to become longer, as steps of generation do, which read a growing
  /// context. Rises and alternating levels then mean nothing.
  bool grows = false;
  /// How many series of the same run are examined, this one included. The more there are, the more
  /// often noise in one of them looks like something, so the signs must be clearer.
  std::size_t examined = 1;
};

/// Fewer measurements than this do not show whether a series is steady.
inline constexpr std::size_t kEnoughToTell = 8;

/// `values` are times: finite and not negative.
SteadyState steady_state(std::span<const double> values, const SeriesFacts& facts = {});

}  // namespace profline::statistics
