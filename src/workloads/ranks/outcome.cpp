#include "workloads/ranks/outcome.h"

#include <algorithm>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"

namespace profline::ranks {
namespace {

namespace fs = std::filesystem;
using Records = std::vector<std::optional<RankProcess>>;
using Group = std::vector<const RankProcess*>;

constexpr std::size_t kNamed = 8;

Finding problem(std::string code, std::string text, std::string fix) {
  return {Severity::Problem, std::move(code), std::move(text), std::move(fix), ErrorKind::Tool};
}

Group with_end(const Records& ranks, RankEnd end) {
  Group group;
  for (const auto& rank : ranks) {
    if (rank && end_of(*rank) == end) group.push_back(&*rank);
  }
  return group;
}

/// `rank 1 on n1, rank 2 on n3 and 4 more`
std::string listed(const Group& group) {
  std::vector<std::string> names;
  for (const RankProcess* rank : group) {
    if (names.size() < kNamed) names.push_back(rank_text(*rank));
  }
  std::string text = join(names, ", ");
  if (group.size() > names.size()) {
    text += " and " + std::to_string(group.size() - names.size()) + " more";
  }
  return text;
}

std::string output_of(const fs::path& stage_folder, const RankProcess& rank) {
  return "its output is below " + rank_folder(stage_folder, rank.rank).string();
}

/// `exited with code 5: out of memory`
std::string why_of(const RankProcess& rank) {
  if (rank.stopped) return "was asked to end";
  return (rank.end.empty() ? "left no record of its end" : rank.end) +
         (rank.last_words.empty() ? "" : ": " + rank.last_words);
}

std::string end_text(const RankProcess& rank) {
  return rank_text(rank) + " " + why_of(rank);
}

/// `; 3 other ranks ended after it`
std::string others_text(std::size_t count, std::string_view whom) {
  if (count == 0) return "";
  return "; " + counted(count, "other rank") + " ended after " + std::string(whom);
}

/// A profiler ends later than the program in it, so its time does not say when the program failed.
bool profilers_hide_order(const Group& failed) {
  const auto is_profiled = [](const RankProcess* rank) { return rank->profiled; };
  return std::any_of(failed.begin(), failed.end(), is_profiled) &&
         !std::all_of(failed.begin(), failed.end(), is_profiled);
}

/// The ranks that may have failed first: the one whose time is the earliest, and those on other
/// machines whose clocks may be off by more than the difference.
Group may_be_first(const Group& in_order) {
  constexpr std::int64_t kClocksDifferNs = 1'000'000'000;
  const RankProcess& first = *in_order.front();
  Group group = {&first};
  for (const RankProcess* rank : in_order) {
    const bool is_near = rank->ended_ns.value_or(0) - first.ended_ns.value_or(0) <= kClocksDifferNs;
    if (rank->host != first.host && is_near) group.push_back(rank);
  }
  return group;
}

Finding failure_of(Group failed, std::size_t stopped, const fs::path& stage_folder) {
  std::sort(failed.begin(), failed.end(), [](const RankProcess* a, const RankProcess* b) {
    return a->ended_ns.value_or(0) < b->ended_ns.value_or(0);
  });
  const bool is_hidden = profilers_hide_order(failed);
  const Group first = is_hidden ? failed : may_be_first(failed);
  const std::size_t others = failed.size() - first.size() + stopped;
  if (first.size() == 1) {
    return problem("rank_failed", end_text(*first.front()) + others_text(others, "it"),
                   output_of(stage_folder, *first.front()));
  }
  std::vector<std::string> ends;
  for (const RankProcess* rank : first) {
    if (ends.size() == kNamed) break;
    ends.push_back(end_text(*rank) + (is_hidden && rank->profiled ? " (with its profiler)" : ""));
  }
  const std::string why = is_hidden ? "a profiler ends later than its program"
                                    : "the clocks of their machines may differ";
  return problem("rank_failed",
                 join(ends, "; ") + "; which of them failed first is not known, because " + why +
                     (is_hidden ? "" : others_text(others, "them")),
                 "their output is below " + (stage_folder / run::folders::kRanks).string());
}

std::string vanished_text(const Group& vanished) {
  return listed(vanished) + " left no record of " +
         (vanished.size() == 1 ? "its end: it, or its node, was killed"
                               : "their ends: they, or their nodes, were killed");
}

/// The ranks that were still running when time was up, while others had ended.
std::optional<Finding> hung_of(const Records& ranks, const fs::path& stage_folder) {
  const Group stopped = with_end(ranks, RankEnd::Stopped);
  const Group done = with_end(ranks, RankEnd::Succeeded);
  if (stopped.empty() || done.empty()) return std::nullopt;
  return problem("rank_hung",
                 listed(stopped) + (stopped.size() == 1 ? " was" : " were") +
                     " still running when time was up; " + counted(done.size(), "other rank") +
                     (done.size() == 1 ? " had" : " had all") + " ended",
                 output_of(stage_folder, *stopped.front()));
}

/// The rank that completed the fewest ranges, if it is one: a rank that hangs lets the others wait
/// in their next collective, one range further on.
std::optional<Finding> behind_of(const Records& ranks, const std::vector<std::uint64_t>& progress,
                                 const fs::path& stage_folder) {
  if (progress.size() != ranks.size() || ranks.size() < 2) return std::nullopt;
  const auto least = std::min_element(progress.begin(), progress.end());
  if (std::count(progress.begin(), progress.end(), *least) != 1) return std::nullopt;
  std::uint64_t next = *std::max_element(progress.begin(), progress.end());
  for (const std::uint64_t count : progress) {
    if (count != *least) next = std::min(next, count);
  }
  const auto& rank = ranks[static_cast<std::size_t>(least - progress.begin())];
  if (!rank) return std::nullopt;
  return problem("rank_behind",
                 rank_text(*rank) + " got least far: it completed " +
                     counted(*least, "recorded range") + ", every other rank at least " +
                     std::to_string(next) + "; the others may have waited for it",
                 output_of(stage_folder, *rank));
}

}  // namespace

fs::path rank_folder(const fs::path& stage_folder, std::uint32_t rank) {
  return stage_folder / run::folders::kRanks / std::to_string(rank);
}

Records read_ranks(const fs::path& stage_folder, std::uint32_t count) {
  Records ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const fs::path file = rank_folder(stage_folder, rank) / run::files::kRank;
    const auto text = read_file(file);
    auto record = text ? from_document<RankProcess>(*text, file.string())
                       : Result<RankProcess>(Error(ErrorKind::NotFound, "no file"));
    ranks.emplace_back();
    if (record) ranks.back() = std::move(*record);
  }
  return ranks;
}

