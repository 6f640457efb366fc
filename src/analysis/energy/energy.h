#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/series.h"
#include "records/gpu_reading.h"
#include "records/load.h"
#include "records/repeated_phase.h"
#include "records/request.h"
#include "records/run_summary.h"

/// The energy that a GPU used, from two sources that check each other: NVML's total-energy counter,
/// and its instantaneous power over time. docs/formats/summary.md describes the result.
namespace profline::energy {

/// A period by the machine's monotonic clock.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
  bool operator==(const Window&) const = default;
};

struct Limits {
  double shortest_s = 1;         ///< counters advance in steps, so less says nothing
  double most_different = 0.05;  ///< of the larger source
  /// The longest time without a reading: this many usual periods, and at least half a second.
  double longest_gap_periods = 5;
  double longest_gap_s = 0.5;
};

/// The energy used in all windows together, or why it is not known. Only the figures of energy are
/// filled in.
SummaryEnergy energy_in(std::span<const GpuReading> readings, std::span<const Window> windows,
                        const Limits& limits = {});

/// The energy of the steady requests as a whole, from the start of the first to the end of the
/// last, and of each outermost phase that ran alone for long enough in such a request: while no
/// other request was being processed. Nothing if the readings or the requests do not say when they
/// were taken.
std::vector<SummaryEnergy> energy_of(std::span<const GpuReading> readings,
                                     std::span<const Request> requests, const Limits& limits = {});

/// The energy of a phase that was repeated alone.
SummaryEnergy energy_of(std::span<const GpuReading> readings, const RepeatedPhase& repeated,
                        const Limits& limits = {});

/// The energy of a server while its load was steady: of one GPU, with the tokens that arrived in
/// that time. Nothing if the readings or the requests do not say when they were taken.
std::optional<SummaryEnergy> energy_of(std::span<const GpuReading> readings,
                                       std::span<const Request> requests, const LoadRecord& load,
                                       const Limits& limits = {});
std::optional<requests::Series> series_of(std::span<const GpuReading> readings,
                                          std::span<const Request> requests,
                                          const LoadRecord& load);

/// The name of the figure in comparisons and lists.
inline constexpr std::string_view kTokenEnergy = "token_energy_j";
/// The energy per token of the steady requests as a figure with one value per run; nothing if it is
/// not known.
std::optional<requests::Series> series_of(std::span<const GpuReading> readings,
                                          std::span<const Request> requests);

}  // namespace profline::energy
