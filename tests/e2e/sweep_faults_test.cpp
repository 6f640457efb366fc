// Sweeps whose jobs, launcher or submission come to harm: exit codes, records and reports stay
// true.

#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "process/runner.h"
#include "run_folder.h"
#include "short_runs.h"
#include "started_profline.h"
#include "sweep/sweep.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using sweep::JobState;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class SweepFaults : public ShortRuns {
 protected:
  SweepFaults() { fs::create_directory(folder_ / "bin"); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
  void touch(const std::string& name) { write_files(folder_.path(), {{name, ""}}); }

  /// The words of a sweep whose jobs run these lines of shell.
  Words sweep_of(const std::string& launcher, const Words& jobs, Words more = {}) const {
    std::string command = "pipeline.workload.command=";
    for (const std::string& job : jobs) {
      command += std::string(&job == &jobs.front() ? "" : ",") + "[sh,-c,'" + job + "']";
    }
    Words words = {"run", "-cn", "single", "-m", "hydra/launcher=" + launcher, command};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string works_until_stopped() const { return "touch " + at("began") + "; exec sleep 1000"; }
  bool waits_for(const std::string& file, const Started& profline) {
    return comes_true([&] { return exists(file); }, &profline);
  }
  Outcome of_sweep(const std::string& verb) {
    return run_profline_in(folder_.path(), {"sweep", verb, "sweep"});
  }

  /// What sweep.json says without anybody being asked.
  std::vector<JobState> reported() const {
    std::vector<JobState> states;
    const auto record = sweep::read_sweep(folder_ / "sweep");
    EXPECT_TRUE(record) << record.error().to_string();
    if (!record) return states;
    for (const sweep::Job& job : record->jobs) states.push_back(job.status.state);
    return states;
  }

  /// A program of Slurm for the next launch.
  void write_slurm_program(const std::string& name, const std::string& script) {
    write_files(folder_.path(), {{"bin/" + name, "#!/bin/sh\n" + script}});
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }
  std::string path_with_slurm() const { return at("bin") + ":" + own_path(); }
  Outcome submit(const std::map<std::string, std::string>& env = {}) {
    Command command{
        .argv = {"run", "-cn", "single", "-m", "hydra/launcher=slurm", "experiment=a,b"}};
    command.argv.insert(command.argv.begin(), profline_program().string());
    command.cwd = folder_.path();
    command.env = env;
    command.env["PATH"] = path_with_slurm();
    return run_command(command);
  }
};

TEST_F(SweepFaults, AJobThatCannotStartHasFailed) {
  const std::string copy = at("profline");
  for (const Words& harm : {Words{"rm", copy}, Words{"ln", "-sf", "/bin/false", copy}}) {
    SCOPED_TRACE(harm.front());
    fs::remove(copy);
    fs::remove_all(folder_ / "sweep");
    fs::copy_file(profline_program(), copy);
    Words words = sweep_of("local", {"exec " + join(harm, " "), "true"});
    words.insert(words.begin(), copy);
    const Outcome outcome = run_command({.argv = words, .cwd = folder_.path()});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("1 ok, 1 failed"));
    EXPECT_THAT(outcome.err, HasSubstr(" : failed: could not start: "));
    EXPECT_THAT(reported(), ElementsAre(JobState::Ok, JobState::Failed));
    EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("failed: could not start: "));
    EXPECT_EQ(of_sweep("wait").code, 1);
  }
}

TEST_F(SweepFaults, JobsOfProcessesRunAtOnce) {
  // Each waits for the other: one after another they would reach their time limit.
  const auto meets = [&](const std::string& own, const std::string& other) {
    return "touch " + at(own) + "; until [ -e " + at(other) + " ]; do sleep 0.02; done";
  };
  Words words = sweep_of("local", {meets("a", "b"), meets("b", "a")},
                         {"hydra.launcher.n_jobs=2", "pipeline.baseline.timeout=60"});
  const Outcome outcome = run_profline_in(folder_.path(), words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(reported(), ElementsAre(JobState::Ok, JobState::Ok));
}

TEST_F(SweepFaults, AfterAnInterruptTheReportSaysThatJobsWereCancelled) {
  for (const char* launcher : {"basic", "local"}) {
    SCOPED_TRACE(launcher);
    fs::remove_all(folder_ / "sweep");
    fs::remove(folder_ / "began");
    Started profline(folder_.path(), sweep_of(launcher, {works_until_stopped(), "true", "true"}));
    ASSERT_TRUE(waits_for("began", profline)) << text_of("err");
    EXPECT_EQ(profline.end(SIGINT), 130);
    EXPECT_THAT(reported(),
                ElementsAre(JobState::Cancelled, JobState::Cancelled, JobState::Cancelled));
    EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("3 jobs: 3 cancelled."));
  }
}

TEST_F(SweepFaults, ASweepThatIgnoresCtrlCIsCancelled) {
  // As a script starts it with `&`.
  for (const char* launcher : {"basic", "local"}) {
    SCOPED_TRACE(launcher);
    fs::remove_all(folder_ / "sweep");
    fs::remove(folder_ / "began");
    Started profline(folder_.path(), sweep_of(launcher, {works_until_stopped(), "true"}), {},
                     {SIGINT});
    ASSERT_TRUE(waits_for("began", profline)) << text_of("err");
    EXPECT_EQ(of_sweep("cancel").out, "cancelled 2 jobs\n");
    ASSERT_TRUE(profline.ends_within(60s));
    EXPECT_EQ(profline.end(0), 130);
    EXPECT_THAT(reported(), ElementsAre(JobState::Cancelled, JobState::Cancelled));
    EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("2 jobs: 2 cancelled."));
  }
}

