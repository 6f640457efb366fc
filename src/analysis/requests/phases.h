#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/request.h"
#include "statistics/summary.h"

/// What the phases of a list of requests are and took. Names of phases are data of the requests.
namespace profline::requests {

/// A phase that occurs in at least one request.
struct PhaseInfo {
  std::string path;
  /// What pages and ranges call it: the last name of its path; the whole path where phases of
  /// different parents have the same last name.
  std::string name;
  std::string parent;      ///< path of the phase around it; empty: it is part of the request itself
  std::string unit;        ///< what its times are of: `token`, `step`, `image`, `request`
  bool repeats = false;    ///< it has steps
  bool has_parts = false;  ///< other phases are inside it
  bool is_host = false;    ///< work of the host ahead of the model: timed, but not judged

  bool is_outermost() const { return parent.empty(); }
};

/// The phases of a list of requests, in the order in which they begin; parts follow their parent.
class PhaseTree {
 public:
  PhaseTree() = default;
  explicit PhaseTree(std::span<const Request> requests);

  const std::vector<PhaseInfo>& phases() const { return phases_; }
  /// By path or, for callers that have only the name of a range, by name. Null: no such phase.
  const PhaseInfo* find(std::string_view path_or_name) const;
  /// The outermost phase around one; the phase itself where nothing is around it.
  const PhaseInfo& outermost(const PhaseInfo& phase) const;
  /// Whether `inner` is a part of `outer`, however deep.
  bool is_inside(const PhaseInfo& inner, const PhaseInfo& outer) const;
  /// The phase that a stack of ranges, outermost first, belongs to: the innermost that is a phase
  /// without parts; else the outermost range. Empty: there is no range.
  std::string phase_of(const std::vector<std::string>& ranges) const;

 private:
  std::vector<PhaseInfo> phases_;
};

/// `image` where requests are of pictures, else `request`.
std::string unit_of(std::span<const Request> requests);

/// What a phase took.
struct PhaseTime {
  double units = 0;  ///< steps of a phase that repeats, else requests; 0: no request has it
  double ns = 0;
};
PhaseTime phase_time(const Request& request, std::string_view path);
PhaseTime phase_time(std::span<const Request> requests, std::string_view path);

/// What all outermost phases took; of requests without phases the requests themselves.
double whole_ns(std::span<const Request> requests, const PhaseTree& tree);

/// Times of single units, in nanoseconds. Nothing when no request has the phase.
std::optional<statistics::Summary> phase_spread(std::span<const Request> requests,
                                                std::string_view path);

/// What a request is of, as far as two runs of the same workload agree in it: its picture, epoch
/// and place in the epoch; else its id.
std::string input_of(const Request& request);

}  // namespace profline::requests
