#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// What an engine says about its own times, on the page that Prometheus reads.
namespace profline::server {

/// Sums since the engine's start.
struct EngineTimes {
  std::optional<double> queue_s{};
  std::optional<double> queued{};  ///< requests in that sum
  std::optional<double> prefill_s{};
  std::optional<double> prefills{};  ///< requests in that sum; nothing: not counted

  bool operator==(const EngineTimes&) const = default;
};

/// Reads `/metrics` of vLLM and others that use its names (`vllm:request_queue_time_seconds_sum`,
/// `…request_prefill_time_seconds_sum`), of SGLang (`sglang:queue_time_seconds_sum`), and of
/// llama-server (`llamacpp:prompt_seconds_total`).
EngineTimes parse_engine_times(std::string_view page);

/// Per request, between two readings.
struct MeanTimes {
  std::optional<double> queue_ns{};
  std::optional<double> prefill_ns{};
};
/// `requests`: so many ended in between, for engines that do not count them.
MeanTimes mean_times(const EngineTimes& before, const EngineTimes& after, std::uint64_t requests);

}  // namespace profline::server
