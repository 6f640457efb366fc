#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/ranks/capture.h"
#include "analysis/ranks/internal/busy_time.h"
#include "analysis/ranks/internal/communication.h"

namespace profline::ranks {
namespace {

using internal::Interval;
using internal::Intervals;

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

bool is_inside(std::string_view path, std::string_view outer) {
  return path.size() > outer.size() && path.starts_with(outer) && path[outer.size()] == '/';
}

/// A phase that runs several times in a request is recorded once, with the start of the first and
/// the time of all.
bool repeats(const Phase& phase) {
  return phase.steps_ns && phase.steps_ns->size() > 1;
}

/// Whether a phase is the sum of several, as far as the request shows it: it has steps, or it seems
/// to overlap another part of the same phase.
bool is_sum(const Request& request, const Phase& phase) {
  if (repeats(phase)) return true;
  return std::any_of(request.phases.begin(), request.phases.end(), [&](const Phase& other) {
    return &other != &phase && other.start_ns && parent_of(other.path) == parent_of(phase.path) &&
           *other.start_ns < *phase.start_ns + phase.ns &&
           *phase.start_ns < *other.start_ns + other.ns;
  });
}

/// Whether it is unknown when the collectives of a request began.
bool hides_collectives(const Request& request) {
  return std::any_of(request.phases.begin(), request.phases.end(), [&](const Phase& phase) {
    if (!phase.start_ns || !internal::is_communication(last_name(phase.path))) return false;
    return std::any_of(request.phases.begin(), request.phases.end(), [&](const Phase& around) {
      const bool holds = &around == &phase || is_inside(phase.path, around.path);
      return holds && around.start_ns && is_sum(request, around);
    });
  });
}

/// Turns the phases of requests into visits and activity.
class RequestPhases {
 public:
  RequestPhases(std::int64_t first_ns, bool knows_starts, Capture& capture)
      : first_ns_(first_ns), knows_starts_(knows_starts), capture_(capture) {}

  void add(const Request& request) {
    free_ns_.clear();
    for (const Phase& phase : request.phases) {
      if (!phase.start_ns) continue;
      const std::int64_t start_ns = *request.start_ns - first_ns_ + start_in_request(phase);
      const Interval when{start_ns, start_ns + phase.ns};
      if (internal::is_communication(last_name(phase.path))) {
        add_collective(phase.path, when);
      } else {
        add_phase(request, phase, when);
      }
    }
  }

  void finish(std::int64_t length_ns) {
    activity_.unite();
    capture_.time = activity_.time_in(Intervals{{0, length_ns}});
    for (auto& [name, found] : phases_) {
      internal::unite(found.first);
      capture_.phases.push_back({std::string(name), found.second, activity_.time_in(found.first)});
    }
    std::stable_sort(
        capture_.phases.begin(), capture_.phases.end(),
        [](const RankPhase& a, const RankPhase& b) { return a.time.wall_ns > b.time.wall_ns; });
    std::stable_sort(capture_.visits.begin(), capture_.visits.end(),
                     [](const Visit& a, const Visit& b) { return a.start_ns < b.start_ns; });
  }

 private:
  /// Where starts are not known, the parts of a phase follow one another, so that each keeps its
  /// time and none seems to overlap another.
  std::int64_t start_in_request(const Phase& phase) {
    if (knows_starts_) return *phase.start_ns;
    std::int64_t& free_ns = free_ns_[parent_of(phase.path)];
    const std::int64_t start_ns = free_ns;
    free_ns += phase.ns;
    free_ns_[phase.path] = start_ns;
    return start_ns;
  }

  void add_collective(std::string_view path, const Interval& when) {
    host().communication.push_back(when);
    if (!knows_starts_) return;
    const std::string_view name = last_name(path);
    Visit visit{.start_ns = when.start_ns, .end_ns = when.end_ns};
    visit.name = capture_.names.id_of(name);
    visit.kind = collective_kind(name);
    visit.phase = capture_.names.id_of(parent_of(path));
    capture_.visits.push_back(visit);
  }

  void add_phase(const Request& request, const Phase& phase, const Interval& when) {
    auto& [windows, instances] = phases_[phase.path];
    windows.push_back(when);
    instances += repeats(phase) ? phase.steps_ns->size() : 1;
    const bool has_parts =
        std::any_of(request.phases.begin(), request.phases.end(),
                    [&](const Phase& other) { return is_inside(other.path, phase.path); });
    if (!has_parts) host().compute.push_back(when);
  }

  internal::DeviceActivity& host() { return activity_.device(-1); }

  std::int64_t first_ns_;
  bool knows_starts_;
  Capture& capture_;
  internal::Activity activity_;
  std::map<std::string_view, std::pair<Intervals, std::uint64_t>> phases_;
  std::map<std::string_view, std::int64_t> free_ns_;  // by phase: where its next part may begin
};

}  // namespace

Capture capture_of(std::span<const Request> requests, std::string source) {
  Capture capture;
  capture.source = std::move(source);
  capture.tool = "requests";
  std::optional<std::int64_t> first_ns;
  std::int64_t end_ns = 0;
  for (const Request& request : requests) {
    if (!request.start_ns) continue;
    first_ns = std::min(first_ns.value_or(*request.start_ns), *request.start_ns);
    end_ns = std::max(end_ns, *request.start_ns + request.ns);
  }
  if (!first_ns) return capture;
  const bool hides = std::any_of(requests.begin(), requests.end(), hides_collectives);
  if (hides) {
    capture.losses.emplace_back(
        "phases that run several times in a request are recorded with their total time: when each "
        "collective began is not known");
  }
  capture.origin_ns = first_ns;
  capture.communicators.push_back({});
  RequestPhases phases(*first_ns, !hides, capture);
  for (const Request& request : requests) {
    if (request.start_ns) phases.add(request);
  }
  phases.finish(end_ns - *first_ns);
  return capture;
}

}  // namespace profline::ranks
