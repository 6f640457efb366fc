#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/request.h"
#include "statistics/summary.h"

/// The phases of a list of requests and their times. The names of phases are data of the requests.
namespace profline::requests {

/// A phase that occurs in at least one request.
struct PhaseInfo {
  std::string path;
  /// Its name in pages and ranges: the last part of its path, or the whole path if phases of
  /// different parents share the last part.
  std::string name;
  std::string parent;      ///< path of the enclosing phase; empty: directly in the request
  std::string unit;        ///< of its times: `token`, `step`, `image`, `request`
  bool repeats = false;    ///< it has steps
  bool has_parts = false;  ///< it contains other phases
  bool is_host = false;    ///< host work before the model: timed, but not judged

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
  /// The outermost phase that contains this one, or the phase itself.
  const PhaseInfo& outermost(const PhaseInfo& phase) const;
  /// Whether `inner` is a part of `outer`, at any depth.
  bool is_inside(const PhaseInfo& inner, const PhaseInfo& outer) const;
  /// The phase of a stack of ranges (outermost first): the innermost range that is a leaf phase,
  /// else the outermost range. Empty: the stack is empty.
  std::string phase_of(const std::vector<std::string>& ranges) const;

 private:
  std::vector<PhaseInfo> phases_;
};

/// `image` if requests have one, `batch` if one has several, else `request`.
std::string unit_of(std::span<const Request> requests);

/// The time of a phase.
struct PhaseTime {
  double units = 0;  ///< steps of a phase that repeats, else requests; 0: no request has it
  double ns = 0;
};
PhaseTime phase_time(const Request& request, std::string_view path);
PhaseTime phase_time(std::span<const Request> requests, std::string_view path);

/// The time of all requests. Those of the built-in workload are the sum of their outermost phases;
/// other requests may do something outside their phases.
double whole_ns(std::span<const Request> requests, const PhaseTree& tree);

/// The times of single units, in nanoseconds. Nothing if no request has the phase.
std::optional<statistics::Summary> phase_spread(std::span<const Request> requests,
                                                std::string_view path);

/// Which picture of which epoch a request is about; the id of a request without a picture.
std::string subject_of(const Request& request);

/// The identity of a request that is the same in two runs of one workload: its picture, epoch and
/// place in the epoch; else its id.
std::string input_of(const Request& request);

}  // namespace profline::requests
