#include "stages/ranks/ranked_stage.h"

#include <algorithm>
#include <array>

#include "base/atomic_file.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "workloads/program/environment.h"
#include "workloads/program/recording.h"
#include "workloads/ranks/outcome.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;

constexpr std::array<std::string_view, 3> kRankedStages = {
    run::stages::kBaseline, run::stages::kTorchProfiler, run::stages::kNsys};

const settings::Ranks& ranks_of(const RunSetup& setup) {
  return setup.settings.pipeline.workload.ranks;
}

std::string launcher_name(const RunSetup& setup) {
  return std::string(schema::name_of(*ranks_of(setup).launcher));
}

bool is_observed(const RunSetup& setup, std::string_view stage, std::uint32_t rank) {
  return stage == run::stages::kBaseline || ranks_of(setup).is_profiled(rank);
}

fs::path launch_file(const RunSetup& setup, std::string_view stage) {
  return setup.stage_folder(stage) / run::files::kLaunch;
}

std::string numbers(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> words;
  for (const std::uint32_t rank : ranks) {
    if (words.size() < kNamed) words.push_back(std::to_string(rank));
  }
  std::string text = (ranks.size() == 1 ? "rank " : "ranks ") + join(words, ", ");
  if (ranks.size() > words.size()) {
    text += " and " + std::to_string(ranks.size() - words.size()) + " more";
  }
  return text;
}

std::vector<std::string> program_of(const RunSetup& setup) {
  return setup.settings.pipeline.workload.user_command().value_or(std::vector<std::string>());
}

PlannedCommand launch_command(const StageContext& context, std::string_view stage) {
  const RunSetup& setup = context.setup;
  const fs::path self = context.tools.profline.empty() ? "profline" : context.tools.profline;
  PlannedCommand planned;
  planned.command.argv = ranks::launcher_words(
      ranks_of(setup), ranks::wrapper_words(self, launch_file(setup, stage), program_of(setup)));
  planned.command.cwd = (setup.cwd / setup.settings.pipeline.workload.cwd).lexically_normal();
  planned.command.log = setup.stage_folder(stage) / run::files::kLog;
  return planned;
}

/// `launch`, or `launch requests` if a stage has several.
std::string launch_name(const std::string& name) {
  return name.empty() ? "launch" : "launch " + name;
}

ranks::RankTask task_of(const StageContext& context, std::string_view stage, std::uint32_t rank,
                        const RankRunOf& run_of) {
  const RunSetup setup = for_rank(context.setup, rank);
  const RankRun own = run_of({setup, context.tools});
  ranks::RankTask task;
  task.rank = rank;
  task.folder = setup.stage_folder(stage).string();
  task.log = own.command.log.string();
  if (!is_observed(setup, stage, rank)) return task;
  task.profiled = stage != run::stages::kBaseline;
  task.prefix = ranks::words_ahead(own.command.argv, program_of(setup));
  task.env = own.command.env;
  const auto recorded = own.command.env.find(program::kRecordDir);
  if (recorded != own.command.env.end()) task.record_folder = recorded->second;
  task.session = own.session;
  task.sockets = own.sockets;
  task.makers = own.makers;
  return task;
}

/// Prepares the folders of the ranks, without what an earlier launch said about them.
Result<void> prepare_folders(const ranks::LaunchTask& task) {
  for (const ranks::RankTask& rank : task.ranks) {
    PL_TRY(create_folders(rank.folder));
    PL_TRY(create_folders(fs::path(rank.log).parent_path()));
    if (!rank.record_folder.empty()) PL_TRY(create_folders(rank.record_folder));
    std::error_code ignored;
    fs::remove(fs::path(rank.folder) / run::files::kRank, ignored);
    fs::remove(rank.log, ignored);
  }
  return {};
}

/// A launcher that is stopped may kill ranks before they can record why they end.
Result<void> note_stop(const fs::path& stage_folder,
                       std::vector<std::optional<RankProcess>>& records) {
  for (auto& record : records) {
    if (!record || ranks::end_of(*record) != ranks::RankEnd::Vanished) continue;
    record->stopped = true;
    PL_TRY(write_file_atomic(ranks::rank_folder(stage_folder, record->rank) / run::files::kRank,
                             PL_TRY(to_document(*record))));
  }
  return {};
}

