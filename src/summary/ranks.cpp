#include "summary/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/analysis.h"
#include "analysis/ranks/capture.h"
#include "analysis/ranks/job.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "run/process_traces.h"
#include "run/run_folder.h"
#include "summary/internal/parts.h"

namespace profline::summary {
namespace {

/// What was read of the ranks, and what could not be.
struct FoundRanks {
  std::string stage;
  std::string ranks_from;
  std::vector<ranks::Capture> captures;
  std::vector<std::string> notes;
};

/// Files of a stage's ranks: the first name that at least two ranks have.
std::map<std::int64_t, std::string> files_of(const run::Run& run, const char* stage,
                                             std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto files = run.rank_files(stage, name);
    if (files.size() > 1) return files;
  }
  return {};
}

/// Reads each rank's capture; `by_folder`: the keys are their ranks. One that cannot be read is
/// left out, with a note: the others can still be compared.
FoundRanks read_files(const run::Run& run, const char* stage,
                      const std::map<std::int64_t, std::string>& files,
                      const kernels::Classifier& classes, bool by_folder = true) {
  FoundRanks found{stage, "the folders of the ranks", {}, {}};
  const std::vector<std::pair<std::int64_t, std::string>> order(files.begin(), files.end());
  std::vector<std::string> failures(order.size());
  auto captures = ranks::read_captures(
      order.size(),
      [&](std::size_t i) -> Result<std::vector<Timeline>> {
        run::Artifact<Timeline> timeline = run.read_timeline(order[i].second);
        std::vector<Timeline> timelines;
        if (timeline) {
          timeline.content->source = order[i].second;
          if (by_folder) timeline.content->rank = order[i].first;
          timelines.push_back(std::move(*timeline.content));
        } else {
          failures[i] = order[i].second + ": " + timeline.why_not;
        }
        return timelines;
      },
      classes);
  if (captures) found.captures = *std::move(captures);
  for (std::string& failure : failures) {
    if (!failure.empty()) found.notes.push_back(std::move(failure));
  }
  return found;
}

FoundRanks read_requests(const run::Run& run, const std::map<std::int64_t, std::string>& files) {
  FoundRanks found{run::stages::kBaseline, "the folders of the ranks", {}, {}};
  for (const auto& [rank, file] : files) {
    const std::string folder = file.substr(0, file.rfind('/'));
    const auto& requests = run.requests(folder);
    if (!requests) {
      found.notes.push_back(file + ": " + requests.why_not);
      continue;
    }
    found.captures.push_back(ranks::capture_of(*requests, file));
    found.captures.back().rank = rank;
  }
  return found;
}

/// The processes in an nsys capture of several devices.
FoundRanks read_processes(const run::Run& run, const kernels::Classifier& classes) {
  FoundRanks found{run::stages::kNsys, "", {}, {}};
  const auto& ranges = run.get(run::kNsysRanges);
  if (!ranges) return found;
  for (const NsysCapture& capture : ranges->captures) {
    if (capture.devices.size() < 2 || capture.sqlite.empty()) continue;
    run::Artifact<Timeline> timeline = run.read_capture(capture.sqlite);
    if (!timeline) continue;
    timeline.content->source = timeline.file;
    ranks::Job job = ranks::processes_as_ranks(*timeline.content, classes);
    if (job.captures.empty()) continue;
    found.captures = std::move(job.captures);
    found.notes = std::move(job.notes);
    found.ranks_from = ranks::number_ranks(found.captures);
    return found;
  }
  return found;
}

/// The traces of a program's processes. Those that took part in no collectives of the others, such
/// as an HTTP front end, are not ranks.
FoundRanks read_process_traces(const run::Run& run, const kernels::Classifier& classes) {
  FoundRanks found{run::stages::kTorchProfiler, "", {}, {}};
  std::map<std::int64_t, std::string> files;
  for (std::string& file : run::process_traces(run)) {
    files.emplace(static_cast<std::int64_t>(files.size()), std::move(file));
  }
  if (files.empty()) return found;
  FoundRanks read = read_files(run, run::stages::kTorchProfiler, files, classes, false);
  ranks::Job job = ranks::without_helpers(std::move(read.captures), ranks::SameProgram::All);
  if (job.captures.size() < 2 || !ranks::share_collectives(job.captures)) return found;
  found.captures = std::move(job.captures);
  found.ranks_from = ranks::number_ranks(found.captures);
  found.notes = std::move(read.notes);
  found.notes.insert(found.notes.end(), job.notes.begin(), job.notes.end());
  return found;
}

/// What each stage has of several ranks, profilers first.
std::vector<FoundRanks> found_by_stage(const run::Run& run, const kernels::Classifier& classes) {
  std::vector<FoundRanks> found;
  const auto nsys = files_of(run, run::stages::kNsys, {run::files::kNsysSqlite});
  if (!nsys.empty()) found.push_back(read_files(run, run::stages::kNsys, nsys, classes));
  const std::string first_name = run::with_suffix(run::files::kNsysSqlite, ".1");
  const auto first = files_of(run, run::stages::kNsys, {first_name.c_str()});
  if (nsys.empty() && !first.empty()) {
    found.push_back(read_files(run, run::stages::kNsys, first, classes));
    found.back().notes.emplace_back(
        "nsys made several captures per rank; the first one of each is compared");
  }
  const auto traces = files_of(run, run::stages::kTorchProfiler,
                               {run::files::kTrace, run::files::kCompressedTrace});
  if (!traces.empty()) {
    found.push_back(read_files(run, run::stages::kTorchProfiler, traces, classes));
  }
  const auto requests = files_of(run, run::stages::kBaseline, {run::files::kRequests});
  if (!requests.empty()) found.push_back(read_requests(run, requests));
  if (found.empty()) {
    found.push_back(read_processes(run, classes));
    found.push_back(read_process_traces(run, classes));
  }
  std::erase_if(found, [](const FoundRanks& one) { return one.captures.size() < 2; });
  return found;
}

struct Compared {
  FoundRanks found;
  RankAnalysis analysis;
};

/// The first that shows enough collectives of several ranks to call one late: nsys may have
/// recorded none on a host, or one per capture. Else the one that shows most, and among equal ones
/// the last, which is without a profiler if there is such a run.
std::optional<Compared> compare(std::vector<FoundRanks> stages) {
  std::optional<Compared> compared;
  for (FoundRanks& found : stages) {
    RankAnalysis analysis = ranks::analyse(found.captures);
    const std::uint64_t shown = analysis.skew.collectives;
    if (compared && shown < compared->analysis.skew.collectives) continue;
    compared = Compared{std::move(found), std::move(analysis)};
    if (shown >= ranks::kFewestCollectives) break;
  }
  return compared;
}

/// The clock of requests counts from when its machine was started.
void forget_unrelated_origins(const Ranks& recorded, std::vector<FoundRanks>& stages) {
  std::set<std::string> hosts;
  for (const RankRecord& rank : recorded.ranks) hosts.insert(rank.host);
  if (hosts.size() < 2) return;
  for (FoundRanks& found : stages) {
    if (found.stage != run::stages::kBaseline) continue;
    for (ranks::Capture& capture : found.captures) capture.origin_ns.reset();
  }
}

/// The size of the job as its launcher knows it: profilers do not always record it, and without it
/// a rank that was not captured is not missed.
void set_world_size(const Ranks& recorded, std::vector<FoundRanks>& stages) {
  for (FoundRanks& found : stages) {
    for (ranks::Capture& capture : found.captures) {
      capture.world_size = std::max<std::int64_t>(capture.world_size, recorded.n);
    }
  }
}

/// Adds what the launcher recorded: nodes, and which ranks failed.
void add_record(const Ranks& recorded, RankAnalysis& analysis) {
  for (const RankRecord& rank : recorded.ranks) {
    for (RankRow& row : analysis.ranks) {
      if (row.rank != rank.rank) continue;
      row.node = rank.node;
      row.end = rank.why;
    }
    if (rank.why.empty()) continue;
    analysis.notes.push_back(fmt::format(
        "rank {}{}: {}", rank.rank, rank.node.empty() ? "" : " on node " + rank.node, rank.why));
  }
}

}  // namespace

std::optional<RankAnalysis> ranks_of(const run::Run& run) {
  const auto& own = run.get(kClassifier);
  std::optional<kernels::Classifier> shipped;
  if (!own) {
    auto classes = kernels::shipped_classifier();
    if (!classes) return std::nullopt;
    shipped = *std::move(classes);
  }
  const auto& recorded = run.get(run::kRanks);
  std::vector<FoundRanks> stages = found_by_stage(run, own ? *own : *shipped);
  if (recorded) {
    set_world_size(*recorded, stages);
    forget_unrelated_origins(*recorded, stages);
  }
  auto compared = compare(std::move(stages));
  if (!compared) return std::nullopt;
  auto& [found, analysis] = *compared;
  analysis.captured_by = found.stage;
  analysis.ranks_from = found.ranks_from;
  if (recorded) add_record(*recorded, analysis);
  if (found.stage == run::stages::kBaseline) {
    analysis.notes.emplace_back(
        "no profiler recorded enough collectives of two ranks or more: phases of requests that are "
        "named like a collective count as communication, other phases as computation");
  }
  for (std::string& note : found.notes) analysis.notes.push_back(std::move(note));
  return std::move(analysis);
}

}  // namespace profline::summary
