#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/load.h"

/// When the requests of an open loop are due.
namespace profline::load {

/// What a line of a trace asks for; values that it does not set are those of the settings.
struct TracedRequest {
  std::int64_t at_ns = 0;  ///< since the first request
  std::optional<std::uint32_t> input_tokens{};
  std::optional<std::uint32_t> output_tokens{};
  std::optional<std::string> prompt{};

  bool operator==(const TracedRequest&) const = default;
};

/// How many requests are sent: the warm-up, then either a number or a time.
struct Extent {
  std::uint32_t warmup = 0;
  std::optional<std::uint32_t> requests{};
  std::optional<double> seconds{};
};

/// The times at which requests are due, since the first one, ascending. They depend on nothing but
/// the arguments: a late request does not delay the next.
std::vector<std::int64_t> due_times(settings::ArrivalProcess process, double rate,
                                    std::uint64_t seed, const Extent& extent);

/// The lines of a trace in the order of their times, as many as `extent` has; without a limit, all.
/// A line is an object with `at_s`, or just a number of seconds.
Result<std::vector<TracedRequest>> parse_trace(std::string_view text, const std::string& source);
void limit_trace(std::vector<TracedRequest>& trace, const Extent& extent);

}  // namespace profline::load
