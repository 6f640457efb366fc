#include "analysis/ranks/job.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "analysis/ranks/analysis.h"
#include "analysis/ranks/matching.h"

namespace profline::ranks {
namespace {

/// By capture: the collectives that others took part in as well.
std::vector<std::uint64_t> shared_collectives(std::span<const Capture> captures) {
  const Matches matches = match(captures);
  std::vector<std::uint64_t> shared(captures.size());
  for (const Match& match : matches.matches) {
    for (const Member& member : match.members) ++shared[member.capture];
  }
  return shared;
}

bool is_enough(std::uint64_t shared) {
  return shared >= kFewestCollectives;
}

}  // namespace

bool share_collectives(std::span<const Capture> captures) {
  const std::vector<std::uint64_t> shared = shared_collectives(captures);
  return std::all_of(shared.begin(), shared.end(), is_enough);
}

Job without_helpers(std::vector<Capture> captures, SameProgram same) {
  const std::vector<std::uint64_t> shared = shared_collectives(captures);
  std::set<std::string> programs;  // that have ranks
  const auto program_of = [&](const Capture& capture) {
    return same == SameProgram::All ? std::string() : capture.source;
  };
  for (std::size_t c = 0; c < captures.size(); ++c) {
    if (is_enough(shared[c])) programs.insert(program_of(captures[c]));
  }
  Job job;
  for (std::size_t c = 0; c < captures.size(); ++c) {
    Capture& capture = captures[c];
    if (is_enough(shared[c]) || !programs.contains(program_of(capture))) {
      job.captures.push_back(std::move(capture));
      continue;
    }
    job.notes.push_back(
        fmt::format("process {} in {} shares fewer than {} collectives with others, so it is not "
                    "compared as a rank",
                    capture.process, capture.source, kFewestCollectives));
  }
  return job;
}

Job processes_as_ranks(const Timeline& timeline, const kernels::Classifier& classes) {
  std::set<std::int64_t> processes;
  for (const Thread& thread : timeline.threads) processes.insert(thread.process);
  std::set<std::int32_t> devices;
  for (const Stream& stream : timeline.streams) devices.insert(stream.device);
  if (processes.size() < 2 || devices.size() < 2) return {};
  std::vector<Capture> captures;
  for (const Timeline& part : by_process(timeline)) captures.push_back(capture_of(part, classes));
  Job job = without_helpers(std::move(captures));
  if (job.captures.size() < 2 || !share_collectives(job.captures)) return {};
  return job;
}

}  // namespace profline::ranks
