#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage.h"
#include "records/ranks.h"
#include "workloads/ranks/launch.h"

/// Stages on a program with ranks: the launcher starts all ranks at once, each of them runs as a
/// single process would, in a folder of its own, and afterwards each is read like a single process.
namespace profline::stages {

/// Whether the program has ranks.
bool has_ranks(const pipeline::RunSetup& setup);

/// The setup in which the stage's folder is that of one rank.
pipeline::RunSetup for_rank(const pipeline::RunSetup& setup, std::uint32_t rank);

/// The ranks that a stage observes: all in the baseline, the chosen ones under a profiler.
std::vector<std::uint32_t> observed_ranks(const pipeline::RunSetup& setup, std::string_view stage);

/// The rank whose files stand for the whole run in reports: the first that the stage observes.
std::uint32_t lead_rank(const pipeline::RunSetup& setup, std::string_view stage);

/// That the files at the top of the stage's folder are those of one rank.
pipeline::Finding lead_finding(const pipeline::RunSetup& setup, std::string_view stage);

/// How one rank runs.
struct RankRun {
  Command command;        ///< as of a program without ranks; with the profiler
  std::string session{};  ///< of nsys
  std::string sockets{};  ///< for traces on demand; empty: none
  std::vector<std::string> makers{};
};
/// How the rank of the context's setup runs if a profiler observes it.
using RankRunOf = std::function<RankRun(const pipeline::StageContext& context)>;

/// Problems that would stop a program with ranks; nothing for one without.
std::vector<pipeline::Finding> launch_preflight(const pipeline::StageContext& context);

/// Adds the launcher's command, and what it starts.
void add_launch(const pipeline::StageContext& context, std::string_view stage,
                const RankRunOf& run_of, pipeline::StagePlan& plan, const std::string& name = "",
                const std::string& condition = "");

/// A launch that ended.
struct Launched {
  Exit exit;  ///< of the launcher, which says little
  std::vector<std::optional<RankProcess>> ranks;

  /// As if the rank had been our own child; it ended badly if nothing is known of it.
  Exit exit_of(std::uint32_t rank, const std::filesystem::path& log) const;
};

/// Runs all ranks, reports those that failed, and writes ranks.json.
Result<Launched> launch(const pipeline::StageContext& context, std::string_view stage,
                        const pipeline::StagePlan& plan, const RankRunOf& run_of,
                        std::optional<ranks::OnDemandTask> on_demand, pipeline::StageRun& run,
                        const std::string& name = "");

/// A stage that reads what one rank left: what it reports and runs names the rank.
class OneRankRun final : public pipeline::StageRun {
 public:
  OneRankRun(pipeline::StageRun& run, std::uint32_t rank)
      : run_(run), who_("rank " + std::to_string(rank)) {}

  Result<Exit> execute(const pipeline::PlannedCommand& planned, RunObserver* observer) override;
  Result<std::unique_ptr<pipeline::StageChild>> start(const pipeline::PlannedCommand& planned,
                                                      RunObserver* observer) override;
  const Interrupt& interrupt() const override { return run_.interrupt(); }
  bool is_out_of_time() override { return run_.is_out_of_time(); }
  void transition(const std::string& name, const std::string& note) override;
  ProcessRunner& processes() override { return run_.processes(); }
  Progress& progress() override { return run_.progress(); }
  const Log& log() override { return run_.log(); }
  void report(pipeline::Finding finding) override;
  void skip(pipeline::Finding why) override { run_.skip(std::move(why)); }
  bool has_problem() const override { return run_.has_problem(); }
  void remember_session(const std::string& name) override { run_.remember_session(name); }
  void keep_capture(std::string sqlite, Timeline capture) override;
  const Timeline* kept_capture(std::string_view sqlite) const override;
  void read(const std::function<void()>& reading) override { run_.read(reading); }

 private:
  pipeline::PlannedCommand named(pipeline::PlannedCommand planned) const;

  pipeline::StageRun& run_;
  std::string who_;
};

/// The same findings, each of them naming the rank.
std::vector<pipeline::Finding> of_rank(std::vector<pipeline::Finding> findings, std::uint32_t rank);

/// Makes a file of a rank also one of the stage, without a second copy where the disk can link it.
/// Nothing happens if the rank has no such file.
Result<void> lift_file(const pipeline::RunSetup& setup, std::string_view stage, std::uint32_t rank,
                       const std::filesystem::path& name);

}  // namespace profline::stages
