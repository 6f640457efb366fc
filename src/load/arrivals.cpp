#include "load/arrivals.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "formats/json.h"
#include "schema/read.h"
#include "statistics/summary.h"

namespace profline::load {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr double kLongestTrace = 7 * 86'400.0;  // seconds

/// Uniform, from 0 (included) to 1 (excluded).
double uniform(statistics::RandomNumbers& random) {
  constexpr unsigned kUnused = 11;
  constexpr double kStep = 0x1p-53;
  return static_cast<double>(random.next() >> kUnused) * kStep;
}

struct TraceLine {
  double at_s = 0;
  std::optional<std::uint32_t> input_tokens;
  std::optional<std::uint32_t> output_tokens;
  std::optional<std::string> prompt;
};
constexpr auto fields(std::type_identity<TraceLine>) {
  return field_list(field("at_s", &TraceLine::at_s, "seconds since the first request")
                        .required()
                        .range(0.0, kLongestTrace),
                    field("input_tokens", &TraceLine::input_tokens, "length of the prompt")
                        .range(1, settings::kMostTokens),
                    field("output_tokens", &TraceLine::output_tokens, "tokens to generate")
                        .range(1, settings::kMostTokens),
                    field("prompt", &TraceLine::prompt, "the prompt itself"));
}

Result<TracedRequest> traced_request(const Node& row) {
  Node line = row;
  if (!row.is_map()) {
    NodeMap only_time;
    only_time.set("at_s", row);
    line = Node::map(std::move(only_time));
  }
  TraceLine read = PL_TRY(schema::read<TraceLine>(line));
  if (read.prompt && read.input_tokens) {
    return Error(ErrorKind::Parse, "has both prompt and input_tokens");
  }
  return TracedRequest{static_cast<std::int64_t>(read.at_s * kNanoseconds), read.input_tokens,
                       read.output_tokens, std::move(read.prompt)};
}

}  // namespace

std::vector<std::int64_t> due_times(settings::ArrivalProcess process, double rate,
                                    std::uint64_t seed, const Extent& extent) {
  statistics::RandomNumbers random(seed);
  const double gap = kNanoseconds / rate;
  std::vector<std::int64_t> times;
  double at = 0;
  while (times.size() < settings::kMostImages) {
    if (extent.requests && times.size() >= std::size_t{extent.warmup} + *extent.requests) break;
    if (extent.seconds && times.size() > extent.warmup) {
      const double since = at - static_cast<double>(times[extent.warmup]);
      if (since >= *extent.seconds * kNanoseconds) break;
    }
    times.push_back(static_cast<std::int64_t>(at));
    // Multiplied rather than added up for constant arrivals, so that no error accumulates.
    at = process == settings::ArrivalProcess::Constant ? gap * static_cast<double>(times.size())
                                                       : at - gap * std::log1p(-uniform(random));
  }
  return times;
}

Result<std::vector<TracedRequest>> parse_trace(std::string_view text, const std::string& source) {
  std::vector<TracedRequest> trace;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const auto in_line = [&](Error error) {
      return std::move(error).during(source + ":" + std::to_string(number));
    };
    auto row = parse_json(line, "");
    if (!row) return in_line(std::move(row).error());
    auto request = traced_request(*row);
    if (!request) return in_line(std::move(request).error());
    trace.push_back(*std::move(request));
  }
  if (trace.empty()) return Error(ErrorKind::Parse, source + ": has no requests");
  std::stable_sort(trace.begin(), trace.end(), [](const TracedRequest& a, const TracedRequest& b) {
    return a.at_ns < b.at_ns;
  });
  const std::int64_t first = trace.front().at_ns;
  for (TracedRequest& request : trace) request.at_ns -= first;
  return trace;
}

void limit_trace(std::vector<TracedRequest>& trace, const Extent& extent) {
  std::size_t kept = trace.size();
  if (extent.requests) kept = std::min(kept, std::size_t{extent.warmup} + *extent.requests);
  if (extent.seconds && extent.warmup < trace.size()) {
    const auto end =
        trace[extent.warmup].at_ns + static_cast<std::int64_t>(*extent.seconds * kNanoseconds);
    while (kept > 0 && trace[kept - 1].at_ns >= end) --kept;
  }
  trace.resize(kept);
}

}  // namespace profline::load
