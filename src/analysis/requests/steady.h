#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/request.h"
#include "statistics/steady_state.h"

/// The steady part of a run: the requests, and the steps in them, that stand for what follows.
/// docs/steady-state.md describes the method.
namespace profline::requests {

/// One-time costs of a phase that have the same reason.
struct OneTimeCosts {
  std::string path;  ///< of the phase; empty: the requests have no phases
  bool of_steps = false;
  statistics::OneTime reason = statistics::OneTime::Event;
  std::uint64_t count = 0;
  double ns = 0;          ///< total time, as measured
  double typical_ns = 0;  ///< total time without the cost

  bool operator==(const OneTimeCosts&) const = default;
};

/// How steady a phase is.
struct PhaseSteadiness {
  statistics::Steadiness verdict = statistics::Steadiness::TooShort;
  std::uint64_t measured = 0;  ///< requests, or steps of a phase that repeats
  std::uint64_t steady = 0;
  /// Slow units that recur and are part of the steady state: how many, and how long on average.
  std::uint64_t recurring = 0;
  double recurring_ns = 0;
  std::optional<std::size_t> period = {};
  std::optional<statistics::Levels> levels = {};
};

/// The requests must outlive it.
class SteadyPart {
 public:
  SteadyPart() = default;
  SteadyPart(std::span<const Request> requests, const PhaseTree& tree);

  /// The steady units of a phase and their time, in all requests or in one of them.
  PhaseTime time(std::string_view path) const;
  PhaseTime time(std::size_t request, std::string_view path) const;
  /// The time of a phase in all requests, had each taken as long as a steady one. Shares and means
  /// of requests come from this.
  double whole_ns(std::string_view path) const;
  /// The same for whole requests: their outermost phases and, unless they are the built-in
  /// workload's, whatever time they spend outside of these.
  double whole_ns() const;
  /// The time of a phase in a request, or of its first `steps` steps, with one-time costs replaced
  /// by the mean of steady units of the same shape. Nothing if there are no such units.
  std::optional<double> typical_ns(std::size_t request, std::string_view path,
                                   std::size_t steps) const;

  /// Null if no request has the phase. A part of a phase is as steady as the phase. An empty path
  /// stands for the requests themselves, if they have no phases.
  const PhaseSteadiness* find(std::string_view path) const;
  bool is_steady(std::size_t request) const;
  std::uint64_t steady_requests() const;
  statistics::Steadiness verdict() const;  ///< of the requests as a whole
  const std::vector<OneTimeCosts>& one_time() const { return one_time_; }

 private:
  /// What is left out of an outermost phase, and of its parts.
  struct LeftOut {
    PhaseSteadiness steadiness;
    std::vector<bool> requests;                   ///< by index
    std::vector<std::vector<std::size_t>> steps;  ///< by request, ascending
  };
  class Search;

  void add(const PhaseTree& tree, const PhaseInfo& outermost);
  /// The time of a request outside its outermost phases.
  double outside_phases_ns(std::size_t request) const;
  const LeftOut* around(std::string_view path) const;
  std::vector<std::size_t> steps_left_out(std::size_t request, std::string_view path) const;

  std::span<const Request> requests_;
  std::map<std::string, LeftOut, std::less<>> phases_;  ///< by path of an outermost phase
  std::vector<OneTimeCosts> one_time_;
};

/// Consecutive steady requests, for a profiler to capture.
struct SteadyWindow {
  std::size_t first = 0;  ///< counted from 0
  std::size_t count = 0;  ///< 0 only if there are no requests
  std::size_t total = 0;
  std::string reason;  ///< one plain sentence, without its full stop
};

/// The longest run of steady requests; the earlier one of two that are equally long. If there are
/// too few requests to tell, or their times still change, the first is left out unless it is the
/// only one.
SteadyWindow steady_window(std::span<const Request> requests);

}  // namespace profline::requests
