// Sweeps, requested on the command line or in the config.

#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "run_folder.h"
#include "short_runs.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Sweep : public ShortRuns {
 protected:
  Sweep() {
    write_files(folder_.path(),
                {{"conf/swept.yaml", std::string(kShortRun) + "  mode: MULTIRUN\n"
                                                              "  sweeper:\n"
                                                              "    params:\n"
                                                              "      experiment: one,two\n"
                                                              "      +vars.size: range(1,3)\n"}});
  }

  /// The lines about jobs, without times.
  static std::vector<std::string> job_lines(const Outcome& outcome) {
    static const std::regex kTime(", [0-9.]+ (s|min)$");
    std::vector<std::string> lines;
    std::istringstream text(outcome.err);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with('#')) lines.push_back(std::regex_replace(line, kTime, ""));
    }
    return lines;
  }
};

TEST_F(Sweep, OfTheConfigRunsAJobForEachCombinationAndShowsIt) {
  const Outcome outcome = run("swept", {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      job_lines(outcome),
      ElementsAre("#0 : experiment=one vars.size=1 : ok", "#1 : experiment=one vars.size=2 : ok",
                  "#2 : experiment=two vars.size=1 : ok", "#3 : experiment=two vars.size=2 : ok"));
  EXPECT_THAT(outcome.err,
              StartsWith("4 jobs in " + fs::canonical(folder_ / "sweep").string() + "\n"));
  EXPECT_EQ(record_of(folder_ / "sweep/0").experiment, "one");
  EXPECT_EQ(record_of(folder_ / "sweep/3").experiment, "two");
  EXPECT_EQ(text_of("sweep/3/overrides.yaml"), "- experiment=two\n- +vars.size=2\n");
  EXPECT_EQ(text_of("run/run.json"), "absent");
}

TEST_F(Sweep, OfTheConfigYieldsToTheCommandLine) {
  const Outcome fewer = run("swept", {"experiment=three", "hydra.sweep.dir=a"});
  ASSERT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_THAT(job_lines(fewer), ElementsAre("#0 : vars.size=1 : ok", "#1 : vars.size=2 : ok"));
  EXPECT_EQ(record_of(folder_ / "a/1").experiment, "three");
  const Outcome single = run("swept", {"hydra.mode=RUN"});
  ASSERT_EQ(single.code, 0) << single.err;
  EXPECT_THAT(job_lines(single), ElementsAre());
  EXPECT_EQ(record_of(folder_ / "run").experiment, "demo");
}

TEST_F(Sweep, OfOneJobAfterAnotherHasALineForEach) {
  const std::vector<std::string> words = {"-m", "pipeline.workload.command=['true'],['false']",
                                          "experiment=constant"};
  const Outcome outcome = run("single", words);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(job_lines(outcome),
              ElementsAre("#0 : pipeline.workload.command=['true'] : ok",
                          StartsWith("#1 : pipeline.workload.command=['false'] : failed: stage "
                                     "baseline failed: workload (false) exited with code 1")));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("\nbaseline ")));
  std::vector<std::string> verbose = words;
  verbose.insert(verbose.end(), {"-v", "hydra.sweep.dir=shown"});
  const Outcome shown = run("single", verbose);
  EXPECT_THAT(shown.err, HasSubstr("\n#0 : pipeline.workload.command=['true']\n"));
  EXPECT_THAT(shown.err, HasSubstr("\nbaseline          ok "));
}

