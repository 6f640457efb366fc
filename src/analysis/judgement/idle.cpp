#include "analysis/judgement/internal/idle.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::judgement::internal {
namespace {

/// A cause of idle time and what it indicates.
struct Cause {
  std::string_view words;
  double ns;
  bool is_launching;  ///< indicates launch-bound; else host-bound
  std::string cure;   ///< for host-bound phases
};

/// Never refers to a page that this run does not have.
std::string cure_between_launches(const PhaseEvidence& evidence) {
  const std::string out = "and move it out of the loop";
  if (!evidence.host_page.empty()) {
    return "see " + evidence.host_page + " for what the host does between launches, " + out;
  }
  return "find out what the host does between launches (" +
         std::string(evidence.is_program ? "the timeline in report.html shows where"
                                         : "pipeline.torch_profiler.enable=true records it") +
         ") " + out;
}

std::array<Cause, 7> causes_of(const PhaseEvidence& evidence, const Limits& limits) {
  const DeviceActivity& device = *evidence.device;
  const IdleTime& idle = device.idle;
  const auto ns = [](std::int64_t value) { return static_cast<double>(value); };
  const bool short_gaps = !device.gap_mean_ns || *device.gap_mean_ns <= limits.launch_gap_ns;
  return {{
      {"between launches", ns(idle.host_between_ns), short_gaps, cure_between_launches(evidence)},
      {"inside launch calls", ns(idle.launching_ns), true, ""},
      {"queued but not started", ns(idle.queued_ns), true, ""},
      {"host waiting for the GPU", ns(idle.synchronizing_ns), false,
       "move synchronisation (item(), copies to the host, events) out of the loop"},
      {"host inside copies", ns(idle.copy_wait_ns), false,
       "keep the data on the GPU, or copy from pinned memory while other work runs"},
      {"host allocating memory", ns(idle.allocating_ns), false,
       "allocate once and reuse the memory: a caching allocator, static buffers"},
      {"nothing queued", ns(idle.nothing_queued_ns), false,
       "overlap the host's work before the first launch and after the last with work on the GPU"},
  }};
}

}  // namespace

IdleVerdict judge_idle(const PhaseEvidence& evidence, const Limits& limits) {
  auto causes = causes_of(evidence, limits);
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.ns > b.ns; });
  const auto total = static_cast<double>(evidence.device->idle.sum_ns());
  IdleVerdict verdict;
  if (total <= 0) return verdict;
  for (const Cause& cause : causes) {
    if (cause.is_launching) verdict.launch_share += cause.ns / total;
    if (!cause.is_launching && verdict.cure.empty()) verdict.cure = cause.cure;
    if (cause.ns / total < 0.01) continue;
    if (!verdict.words.empty()) verdict.words += ", ";
    verdict.words += fmt::format("{} {}", percent(cause.ns / total), cause.words);
  }
  return verdict;
}

}  // namespace profline::judgement::internal
