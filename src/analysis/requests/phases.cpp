#include "analysis/requests/phases.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "analysis/requests/tokens.h"
#include "base/strings.h"

namespace profline::requests {
namespace {

std::string_view path_around(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// The phases of all requests, each once, in order of first mention.
std::vector<PhaseInfo> mentioned(std::span<const Request> requests, const std::string& unit) {
  std::vector<PhaseInfo> all;
  std::map<std::string, std::size_t, std::less<>> places;
  for (const Request& request : requests) {
    for (const Phase& phase : request.phases) {
      const auto [place, is_new] = places.try_emplace(phase.path, all.size());
      if (is_new) {
        all.emplace_back();
        all.back().path = phase.path;
        all.back().unit = unit;
      }
      PhaseInfo& info = all[place->second];
      info.is_host |= phase.host.value_or(false);
      if (!phase.steps_ns) continue;
      const bool was_token = !info.repeats || info.unit == "token";
      info.unit = steps_are_tokens(request, phase) && was_token ? "token" : "step";
      info.repeats = true;
    }
  }
  return all;
}

/// Sets parents and names, which requires all paths.
void relate(std::vector<PhaseInfo>& phases) {
  std::map<std::string, std::size_t, std::less<>> places;
  std::map<std::string_view, int> bearers;
  for (std::size_t i = 0; i < phases.size(); ++i) places.emplace(phases[i].path, i);
  for (PhaseInfo& phase : phases) {
    ++bearers[last_name(phase.path)];
    for (std::string_view around = path_around(phase.path); !around.empty();
         around = path_around(around)) {
      const auto parent = places.find(around);
      if (parent == places.end()) continue;
      phase.parent = around;
      phases[parent->second].has_parts = true;
      break;
    }
  }
  for (PhaseInfo& phase : phases) {
    const std::string_view name = last_name(phase.path);
    phase.name = bearers[name] > 1 ? phase.path : std::string(name);
  }
}

void add_with_parts(const std::vector<PhaseInfo>& from, const std::string& parent,
                    std::vector<PhaseInfo>& to) {
  for (const PhaseInfo& phase : from) {
    if (phase.parent != parent) continue;
    to.push_back(phase);
    if (phase.has_parts) add_with_parts(from, phase.path, to);
  }
}

double sum(const std::vector<std::int64_t>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double all, std::int64_t ns) { return all + static_cast<double>(ns); });
}

}  // namespace

PhaseTree::PhaseTree(std::span<const Request> requests) {
  std::vector<PhaseInfo> all = mentioned(requests, unit_of(requests));
  relate(all);
  phases_.reserve(all.size());
  add_with_parts(all, "", phases_);
}

const PhaseInfo* PhaseTree::find(std::string_view path_or_name) const {
  for (const PhaseInfo& phase : phases_) {
    if (phase.path == path_or_name || phase.name == path_or_name) return &phase;
  }
  return nullptr;
}

const PhaseInfo& PhaseTree::outermost(const PhaseInfo& phase) const {
  const PhaseInfo* outer = &phase;
  while (!outer->is_outermost()) outer = find(outer->parent);
  return *outer;
}

bool PhaseTree::is_inside(const PhaseInfo& inner, const PhaseInfo& outer) const {
  for (const PhaseInfo* at = &inner; !at->is_outermost();) {
    at = find(at->parent);
    if (at == &outer) return true;
  }
  return false;
}

std::string PhaseTree::phase_of(const std::vector<std::string>& ranges) const {
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    const PhaseInfo* const phase = find(*range);
    if (phase != nullptr && !phase->has_parts) return phase->name;
  }
  return ranges.empty() ? "" : ranges.front();
}

std::string unit_of(std::span<const Request> requests) {
  std::size_t most = 0;
  for (const Request& request : requests) most = std::max(most, request.images().size());
  // The last request of an epoch may have a single image left.
  return most == 0 ? "request" : most == 1 ? "image" : "batch";
}

PhaseTime phase_time(const Request& request, std::string_view path) {
  const Phase* const phase = request.find_phase(path);
  if (phase == nullptr) return {};
  if (!phase->steps_ns) return {1, static_cast<double>(phase->ns)};
  return {static_cast<double>(phase->steps_ns->size()), sum(*phase->steps_ns)};
}

PhaseTime phase_time(std::span<const Request> requests, std::string_view path) {
  PhaseTime all;
  for (const Request& request : requests) {
    const PhaseTime time = phase_time(request, path);
    all.units += time.units;
    all.ns += time.ns;
  }
  return all;
}

double whole_ns(std::span<const Request> requests, const PhaseTree& tree) {
  const bool is_sum_of_phases =
      !tree.phases().empty() &&
      std::all_of(requests.begin(), requests.end(),
                  [](const Request& request) { return request.source == RequestSource::Builtin; });
  double all = 0;
  if (!is_sum_of_phases) {
    for (const Request& request : requests) all += static_cast<double>(request.ns);
    return all;
  }
  for (const PhaseInfo& phase : tree.phases()) {
    if (phase.is_outermost()) all += phase_time(requests, phase.path).ns;
  }
  return all;
}

std::optional<statistics::Summary> phase_spread(std::span<const Request> requests,
                                                std::string_view path) {
  std::vector<double> values;
  for (const Request& request : requests) {
    const Phase* const phase = request.find_phase(path);
    if (phase == nullptr) continue;
    if (phase->steps_ns) {
      values.insert(values.end(), phase->steps_ns->begin(), phase->steps_ns->end());
    } else {
      values.push_back(static_cast<double>(phase->ns));
    }
  }
  return statistics::summarise(values);
}

std::string subject_of(const Request& request) {
  const std::vector<std::string> images = request.images();
  if (images.empty()) return "id " + std::to_string(request.id);
  return join(images, "\n") + '\n' + std::to_string(request.integer("epoch").value_or(0));
}

std::string input_of(const Request& request) {
  if (request.images().empty()) return subject_of(request);
  return subject_of(request) + '\n' + std::to_string(request.integer("index").value_or(0));
}

}  // namespace profline::requests