/// How many ranges each rank completed; empty: not known of all of them.
std::vector<std::uint64_t> progress_of(const ranks::LaunchTask& task, const RunSetup& setup) {
  std::vector<std::uint64_t> progress;
  for (const ranks::RankTask& rank : task.ranks) {
    if (rank.record_folder.empty()) return {};
    const auto recording = program::read_recording(
        rank.record_folder, {.request_range = setup.settings.pipeline.workload.request_range});
    if (!recording || recording->range_processes == 0) return {};
    std::uint64_t ranges = 0;
    for (const NamedRanges& named : recording->ranges) ranges += named.instances - named.unfinished;
    progress.push_back(ranges);
  }
  return progress;
}

}  // namespace

bool has_ranks(const RunSetup& setup) {
  return ranks_of(setup).is_on();
}

RunSetup for_rank(const RunSetup& setup, std::uint32_t rank) {
  RunSetup changed = setup;
  changed.rank = rank;
  return changed;
}

std::vector<std::uint32_t> observed_ranks(const RunSetup& setup, std::string_view stage) {
  std::vector<std::uint32_t> observed;
  for (std::uint32_t rank = 0; rank < ranks_of(setup).count(); ++rank) {
    if (is_observed(setup, stage, rank)) observed.push_back(rank);
  }
  return observed;
}

std::uint32_t lead_rank(const RunSetup& setup, std::string_view stage) {
  return observed_ranks(setup, stage).front();
}

Finding lead_finding(const RunSetup& setup, std::string_view stage) {
  const std::string folder = (fs::path(stage) / run::folders::kRanks).string();
  return {Severity::Note, "lead_rank",
          "this stage's tables are those of rank " + std::to_string(lead_rank(setup, stage)) +
              "; those of every rank are in " + folder};
}

std::vector<Finding> launch_preflight(const StageContext& context) {
  const RunSetup& setup = context.setup;
  if (!has_ranks(setup)) return {};
  const std::string launcher = launcher_name(setup);
  const auto found = find_program(launcher);
  if (found) return {};
  return {{Severity::Problem, "launcher_absent",
           "pipeline.workload.ranks.launcher: " + found.error().message(),
           "install it, or choose another one; profline doctor shows which work here",
           ErrorKind::NotFound}};
}

void add_launch(const StageContext& context, std::string_view stage, const RankRunOf& run_of,
                pipeline::StagePlan& plan, const std::string& name, const std::string& condition) {
  const RunSetup& setup = context.setup;
  PlannedCommand planned = launch_command(context, stage);
  planned.name = launch_name(name);
  planned.condition = condition;
  plan.commands.push_back(std::move(planned));
  const std::vector<std::uint32_t> observed = observed_ranks(setup, stage);
  const RunSetup lead = for_rank(setup, observed.front());
  PlannedCommand example;
  example.name = "rank " + std::to_string(observed.front()) + (name.empty() ? "" : " " + name);
  example.command = run_of({lead, context.tools}).command;
  example.condition = "started by " + launcher_name(setup);
  if (observed.size() > 1) {
    example.condition += "; " + numbers({observed.begin() + 1, observed.end()}) + " likewise";
  }
  plan.commands.push_back(std::move(example));
  const std::uint32_t others =
      ranks_of(setup).count() - static_cast<std::uint32_t>(observed.size());
  const std::string limit = numbers(observed) + " (pipeline.workload.ranks.profile); " +
                            counted(others, "other rank") + (others == 1 ? " runs" : " run") +
                            " without a profiler";
  const bool is_known =
      std::find(plan.limits.begin(), plan.limits.end(), limit) != plan.limits.end();
  if (others > 0 && !is_known) plan.limits.push_back(limit);
  for (const char* artifact : {run::files::kLaunch, run::folders::kRanks}) {
    const bool is_there =
        std::find(plan.artifacts.begin(), plan.artifacts.end(), artifact) != plan.artifacts.end();
    if (!is_there) plan.artifacts.emplace_back(artifact);
  }
}

