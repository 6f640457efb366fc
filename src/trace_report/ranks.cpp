#include "trace_report/ranks.h"

#include <set>

#include "trace_report/report.h"

namespace profline::trace_report {
namespace {

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

Result<ranks::Job> read_ranks(std::span<const std::string> files,
                              const kernels::Classifier& classes) {
  return ranks::without_helpers(PL_TRY(ranks::read_captures(
      files.size(),
      [&](std::size_t i) -> Result<std::vector<Timeline>> {
        // Several captures are read at the same time.
        Timeline timeline = PL_TRY(read_capture(files[i], files.size() > 1 ? 1 : 0));
        std::vector<Timeline> parts = ranks::by_process(timeline);
        if (parts.empty()) parts.push_back(std::move(timeline));
        return parts;
      },
      classes)));
}

bool are_ranks(std::span<const ranks::Capture> captures) {
  if (captures.size() < 2) return false;
  return state_their_ranks(captures) || ranks::share_collectives(captures);
}

}  // namespace profline::trace_report
