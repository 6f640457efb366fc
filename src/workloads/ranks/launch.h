#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/document.h"
#include "schema/field.h"
#include "settings/ranks.h"

/// A program that a launcher (srun, mpirun, torchrun) starts once per rank. The launcher starts
/// `profline rank-exec` for every rank; that process finds out its rank, reads launch.json, and
/// runs the program as planned for that rank.
namespace profline::ranks {

/// What a rank's process does besides running the program.
struct RankTask {
  std::uint32_t rank = 0;
  bool profiled = false;
  std::string folder{};
  std::string log{};
  std::vector<std::string> prefix{};
  std::map<std::string, std::string> env{};
  std::string record_folder{};
  std::string session{};
  std::string sockets{};
  std::vector<std::string> makers{};

  bool operator==(const RankTask&) const = default;
};
constexpr auto fields(std::type_identity<RankTask>) {
  return field_list(
      field("rank", &RankTask::rank, "number among all ranks, from 0").required(),
      field("profiled", &RankTask::profiled, "whether a profiler observes it"),
      field("folder", &RankTask::folder, "where its files go").required(),
      field("log", &RankTask::log, "where its output goes").required(),
      field("prefix", &RankTask::prefix, "words ahead of the program: a profiler, its options"),
      field("env", &RankTask::env, "variables to add to the program's environment"),
      field("record_folder", &RankTask::record_folder, "where its processes record ranges"),
      field("session", &RankTask::session, "the session to end if nsys cannot"),
      field("sockets", &RankTask::sockets, "folder of the socket for traces on demand"),
      field("makers", &RankTask::makers,
            "how the Python processes that made requests were started: the adapter traces them"));
}

/// A trace on demand, as in every other run of the stage.
struct OnDemandTask {
  std::int64_t after_ms = 0;
  std::int64_t duration_ms = 0;
  bool cpu = true;
  bool cuda = true;
  bool shapes = false;
  bool memory = false;
  bool stacks = false;

  bool operator==(const OnDemandTask&) const = default;
};
constexpr auto fields(std::type_identity<OnDemandTask>) {
  return field_list(
      field("after_ms", &OnDemandTask::after_ms, "since the program's start").required(),
      field("duration_ms", &OnDemandTask::duration_ms, "of the trace").required(),
      field("cpu", &OnDemandTask::cpu, "whether to record operators"),
      field("cuda", &OnDemandTask::cuda, "whether to record the GPU"),
      field("shapes", &OnDemandTask::shapes, "whether to record shapes of inputs"),
      field("memory", &OnDemandTask::memory, "whether to record allocations"),
      field("stacks", &OnDemandTask::stacks, "whether to record stacks"));
}

/// `launch.json` in a stage's folder: it has no secrets, as the program's own words stay on the
/// command line.
struct LaunchTask {
  static constexpr DocumentKind kKind{"launch", 1};

  std::string stage{};
  settings::RankLauncher launcher = settings::RankLauncher::Srun;
  std::vector<RankTask> ranks{};
  std::optional<OnDemandTask> on_demand{};

  bool operator==(const LaunchTask&) const = default;
};
constexpr auto fields(std::type_identity<LaunchTask>) {
  return field_list(
      field("stage", &LaunchTask::stage, "baseline, torch_profiler, nsys").required(),
      field("launcher", &LaunchTask::launcher, "whose variables name the rank").required(),
      field("ranks", &LaunchTask::ranks, "one entry per rank").required(),
      field("on_demand", &LaunchTask::on_demand, "null: no traces on demand"));
}

/// The words that start `wrapper` once per rank: `srun --nodes=2 --ntasks=8 … profline rank-exec
/// launch.json -- program`.
std::vector<std::string> launcher_words(const settings::Ranks& ranks,
                                        const std::vector<std::string>& wrapper);

/// The command that a launcher runs for every rank.
std::vector<std::string> wrapper_words(const std::filesystem::path& profline,
                                       const std::filesystem::path& launch_file,
                                       const std::vector<std::string>& program);

/// The words of `command` ahead of `program`, with which it ends.
std::vector<std::string> words_ahead(const std::vector<std::string>& command,
                                     const std::vector<std::string>& program);

/// Where a rank's process runs, from the variables of its launcher.
struct RankPlace {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string node{};  ///< as Slurm names it; empty: not known

  bool operator==(const RankPlace&) const = default;
};

/// A variable of the environment; nothing: not set.
using Variable = std::optional<std::string> (*)(const char* name);

/// An Error if the launcher did not set its variables.
Result<RankPlace> place_of(settings::RankLauncher launcher, Variable variable);

}  // namespace profline::ranks
