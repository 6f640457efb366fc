#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/load.h"
#include "records/request.h"
#include "settings/load.h"

/// What happened to one request.
namespace profline::load {

/// Why a request failed. `kind` is one of these names, or `http_` with the status:
///
///   refused unreachable unresolved tls reset timeout   the connection
///   protocol redirect compressed headers_too_large     the answer's headers
///   malformed truncated empty server_error too_large   the stream
///   cancelled client_limit                             this side
struct Failure {
  std::string kind;
  std::string text;

  bool operator==(const Failure&) const = default;
};

/// An event with output, and how well its time is known.
struct OutputEvent {
  std::int64_t at_ns = 0;
  std::int32_t delay_us = 0;  ///< from its arrival at the socket to when we looked at it
  std::int32_t error_us = 0;  ///< what of that may be in `at_ns`
};

/// Times are by the machine's monotonic clock.
struct Outcome {
  std::uint64_t id = 0;
  bool measured = false;  ///< not part of the warm-up
  std::int64_t due_ns = 0;
  std::int64_t sent_ns = 0;
  std::int64_t end_ns = 0;  ///< the last event, or the failure
  std::vector<OutputEvent> events{};
  std::optional<std::uint64_t> prompt_tokens{};
  std::optional<std::uint64_t> usage_tokens{};  ///< generated, as the server counts them
  bool has_done = false;
  std::string finish{};
  std::optional<Failure> failure{};
  std::size_t prompt = 0;  ///< which of the prompts
  std::string text{};      ///< only if responses are stored

  bool succeeded() const { return !failure.has_value(); }
  /// Without usage: an estimate.
  std::uint64_t tokens() const { return usage_tokens.value_or(events.size()); }
};

}  // namespace profline::load

/// From what happened to requests to what is reported.
namespace profline::load {

/// Everything that was observed of one load.
struct Observation {
  std::vector<Outcome> outcomes{};  ///< warm-up included, in the order in which they were due
  std::int64_t start_ns = 0;        ///< when the first request was due
  bool is_open = false;             ///< latency counts from when a request was due
  std::optional<double> rate{};     ///< that was offered
  std::uint32_t concurrency = 0;    ///< of a closed loop
  bool kernel_times = false;
  double busy_share = 0;
};

/// A client's error matters if it could change a figure by more than this.
inline constexpr double kErrorThatMatters = 0.05;

/// Latencies of one request; nothing if it failed.
struct Latencies {
  std::int64_t ttft_ns = 0;
  std::int64_t e2e_ns = 0;
  std::optional<double> tpot_ns;  ///< nothing with fewer than two tokens
};
std::optional<Latencies> latencies_of(const Outcome& outcome, bool is_open);

/// Whether it met every SLO.
bool is_good(const Outcome& outcome, bool is_open, const settings::Slo& slo);

/// Fills in counts, steady part, metrics, errors, the client's error, the limit and the seconds.
void fill_in(const Observation& observation, const settings::Slo& slo, LoadRecord& record);

/// A run of a search, from what was observed of it.
LoadTrial trial_of(const Observation& observation, double rate, const settings::Slo& slo,
                   bool ended_early);

/// The lines of requests.jsonl: the measured requests that succeeded.
std::vector<Request> request_records(const Observation& observation);

/// A distribution in bins whose width grows with the value: its quantiles are known to 3 %, in
/// constant time and memory.
class LatencyHistogram {
 public:
  void add(double ms);
  /// Of no values: nothing.
  std::optional<double> quantile_ms(double q) const;

 private:
  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>(720);
  std::uint64_t total_ = 0;
};

}  // namespace profline::load
