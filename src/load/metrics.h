#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/outcome.h"
#include "records/load.h"
#include "records/request.h"
#include "settings/load.h"

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
