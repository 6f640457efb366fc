#include "workload/measure/measured_scopes.h"

#include <algorithm>

#include "base/error.h"

namespace profline::workload {
namespace {

constexpr std::string_view kStep = "_step";

}  // namespace

std::optional<std::chrono::nanoseconds> time_of(const std::vector<PartTime>& parts,
                                                std::string_view name) {
  std::optional<std::chrono::nanoseconds> sum;
  for (const PartTime& part : parts) {
    if (part.name == name) sum = sum.value_or(std::chrono::nanoseconds(0)) + part.duration;
  }
  return sum;
}

std::vector<Phase> phases_of(const std::vector<PartTime>& parts, std::chrono::nanoseconds ahead) {
  std::vector<Phase> phases;
  const auto phase_at = [&](std::string_view path) -> Phase& {
    const auto known = std::find_if(phases.begin(), phases.end(),
                                    [&](const Phase& phase) { return phase.path == path; });
    if (known != phases.end()) return *known;
    phases.emplace_back();
    phases.back().path = path;
    return phases.back();
  };
  for (const PartTime& part : parts) {
    const std::string_view path = part.path;
    const std::string_view around =
        path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    const bool is_step =
        !around.empty() && last_name(path) == std::string(last_name(around)) + std::string(kStep);
    if (is_step) {
      Phase& repeated = phase_at(around);
      if (!repeated.steps_ns) repeated.steps_ns.emplace();
      repeated.steps_ns->push_back(part.duration.count());
      continue;
    }
    Phase& phase = phase_at(path);
    phase.ns += part.duration.count();
    const std::int64_t start = (ahead + part.start).count();
    phase.start_ns = std::min(phase.start_ns.value_or(start), start);
  }
  // Parts end before the enclosing one; at the same start the outer one comes first, whose path is
  // shorter.
  std::stable_sort(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) {
    return std::pair(a.start_ns, a.path.size()) < std::pair(b.start_ns, b.path.size());
  });
  return phases;
}

std::size_t MeasuredScopes::path_of(const Path& path) {
  const auto known = std::find(paths_.begin(), paths_.end(), path);
  if (known != paths_.end()) return static_cast<std::size_t>(known - paths_.begin());
  paths_.push_back(path);
  return paths_.size() - 1;
}

std::string MeasuredScopes::text_of(std::size_t path) const {
  const Path& last = paths_[path];
  return last.around == kOutermost ? last.name : text_of(last.around) + "/" + last.name;
}

void MeasuredScopes::enter(const char* name) {
  const std::size_t path = path_of({open_.empty() ? kOutermost : open_.back().path, name});
  Open& part = open_.emplace_back(name);
  part.path = path;
  if (is_synchronised()) clock_.synchronise();
  // The range opens before the first mark and closes after the last one, so that the time a
  // profiler needs to start or stop a capture at its edges is not measured.
  if (options_.step_ranges || std::string_view(name) != scope::kDecodeStep) {
    part.range.emplace(name);
  }
  part.begin = clock_.mark();
}

void MeasuredScopes::leave() {
  PL_ASSERT(!open_.empty(), "what is left was entered");
  const Open& part = open_.back();
  closed_.push_back({part.name, part.path, part.begin, clock_.mark()});
  if (is_synchronised()) clock_.synchronise();
  open_.pop_back();
}

std::vector<PartTime> MeasuredScopes::take() {
  PL_ASSERT(open_.empty(), "times are taken between parts");
  clock_.synchronise();
  std::vector<PartTime> parts;
  parts.reserve(closed_.size());
  for (const Closed& part : closed_) {
    parts.push_back({part.name, clock_.between(part.begin, part.end), text_of(part.path),
                     clock_.between(0, part.begin)});
  }
  closed_.clear();
  clock_.restart();
  return parts;
}

}  // namespace profline::workload