Exit Launched::exit_of(std::uint32_t rank, const fs::path& log) const {
  Exit own;
  const auto& record = ranks[rank];
  if (!record || !record->ended_ns) {
    own.signal = 9;
  } else {
    own.code = record->code;
    own.signal = record->signal;
    own.wall = std::chrono::nanoseconds(*record->ended_ns - record->started_ns);
  }
  const std::string text = read_file(log).value_or("");
  own.tail = text.substr(text.size() - std::min(text.size(), Exit::kTailBytes));
  return own;
}

Result<Launched> launch(const StageContext& context, std::string_view stage,
                        const pipeline::StagePlan& plan, const RankRunOf& run_of,
                        std::optional<ranks::OnDemandTask> on_demand, pipeline::StageRun& run,
                        const std::string& name) {
  const RunSetup& setup = context.setup;
  const settings::Ranks& settings = ranks_of(setup);
  ranks::LaunchTask task{.stage = std::string(stage), .launcher = *settings.launcher};
  task.on_demand = on_demand;
  PlannedCommand planned = plan.command(launch_name(name));
  for (std::uint32_t rank = 0; rank < settings.count(); ++rank) {
    task.ranks.push_back(task_of(context, stage, rank, run_of));
    planned.more_logs.emplace_back(task.ranks.back().log);
    if (!task.ranks.back().session.empty()) run.remember_session(task.ranks.back().session);
  }
  PL_TRY(prepare_folders(task));
  PL_TRY(write_private_file(launch_file(setup, stage), PL_TRY(to_document(task))));
  const Exit exit = PL_TRY(run.execute(planned));
  ranks::LaunchEnd end{.succeeded = exit.succeeded()};
  end.was_stopped = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  Launched launched{exit, ranks::read_ranks(setup.stage_folder(stage), settings.count())};
  if (end.was_stopped) PL_TRY(note_stop(setup.stage_folder(stage), launched.ranks));
  PL_TRY(write_file_atomic(
      setup.folder / run::files::kRanks,
      PL_TRY(to_document(ranks::collect(setup.folder, kRankedStages, settings)))));
  if (end.was_stopped) end.progress = progress_of(task, setup);
  const auto findings = ranks::findings_of(launched.ranks, end, setup.stage_folder(stage));
  for (const Finding& finding : findings) run.report(finding);
  for (const auto& record : launched.ranks) {
    if (!record) continue;
    for (Finding& finding : of_rank(record->findings, record->rank)) run.report(std::move(finding));
  }
  const bool is_explained = end.was_stopped || !findings.empty();
  if (!exit.succeeded() && !is_explained) run.report(child_problem(planned, exit));
  return launched;
}

Result<Exit> OneRankRun::execute(const PlannedCommand& planned, RunObserver* observer) {
  return run_.execute(named(planned), observer);
}

Result<std::unique_ptr<pipeline::StageChild>> OneRankRun::start(const PlannedCommand& planned,
                                                                RunObserver* observer) {
  return run_.start(named(planned), observer);
}

void OneRankRun::transition(const std::string& name, const std::string& note) {
  run_.transition(who_ + ": " + name, note);
}

void OneRankRun::report(Finding finding) {
  finding.text = who_ + ": " + finding.text;
  run_.report(std::move(finding));
}

void OneRankRun::keep_capture(std::string sqlite, Timeline capture) {
  run_.keep_capture(std::move(sqlite), std::move(capture));
}

const Timeline* OneRankRun::kept_capture(std::string_view sqlite) const {
  return run_.kept_capture(sqlite);
}

PlannedCommand OneRankRun::named(PlannedCommand planned) const {
  planned.name += " of " + who_;
  return planned;
}

std::vector<Finding> of_rank(std::vector<Finding> findings, std::uint32_t rank) {
  for (Finding& finding : findings) {
    finding.text = "rank " + std::to_string(rank) + ": " + finding.text;
  }
  return findings;
}

Result<void> lift_file(const RunSetup& setup, std::string_view stage, std::uint32_t rank,
                       const fs::path& name) {
  const fs::path from = for_rank(setup, rank).stage_folder(stage) / name;
  const fs::path to = setup.stage_folder(stage) / name;
  std::error_code failure;
  if (!fs::exists(from, failure)) return {};
  PL_TRY(create_folders(to.parent_path()));
  fs::remove(to, failure);
  fs::create_hard_link(from, to, failure);
  if (!failure) return {};
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot copy " + from.string() + ": " + failure.message());
  }
  return {};
}

}  // namespace profline::stages