TEST_F(SweepFaults, AKilledJobIsReportedAsKilledAndTheOthersRun) {
  Started profline(folder_.path(), sweep_of("local", {works_until_stopped(), "true"}));
  ASSERT_TRUE(waits_for("began", profline)) << text_of("err");
  const auto task = sweep::read_task(folder_ / "sweep", 0);
  ASSERT_TRUE(task && !task->attempts.empty());
  ASSERT_EQ(::kill(static_cast<pid_t>(task->attempts.back().process.pid), SIGKILL), 0);
  ASSERT_TRUE(profline.ends_within(60s));
  EXPECT_EQ(profline.end(0), 1);
  EXPECT_THAT(reported(), ElementsAre(JobState::Killed, JobState::Ok));
  EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("2 jobs: 1 ok, 1 killed."));
}

TEST_F(SweepFaults, OfAKilledLauncherNoJobIsSaidToWait) {
  Started profline(folder_.path(), sweep_of("local", {"true", works_until_stopped(), "true"}));
  ASSERT_TRUE(waits_for("began", profline)) << text_of("err");
  EXPECT_EQ(profline.end(SIGKILL), -SIGKILL);
  ASSERT_TRUE(comes_true([&] { return processes_of(folder_ / "sweep").empty(); }));
  EXPECT_EQ(of_sweep("report").code, 0);
  // The one that ran was told to stop by the process that guarded it, if there was time for it.
  EXPECT_THAT(reported(), ElementsAre(JobState::Ok, AnyOf(JobState::Killed, JobState::Cancelled),
                                      JobState::Killed));
  EXPECT_NE(of_sweep("wait").code, 0);
}

TEST_F(SweepFaults, ASubmissionThatIsInterruptedKnowsItsJob) {
  write_slurm_program("sbatch", "touch " + at("asked") + "; until [ -e " + at("go") +
                                    " ]; do sleep 0.02; done; echo 77\n");
  Started profline(folder_.path(),
                   {"run", "-cn", "single", "-m", "hydra/launcher=slurm", "experiment=a,b"},
                   {{"PATH", path_with_slurm()}});
  ASSERT_TRUE(waits_for("asked", profline)) << text_of("err");
  ASSERT_EQ(::kill(profline.pid(), SIGINT), 0);
  touch("go");
  ASSERT_TRUE(profline.ends_within(60s));
  EXPECT_EQ(profline.end(0), 130);
  const auto record = sweep::read_sweep(folder_ / "sweep");
  ASSERT_TRUE(record) << record.error().to_string() << text_of("err");
  EXPECT_EQ(record->submissions.front().slurm_job, "77");
  EXPECT_THAT(text_of("err"), HasSubstr("the jobs are in Slurm's queue"));
}

TEST_F(SweepFaults, ASubmissionThatSlurmRefusesLeavesNothing) {
  write_slurm_program(
      "sbatch", "echo 'sbatch: error: Batch job submission failed: Invalid qos' >&2; exit 1\n");
  const Outcome outcome = submit();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("submitting the sweep: "));
  EXPECT_THAT(left(), ElementsAre("bin"));
}

TEST_F(SweepFaults, ASubmissionThatSlurmMayHaveTakenIsKept) {
  write_slurm_program("sbatch",
                      "echo 'sbatch: error: Batch job submission failed: Socket timed out on "
                      "send/recv operation' >&2; exit 1\n");
  const Outcome outcome = submit();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Slurm may have taken the jobs all the same"));
  const auto record = sweep::read_sweep(folder_ / "sweep");
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->submissions.size(), 1U);
}

TEST_F(SweepFaults, ASubmissionThatCannotBeRecordedIsTakenBack) {
  write_slurm_program(
      "sbatch", "cd " + at("sweep") + " && rm sweep.json && mkdir -p sweep.json/x && echo 77\n");
  write_slurm_program("scancel", "echo \"$@\" >" + at("cancelled") + "\n");
  const Outcome outcome = submit();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(text_of("cancelled"), "77_[0-1]\n") << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Slurm job 77 was cancelled"));
}

TEST_F(SweepFaults, VariablesDoNotOverrideTheBatchScript) {
  write_slurm_program("sbatch", "env | grep ^SBATCH_ | sort >" + at("variables") + "; echo 77\n");
  ASSERT_EQ(submit({{"SBATCH_TIMELIMIT", "1"},
                    {"SBATCH_ARRAY_INX", "5"},
                    {"SBATCH_OUTPUT", "x"},
                    {"SBATCH_NO_REQUEUE", "1"},
                    {"SBATCH_WAIT", "1"},
                    {"SBATCH_PARTITION", "mine"}})
                .code,
            0);
  EXPECT_EQ(text_of("variables"), "SBATCH_PARTITION=mine\n") << "hydra.launcher does not set it";
}

TEST_F(SweepFaults, ARetryThatLacksASecretSaysSo) {
  ASSERT_EQ(run("single", {"-m", "-q", "pipeline.workload.command=['true'],['false']",
                           "+vars.api_token=hunter2hunter2"})
                .code,
            1);
  const Outcome retry = of_sweep("retry");
  EXPECT_EQ(retry.code, 2);
  EXPECT_EQ(retry.err,
            "profline: job 1: the record of the sweep does not have the value of "
            "'vars.api_token', which looked like a secret; start the sweep again, or refer to a "
            "variable instead: vars.api_token='${oc.env:NAME}'\n");
}

}  // namespace
}  // namespace profline::e2e