TEST_F(Sweep, OfTheCommandLineNeedsNoModeAndOverridesIt) {
  const Outcome asked = run("single", {"-m", "experiment=a,b", "-q"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_EQ(asked.err, "");
  EXPECT_EQ(record_of(folder_ / "sweep/1").experiment, "b");
  const Outcome overridden =
      run("single", {"-m", "hydra.mode=RUN", "experiment=c", "hydra.sweep.dir=other"});
  ASSERT_EQ(overridden.code, 0) << overridden.err;
  EXPECT_THAT(overridden.err,
              StartsWith("profline: warning: --multirun overrides hydra.mode, which is RUN\n"
                         "1 job in "));
  EXPECT_THAT(overridden.err, HasSubstr("\n#0 : experiment=c : ok, "));
  EXPECT_EQ(record_of(folder_ / "other/0").experiment, "c");
}

TEST_F(Sweep, IsPlannedJobByJobWithoutMultirun) {
  const Outcome plan = run_profline_in(
      folder_.path(), {"plan", "-cn", "swept", "hydra.sweeper.params={experiment:'x,y'}"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const std::string sweep = (fs::canonical(folder_.path()) / "sweep").string();
  EXPECT_THAT(plan.out,
              StartsWith("#0 : experiment=x +vars.size=1\nrun directory: " + sweep + "/0\n"));
  EXPECT_THAT(plan.out,
              HasSubstr("\n#3 : experiment=y +vars.size=2\nrun directory: " + sweep + "/3\n"));
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(Sweep, ChecksAllJobsBeforeTheFirstStarts) {
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string err;
  };
  const std::string sweep = (fs::canonical(folder_.path()) / "sweep").string();
  const Case cases[] = {
      {{"pipeline.baseline.timeout=1,0,-1"},
       2,
       "profline: job 1: override 1:1:27: pipeline.baseline.timeout: must be a number of "
       "seconds > 0 or null, not 0\n"
       "  pipeline.baseline.timeout=0\n"
       "                            ^\n"
       "profline: job 2: override 1:1:27: pipeline.baseline.timeout: must be a number of "
       "seconds > 0 or null, not -1\n"
       "  pipeline.baseline.timeout=-1\n"
       "                            ^\n"},
      {{"experiment=a,b", "pipeline.baseline.timeout=0"},
       2,
       "profline: jobs 0, 1: override 2:1:27: pipeline.baseline.timeout: must be a number of "
       "seconds > 0 or null, not 0\n"
       "  pipeline.baseline.timeout=0\n"
       "                            ^\n"},
      {{"experiment=a,b", "hydra.sweep.subdir=same"},
       2,
       "profline: job 1: hydra.sweep.subdir names the folder of job 0 again: '" + sweep +
           "/same'\n"},
      {{"hydra.sweeper.params={experiment:'[1'}"},
       2,
       "profline: override 1:1:34: hydra.sweeper.params:1:14: expected ',' or ']', found the end\n"
       "  experiment=[1\n"
       "               ^\n"},
      {{"hydra.sweeper.max_batch_size=0"},
       2,
       "profline: the size of a batch must be above 0, is 0\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    std::vector<std::string> words = c.words;
    words.emplace_back("-m");
    const Outcome outcome = run("single", words);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.err, c.err);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(left(), ElementsAre());
  }
  const Outcome absent = run("single", {"-m", "pipeline.workload.command=[cat],[no-such-program]"});
  EXPECT_EQ(absent.code, 3);
  EXPECT_THAT(absent.err, StartsWith("profline: job 1: stage baseline: cannot run "
                                     "'no-such-program': not found in PATH ("));
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(Sweep, WithASweeperOfPythonIsRefused) {
  write_files(folder_.path(), {{"conf/hydra/sweeper/optuna.yaml",
                                "_target_: hydra_plugins.hydra_optuna_sweeper.OptunaSweeper\n"
                                "params: {}\n"}});
  const Outcome outcome = run("single", {"-m", "hydra/sweeper=optuna"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "profline: conf/hydra/sweeper/optuna.yaml:1:11: the sweeper "
            "'hydra_plugins.hydra_optuna_sweeper.OptunaSweeper' is Python; profline has Hydra's "
            "basic sweeper only\n");
}

TEST_F(Sweep, OfProcessesRunsJobsAtOnceAndReportsThem) {
  const Outcome outcome = run("single", {"-m", "hydra/launcher=local", "hydra.launcher.n_jobs=2",
                                         "pipeline.workload.command=['true'],['false']"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("jobs              1 ok, 1 failed\n"));
  EXPECT_THAT(outcome.err, HasSubstr("#0 : pipeline.workload.command=['true'] : ok, "));
  EXPECT_THAT(outcome.err, HasSubstr("#1 : pipeline.workload.command=['false'] : failed: stage "
                                     "baseline failed: workload (false) exited with code 1"));
  EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("2 jobs: 1 ok, 1 failed."));
  EXPECT_NE(text_of("sweep/sweep.html"), "absent");

  const Outcome status = run_profline_in(folder_.path(), {"sweep", "status", "sweep"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("2 jobs: 1 ok, 1 failed\n"));
  EXPECT_EQ(run_profline_in(folder_.path(), {"sweep", "wait", "sweep"}).code, 1);
  EXPECT_EQ(run_profline_in(folder_.path(), {"sweep", "cancel", "sweep"}).out,
            "all jobs have ended\n");
  // Only the job that failed runs again.
  EXPECT_EQ(run_profline_in(folder_.path(), {"sweep", "retry", "sweep"}).code, 1);
  EXPECT_THAT(record_of(folder_ / "sweep/0").resumed, ElementsAre());
  EXPECT_EQ(record_of(folder_ / "sweep/1").resumed.size(), 1U);
  const Outcome again = run_profline_in(folder_.path(), {"sweep", "run", "sweep", "0"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("this job is already done"));
}

TEST_F(Sweep, OfTheBasicLauncherHasAReportToo) {
  ASSERT_EQ(run("single", {"-m", "experiment=a,b", "-q"}).code, 0);
  EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("2 jobs: 2 ok."));
  const Outcome runs = run_profline_in(folder_.path(), {"runs", "--root", "."});
  EXPECT_THAT(runs.out, HasSubstr("experiment=b"));
  const Outcome retry = run_profline_in(folder_.path(), {"sweep", "retry", "sweep"});
  EXPECT_EQ(retry.code, 3);
  EXPECT_EQ(retry.err, "profline: no job of this sweep has failed: 2 ok\n");
  for (const char* command : {"report", "cancel", "retry", "status", "wait"}) {
    EXPECT_EQ(run_profline_in(folder_.path(), {"sweep", command, "."}).code, 3) << command;
  }
  EXPECT_EQ(text_of(".sweep/lock"), "absent") << "a folder that is not a sweep is left alone";
}

TEST_F(Sweep, WithNestedFoldersIsFoundAndLabelled) {
  ASSERT_EQ(run("single", {"-m", "-q", "experiment=a,b", "+vars.size=x,y",
                           "hydra.sweep.subdir='${experiment}/size=${vars.size}'"})
                .code,
            0);
  const Outcome runs = run_profline_in(folder_.path(), {"runs", "--root", ".", "--format", "json"});
  ASSERT_EQ(runs.code, 0) << runs.err;
  const auto list = parse_json(runs.out, "runs");
  ASSERT_TRUE(list) << list.error().to_string();
  std::vector<std::string> found;
  for (const Node& entry : list->find("runs")->as_list()) {
    found.push_back(entry.find("folder")->as_string() + ": " + entry.find("swept")->as_string());
  }
  EXPECT_THAT(found, ElementsAre("sweep/b/size=y: experiment=b vars.size=y",
                                 "sweep/b/size=x: experiment=b vars.size=x",
                                 "sweep/a/size=y: experiment=a vars.size=y",
                                 "sweep/a/size=x: experiment=a vars.size=x"));
}

TEST_F(Sweep, ForSlurmIsShownWithItsScript) {
  const Outcome plan = run_profline_in(
      folder_.path(),
      {"run", "--dry-run", "-cn", "single", "-m", "hydra/launcher=submitit_slurm", "experiment=a,b",
       "hydra.launcher.gpus_per_node=2", "hydra.launcher.setup=[module load cuda]"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("#1 : experiment=b\n"));
  EXPECT_THAT(plan.out, HasSubstr("\nbatch script:\n#!/bin/bash\n"));
  EXPECT_THAT(plan.out, HasSubstr("#SBATCH --array='0-1%256'\n"));
  EXPECT_THAT(plan.out, HasSubstr("#SBATCH --gpus-per-node='2'\n"));
  EXPECT_THAT(plan.out, HasSubstr("\nmodule load cuda\nexec '"));
  EXPECT_THAT(plan.err, ::testing::Not(HasSubstr("warning")));
  EXPECT_THAT(left(), ElementsAre());
  const Outcome wrong =
      run("single", {"-m", "hydra/launcher=slurm", "experiment=a,b", "+hydra.launcher.partiton=x"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("hydra.launcher: unknown key 'partiton' (did you mean "
                                   "'partition'?)"));
}

TEST_F(Sweep, KeepsSecretsOutOfItsFiles) {
  const Outcome refused = run(
      "single", {"-m", "hydra/launcher=local", "experiment=a,b", "+vars.api_token=hunter2hunter2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("jobs 0, 1: the override of 'vars.api_token' looks like a "
                                     "secret"));
  EXPECT_THAT(left(), ElementsAre());
  ASSERT_EQ(run("single", {"-m", "-q", "experiment=a,b", "+vars.api_token=hunter2hunter2"}).code,
            0);
  EXPECT_THAT(text_of("sweep/sweep.json"), ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(Sweep, IsComparedJobByJobWithAnother) {
  const std::vector<std::string> swept = {"-m", "-q", "pipeline.workload.command=['true'],[echo]"};
  for (const char* name : {"a", "b"}) {
    std::vector<std::string> words = swept;
    words.push_back("hydra.sweep.dir=" + std::string(name));
    ASSERT_EQ(run("single", words).code, 0);
  }
  const Outcome both = run_profline_in(folder_.path(), {"compare", "a", "b", "--fail-on", "never"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("pipeline.workload.command=['true']"));
  EXPECT_THAT(both.out, HasSubstr("wall_ms"));
  const Outcome data = run_profline_in(
      folder_.path(), {"compare", "a", "b", "--fail-on", "never", "--format", "json"});
  EXPECT_EQ(data.code, 0) << data.err;
  EXPECT_THAT(data.out, StartsWith("{\n  \"schema\": \"profline.sweep_comparison/1\",\n"));
  EXPECT_TRUE(parse_json(data.out, "stdout")) << data.out;
  const Outcome one = run_profline_in(folder_.path(), {"compare", "a", "b/0"});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, HasSubstr("'a' is a sweep of different jobs, and 'b/0' is not"));
}

TEST_F(Sweep, IsComparedByItsSweptKeysWhateverElseDiffers) {
  const std::string swept = "pipeline.workload.command=['true'],[echo]";
  for (const std::string name : {"before", "after"}) {
    const Outcome outcome =
        run("single", {"-m", "-q", swept, "experiment=" + name, "hydra.sweep.dir=" + name});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  const auto compared = [&](const std::string& b, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"compare", "before", b, "--fail-on", "never"};
    words.insert(words.end(), more.begin(), more.end());
    return run_profline_in(folder_.path(), words);
  };
  const Outcome same_keys = compared("after", {"--format", "json"});
  ASSERT_EQ(same_keys.code, 0) << same_keys.err;
  const auto pairs = parse_json(same_keys.out, "compare");
  ASSERT_TRUE(pairs) << pairs.error().to_string();
  EXPECT_EQ(pairs->find_path("pairs.0.overrides")->as_string(),
            "pipeline.workload.command=['true']");
  EXPECT_EQ(pairs->find_path("pairs.1.overrides")->as_string(), "pipeline.workload.command=[echo]");
  EXPECT_EQ(pairs->find("pairs")->as_list().size(), 2U);
  EXPECT_EQ(pairs->find("only_a")->as_list().size(), 0U);
  EXPECT_EQ(pairs->find("only_b")->as_list().size(), 0U);
  EXPECT_THAT(compared("after").out, ::testing::Not(HasSubstr("experiment=")));

  // Another key is swept: then all overrides count.
  ASSERT_EQ(
      run("single", {"-m", "-q", swept, "experiment=before,new", "hydra.sweep.dir=more"}).code, 0);
  const Outcome other_keys = compared("more");
  EXPECT_EQ(other_keys.code, 0) << other_keys.err;
  EXPECT_THAT(other_keys.out, HasSubstr("experiment=before pipeline.workload.command=['true']"));
  EXPECT_THAT(other_keys.out,
              HasSubstr("only in B: experiment=new pipeline.workload.command=['true']\n"
                        "only in B: experiment=new pipeline.workload.command=[echo]\n"));
}

TEST_F(Sweep, IsAnnouncedByCommandsThatRunOneJob) {
  const Outcome outcome = run_profline_in(folder_.path(), {"infer", "-cn", "swept"});
  EXPECT_THAT(
      outcome.err,
      StartsWith("profline: warning: hydra.mode is MULTIRUN, but this command runs one job\n"));
}

}  // namespace
}  // namespace profline::e2e