Ranks collect(const fs::path& run_folder, std::span<const std::string_view> stages,
              const settings::Ranks& settings) {
  Ranks all;
  if (settings.launcher) all.launcher = schema::name_of(*settings.launcher);
  all.n = settings.count();
  all.per_node = settings.per_node;
  std::vector<RankRecord> rows(settings.count());
  for (const std::string_view stage : stages) {
    const Records ranks = read_ranks(run_folder / stage, settings.count());
    for (const auto& one : ranks) {
      if (!one || one->rank >= rows.size()) continue;
      RankRecord& row = rows[one->rank];
      RankInStage in{.stage = std::string(stage)};
      in.folder = rank_folder(stage, one->rank).string();
      in.pid = one->pid;
      in.profiled = one->profiled;
      in.started_ns = one->started_ns;
      in.ended_ns = one->ended_ns;
      in.code = one->code;
      in.signal = one->signal;
      in.stopped = one->stopped;
      if (end_of(*one) != RankEnd::Succeeded) in.why = why_of(*one);
      const bool had_failed = !row.why.empty();
      row.stages.push_back(in.stage);
      row.profiled = settings.is_profiled(one->rank);
      if (!had_failed) {
        row.local_rank = one->local_rank;
        row.node = one->node;
        row.host = one->host;
        row.pid = one->pid;
        row.code = one->code;
        row.signal = one->signal;
        row.why = in.why;
      }
      row.processes.push_back(std::move(in));
    }
  }
  for (std::uint32_t rank = 0; rank < rows.size(); ++rank) {
    rows[rank].rank = rank;
    if (!rows[rank].stages.empty()) all.ranks.push_back(std::move(rows[rank]));
  }
  return all;
}

std::string rank_text(const RankProcess& rank) {
  const std::string& node = rank.node.empty() ? rank.host : rank.node;
  return "rank " + std::to_string(rank.rank) + (node.empty() ? "" : " on " + node);
}

RankEnd end_of(const RankProcess& rank) {
  if (rank.ended_ns && rank.code == 0) return RankEnd::Succeeded;
  if (rank.stopped) return RankEnd::Stopped;
  return rank.ended_ns ? RankEnd::Failed : RankEnd::Vanished;
}

std::vector<Finding> findings_of(const Records& ranks, const LaunchEnd& end,
                                 const fs::path& stage_folder) {
  std::vector<Finding> findings;
  const Group failed = with_end(ranks, RankEnd::Failed);
  const Group stopped = with_end(ranks, RankEnd::Stopped);
  // Ranks that we stopped may have had no time to record that.
  const Group vanished = end.was_stopped ? Group() : with_end(ranks, RankEnd::Vanished);
  if (!failed.empty()) {
    findings.push_back(failure_of(failed, stopped.size(), stage_folder));
    if (!vanished.empty()) {
      findings.back().text += "; " + vanished_text(vanished) + "; which came first is not known";
    }
  } else if (!vanished.empty()) {
    findings.push_back(problem("rank_vanished", vanished_text(vanished),
                               output_of(stage_folder, *vanished.front())));
  }
  if (end.was_stopped && failed.empty()) {
    auto hung = hung_of(ranks, stage_folder);
    if (!hung) hung = behind_of(ranks, end.progress, stage_folder);
    if (hung) findings.push_back(std::move(*hung));
  }
  std::vector<std::string> absent;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank]) absent.push_back(std::to_string(rank));
  }
  const bool none_started = absent.size() == ranks.size();
  if (absent.empty() || none_started) return findings;
  findings.push_back(problem("rank_absent",
                             (absent.size() == 1 ? "rank " : "ranks ") + join(absent, ", ") +
                                 " never started, or cannot write to the run's folder",
                             "the run's folder must be the same on all nodes"));
  return findings;
}

}  // namespace profline::ranks
