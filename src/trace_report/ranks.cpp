#include "trace_report/ranks.h"

#include <algorithm>
#include <set>

#include "analysis/ranks/matching.h"
#include "trace_report/report.h"

namespace profline::trace_report {
namespace {

constexpr std::size_t kFewestCollectives = 5;  // that captures of one job have in common

/// Whether each capture shares enough collectives with others.
bool share_collectives(std::span<const ranks::Capture> captures) {
  const ranks::Matches matches = ranks::match(captures);
  std::vector<std::size_t> shared(captures.size());
  for (const ranks::Match& match : matches.matches) {
    for (const ranks::Member& member : match.members) ++shared[member.capture];
  }
  return std::all_of(shared.begin(), shared.end(),
                     [](std::size_t count) { return count >= kFewestCollectives; });
}

bool state_their_ranks(std::span<const ranks::Capture> captures) {
  std::set<std::int64_t> known;
  for (const ranks::Capture& capture : captures) {
    const bool is_of_job = capture.rank >= 0 && capture.world_size > 1 &&
                           capture.world_size == captures.front().world_size;
    if (!is_of_job || !known.insert(capture.rank).second) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<ranks::Capture>> read_ranks(std::span<const std::string> files,
                                               const kernels::Classifier& classes) {
  return ranks::read_captures(
      files.size(),
      [&](std::size_t i) -> Result<std::vector<Timeline>> {
        Timeline timeline = PL_TRY(read_capture(files[i]));
        std::vector<Timeline> parts = ranks::by_process(timeline);
        if (parts.empty()) parts.push_back(std::move(timeline));
        return parts;
      },
      classes);
}

std::vector<ranks::Capture> processes_of(const Timeline& timeline,
                                         const kernels::Classifier& classes) {
  std::set<std::int64_t> processes;
  for (const Thread& thread : timeline.threads) processes.insert(thread.process);
  std::set<std::int32_t> devices;
  for (const Stream& stream : timeline.streams) devices.insert(stream.device);
  std::vector<ranks::Capture> captures;
  if (processes.size() < 2 || devices.size() < 2) return captures;
  const std::vector<Timeline> parts = ranks::by_process(timeline);
  if (parts.size() < 2) return captures;
  for (const Timeline& part : parts) captures.push_back(ranks::capture_of(part, classes));
  if (!share_collectives(captures)) captures.clear();
  return captures;
}

bool are_ranks(std::span<const ranks::Capture> captures) {
  if (captures.size() < 2) return false;
  return state_their_ranks(captures) || share_collectives(captures);
}

}  // namespace profline::trace_report
