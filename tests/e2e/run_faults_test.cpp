// What a run reports and leaves on disk when something goes wrong.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/files.h"
#include "interrupt_moments.h"
#include "nsight_tools.h"
#include "run/run.h"
#include "run_folder.h"
#include "started_profline.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(RunFaults, TheEndOfTheWorkloadIsReportedAsItWas) {
  struct Case {
    const char* name;
    const char* command;
    StageState state;
    const char* code;
    const char* text;
  };
  constexpr Case kCases[] = {
      {"segv", "[sh,-c,'kill -SEGV $$']", StageState::Failed, "child_killed",
       "workload (sh) killed by SIGSEGV"},
      {"kill", "[sh,-c,'kill -KILL $$']", StageState::Failed, "child_killed",
       "workload (sh) killed by SIGKILL"},
      {"code", "[sh,-c,'echo no room >&2; exit 9']", StageState::Failed, "child_failed",
       "workload (sh) exited with code 9: no room"},
      {"memory", "[sh,-c,'ulimit -v 65536; exec python3 -c \"bytearray(10**9)\"']",
       StageState::Failed, "child_failed", "workload (sh) exited with code 1: MemoryError"},
      {"hang", "[sleep,'1000']", StageState::TimedOut, "timeout",
       "workload was ended after 0.3 s, the stage's timeout; what it captured is kept"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const testing::TempDir folder;
    const std::string limit = c.state == StageState::TimedOut ? "0.3" : "null";
    const Outcome outcome = run_profline_in(
        folder.path(), own_command_run(c.command, {"pipeline.baseline.timeout=" + limit}));
    EXPECT_EQ(outcome.code, 1);
    const RunRecord record = record_of(folder / "run");
    EXPECT_EQ(record.state, RunState::Failed);
    EXPECT_EQ(record.exit_code, 1);
    const StageRecord* stage = record.find_stage("baseline");
    ASSERT_NE(stage, nullptr);
    EXPECT_EQ(stage->state, c.state);
    ASSERT_FALSE(stage->findings.empty());
    EXPECT_EQ(stage->findings[0].code, c.code);
    EXPECT_THAT(stage->findings[0].text, StartsWith(c.text));
    EXPECT_THAT(outcome.err, HasSubstr(c.text));
    EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
    EXPECT_TRUE(fs::exists(folder / "run/baseline/process.json"));
  }
}

TEST(RunFaults, ABuiltInWorkloadOutOfMemoryFailsItsStage) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const testing::TempDir folder;
  const fs::path program =
      workload_script(folder.path(), "ulimit -v 400000; exec \"$REAL\" \"$@\"");
  const Outcome outcome = run_profline_in(
      folder.path(), tiny_run({"pipeline.baseline.enable=true", "--workload", program.string()}));
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const RunRecord record = record_of(folder / "run");
  EXPECT_EQ(state_of(record, "baseline"), StageState::Failed);
  const StageRecord* stage = record.find_stage("baseline");
  ASSERT_NE(stage, nullptr);
  for (const Finding& finding : stage->findings) {
    EXPECT_THAT(finding.text, ::testing::Not(HasSubstr("frame #")));
  }
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

/// A control group below our own with a memory limit, while it lives; `why_not` if the machine has
/// no usable version 2 memory controller.
class SmallGroup {
 public:
  explicit SmallGroup(const std::string& bytes) {
    const std::string groups = read_file("/proc/self/cgroup").value_or("");
    const std::size_t at = groups.find("0::/");
    const fs::path own =
        "/sys/fs/cgroup" / fs::path(groups.substr(at + 4, groups.find('\n', at) - at - 4));
    if (at == std::string::npos || !fs::exists(own / "cgroup.subtree_control")) {
      why_not = "no control groups of version 2 at /sys/fs/cgroup";
      return;
    }
    folder = own / ("profline-test-" + std::to_string(::getpid()));
    std::error_code failure;
    if (!fs::create_directory(folder, failure)) {
      why_not = "no control group can be made below our own: " + failure.message();
    } else if (!fs::exists(folder / "memory.max")) {
      why_not = "the memory controller is not passed on to groups below our own";
    } else {
      std::ofstream(folder / "memory.max") << bytes << std::flush;
    }
  }
  ~SmallGroup() {
    if (!folder.empty()) ::rmdir(folder.c_str());
  }
  SmallGroup(const SmallGroup&) = delete;
  SmallGroup& operator=(const SmallGroup&) = delete;

  fs::path folder;
  std::string why_not;
};

TEST(RunFaults, AWorkloadThatReachesTheLimitOfItsGroupIsOutOfMemory) {
  const SmallGroup group("100M");
  if (!group.why_not.empty()) GTEST_SKIP() << group.why_not;
  const testing::TempDir folder;
  // profline joins the group as well, as under a job scheduler.
  Command job;
  job.cwd = folder.path();
  job.argv = {"sh", "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"", group.folder.string(),
              profline_program().string()};
  const auto words =
      own_command_run(R"([perl,-e,'my @kept; push @kept, chr(65) x 10000000 while 1'])");
  job.argv.insert(job.argv.end(), words.begin(), words.end());
  const Outcome outcome = run_command(job);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const RunRecord record = record_of(folder / "run");
  const StageRecord* stage = record.find_stage("baseline");
  ASSERT_NE(stage, nullptr);
  ASSERT_EQ(stage->findings.size(), 2U);
  EXPECT_EQ(stage->findings[0].code, "out_of_memory");
  EXPECT_THAT(
      stage->findings[0].text,
      StartsWith("workload: out of memory: the kernel killed one of its processes with SIGKILL "
                 "because its control group reached its memory limit (largest resident set "));
  EXPECT_EQ(stage->findings[1].text, "workload (perl) killed by SIGKILL");
  EXPECT_EQ(record.state, RunState::Failed);
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST(RunFaults, AFolderThatCannotBeMadeIsOneError) {
  const testing::TempDir folder;
  std::vector<std::string> words = own_command_run("[cat]", {"hydra.run.dir=/proc/no/run"});
  const Outcome outcome = run_profline_in(folder.path(), words);
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, StartsWith("profline: cannot create the folder /proc/no"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(RunFaults, AFullDiskIsReportedInTheRunsRecord) {
  const testing::TempDir folder;
  const std::string said = testing::in_child([&]() -> std::string {
    const std::string why = testing::mount_small_tmpfs(folder.path().string(), 24U << 20U);
    if (!why.empty()) return "skip: " + why;
    const Outcome outcome = run_profline_in(
        folder.path(),
        own_command_run("[sh,-c,'dd if=/dev/zero of=fill bs=64k 2>/dev/null; true']"));
    if (outcome.code != 1) return "exit code " + std::to_string(outcome.code) + outcome.err;
    const auto record = run::read_record(folder / "run");
    if (!record) return record.error().to_string();
    if (record->state != RunState::Failed) return "state " + std::string(to_text(record->state));
    if (state_of(*record, "baseline") != StageState::Failed) return "the stage has not failed";
    fs::remove(folder / "fill");
    const std::vector<std::string> damage = damage_in(folder / "run");
    return damage.empty() ? "fine" : damage.front();
  });
  if (said.starts_with("skip: ")) GTEST_SKIP() << said.substr(6);
  EXPECT_EQ(said, "fine");
}

TEST(RunFaults, ADiskWithoutInodesIsReportedAsThatInTheRunsRecord) {
  const testing::TempDir folder;
  const std::string said = testing::in_child([&]() -> std::string {
    const std::string why =
        testing::mount_small_tmpfs(folder.path().string(), 64U << 20U, "nr_inodes=200");
    if (!why.empty()) return "skip: " + why;
    const Outcome outcome = run_profline_in(
        folder.path(),
        own_command_run("[sh,-c,'mkdir fill; i=0; while : > fill/$i; do i=$((i+1)); done; true']"));
    if (outcome.code != 1) return "exit code " + std::to_string(outcome.code) + outcome.err;
    if (outcome.err.find("no inodes left on its file system") == std::string::npos) {
      return outcome.err;
    }
    const std::string text = read_file(folder / "run/run.json").value_or("");
    if (text.find("no inodes left on its file system") == std::string::npos) return text;
    const auto record = run::read_record(folder / "run");
    if (!record) return record.error().to_string();
    if (record->state != RunState::Failed) return "state " + std::string(to_text(record->state));
    const Outcome again =
        run_profline_in(folder.path(), own_command_run("[cat]", {"hydra.run.dir=b"}));
    if (again.err.find("no inodes left on the disk of ") == std::string::npos) return again.err;
    fs::remove_all(folder / "fill");
    const std::vector<std::string> damage = damage_in(folder / "run");
    return damage.empty() ? "fine" : damage.front();
  });
  if (said.starts_with("skip: ")) GTEST_SKIP() << said.substr(6);
  EXPECT_EQ(said, "fine");
}

/// A program that deletes the folder, and tries again if profline has written a file into it
/// meanwhile.
std::string deleting(const std::string& path) {
  return "[sh,-c,'while test -e \"" + path + "\"; do rm -rf \"" + path +
         "\" 2>/dev/null; done; true']";
}

TEST(RunFaults, AProgramThatDeletesTheRunsFolderGetsAClearEnd) {
  const testing::TempDir folder;
  const Outcome outcome =
      run_profline_in(folder.path(), own_command_run(deleting("$PROFLINE_RUN_DIR")));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("profline: the folder of this run, '" + (folder / "run").string() +
                        "', was deleted while stage baseline ran; nothing of the run is left to "
                        "read or resume\n"));
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("cannot"))) << "one reason, and the right one";
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(RunFaults, AProgramThatDeletesItsStagesFolderFailsTheStage) {
  const testing::TempDir folder;
  const Outcome outcome =
      run_profline_in(folder.path(), own_command_run(deleting("$PROFLINE_RUN_DIR/baseline")));
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const RunRecord record = record_of(folder / "run");
  const StageRecord* stage = record.find_stage("baseline");
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->state, StageState::Failed);
  ASSERT_EQ(stage->findings.size(), 1U) << outcome.err;
  EXPECT_EQ(stage->findings[0].code, "stage_folder_gone");
  EXPECT_EQ(stage->findings[0].text,
            "the folder of the stage, '" + (folder / "run/baseline").string() +
                "', was deleted while it ran; what it had written is lost");
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST(RunFaults, AProgramThatPrintsAGigabyteLeavesALogOfBoundedSize) {
  const testing::TempDir folder;
  const Outcome outcome = run_profline_in(
      folder.path(),
      own_command_run("[sh,-c,'echo first; yes 0123456789abcdef | head -c 1000000000; echo; echo "
                      "last']"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const fs::path log = folder / "run/baseline/log";
  EXPECT_LT(fs::file_size(log), 33U << 20U);
  const std::string text = read_file(log).value_or("");
  EXPECT_THAT(text.substr(0, 100), StartsWith("first\n0123456789abcdef\n"));
  EXPECT_THAT(text.substr(text.size() - 100), ::testing::EndsWith("\nlast\n"));
  EXPECT_NE(text.find(" of output left out here; the first 8.0 MiB and the last 24.0 MiB are "
                      "kept]\n0123456789abcdef\n"),
            std::string::npos);
  const RunRecord record = record_of(folder / "run");
  const StageRecord* stage = record.find_stage("baseline");
  ASSERT_NE(stage, nullptr);
  ASSERT_FALSE(stage->findings.empty());
  EXPECT_EQ(stage->findings[0].code, "log_cut");
  EXPECT_EQ(stage->findings[0].text,
            "workload printed a lot: its log keeps the first 8.0 MiB and the last 24.0 MiB, and "
            "921.7 MiB between them were left out");
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST(RunFaults, ATemporaryFolderThatIsNotThereIsReportedAsThat) {
  const testing::TempDir folder;
  Command base;
  base.cwd = folder.path();
  base.env["TMPDIR"] = "/nowhere/at/all";
  for (const char* nsys : {"true", "auto"}) {
    const Outcome outcome =
        run_profline(own_command_run("[cat]", {std::string("pipeline.nsys.enable=") + nsys}), base);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(
        outcome.err,
        "profline: TMPDIR is '/nowhere/at/all', which is not a folder; set TMPDIR to a folder "
        "for temporary files, such as TMPDIR=/tmp\n");
    EXPECT_FALSE(fs::exists(folder / "run"));
  }
}

TEST(RunFaults, WhatAStartLeftThatWasKilledBeforeItsRecordIsRemovedByTheNext) {
  const testing::TempDir folder;
  fs::create_directory(folder / "run");
  testing::in_child([&]() -> std::string {
    auto file = AtomicFile::create(folder / "run/config.yaml");
    if (file && file->append("half")) ::_exit(0);  // as if killed: nothing is cleaned up
    return "";
  });
  ASSERT_FALSE(fs::is_empty(folder / "run"));
  const Outcome outcome = run_profline_in(folder.path(), own_command_run("[\"true\"]"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

/// Every stage that needs no profiler.
std::vector<std::string> plain_run() {
  return tiny_run({"pipeline.static_analysis.enable=true", "pipeline.baseline.enable=true",
                   "infer.max_new_tokens=64", "pipeline.direct_inference.enable=true"});
}

TEST(RunFaults, AnInterruptAtAnyMomentLeavesAReadableFolderAndNoProcess) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  constexpr std::chrono::seconds kSpan{4};
  Moments moments;
  SCOPED_TRACE(moments.seed_text());
  for (int i = 0; i < moments.count(); ++i) {
    const auto moment = moments.within(kSpan, i, moments.count());
    SCOPED_TRACE("interrupted after " + std::to_string(moment.count()) + " ms");
    const testing::TempDir folder;
    Started profline(folder.path(), plain_run());
    static_cast<void>(profline.ends_within(moment));
    expect_truth_after_interrupt(folder.path(), profline.end(SIGINT));
  }
}

TEST(RunFaults, AnInterruptWhileReportsAreWrittenIsTooLateUnlessTheyTakeLong) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const testing::TempDir folder;
  Started profline(folder.path(), plain_run());
  const bool ran = comes_true(
      [&] {
        const auto record = run::read_record(folder / "run");
        return record && record->state == RunState::Ok;
      },
      &profline);
  ASSERT_TRUE(ran) << read_file(folder / "err").value_or("");
  const int code = profline.end(SIGINT);
  expect_truth_after_interrupt(folder.path(), code);
  const RunRecord record = record_of(folder / "run");
  for (const char* stage : {"static_analysis", "baseline", "direct_inference"}) {
    EXPECT_EQ(state_of(record, stage), StageState::Ok) << stage;
  }
  if (code == 130) {
    ASSERT_FALSE(record.findings.empty());
    EXPECT_EQ(record.findings.back().text, "interrupted before all reports were written");
  } else {
    EXPECT_TRUE(fs::exists(folder / "run/report.html"));
  }
}

class Resume : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
    program_ = workload_script(
        folder_.path(), "case \"$*\" in *'--mode baseline'*) [ -e '" + (folder_ / "hang").string() +
                            "' ] && sleep 1000;; esac\nexec \"$REAL\" \"$@\"");
    write_files(folder_.path(), {{"hang", "x"}});
  }
  std::vector<std::string> words() const {
    return tiny_run({"pipeline.static_analysis.enable=true", "pipeline.baseline.enable=true",
                     "pipeline.torch_profiler.enable=true", "--workload", program_.string()});
  }
  Outcome resume(const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> words = {"run", "--resume", "run", "--workload", program_.string()};
    words.insert(words.end(), overrides.begin(), overrides.end());
    return run_profline_in(folder_.path(), words);
  }
  /// Starts a run and kills profline in the middle of its baseline.
  void kill_in_the_middle() {
    Started profline(folder_.path(), words());
    const bool hangs = comes_true(
        [&] {
          const auto record = run::read_record(folder_ / "run");
          return record && state_of(*record, "baseline") == StageState::Running;
        },
        &profline);
    ASSERT_TRUE(hangs) << read_file(folder_ / "err").value_or("");
    EXPECT_EQ(profline.end(SIGKILL), -SIGKILL);
  }

  testing::TempDir folder_;
  fs::path program_;
};

TEST_F(Resume, AfterAKillRunsWhatIsNotOkAndNothingElse) {
  kill_in_the_middle();
  EXPECT_TRUE(comes_true([&] { return processes_of(folder_.path()).empty(); }))
      << ::testing::PrintToString(processes_of(folder_.path()));
  const RunRecord before = record_of(folder_ / "run");
  EXPECT_EQ(before.state, RunState::Running);
  EXPECT_EQ(state_of(before, "static_analysis"), StageState::Ok);
  fs::remove(folder_ / "hang");
  const Outcome outcome = resume();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("baseline runs: it is running\n"));
  EXPECT_THAT(outcome.err, HasSubstr("torch_profiler runs: it is pending\n"));
  const RunRecord after = record_of(folder_ / "run");
  EXPECT_EQ(after.state, RunState::Ok);
  EXPECT_EQ(after.resumed.size(), 1U);
  EXPECT_EQ(*after.find_stage("static_analysis"), *before.find_stage("static_analysis"));
  EXPECT_TRUE(fs::is_directory(folder_ / "run/attempts/baseline-1"));
  EXPECT_THAT(damage_in(folder_ / "run"), IsEmpty());
}

TEST_F(Resume, RunsAgainWhatHasOtherInputs) {
  fs::remove(folder_ / "hang");
  ASSERT_EQ(run_profline_in(folder_.path(), words()).code, 0);
  const Outcome nothing = resume();
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_THAT(nothing.err, ::testing::Not(HasSubstr(" runs: ")));
  EXPECT_THAT(nothing.err,
              HasSubstr("nothing is left to run: every stage is ok and its inputs are the same\n"));
  const Outcome one = resume({"pipeline.torch_profiler.record_shapes=true"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.err, HasSubstr("torch_profiler runs: its config, command or tool changed\n"));
  EXPECT_THAT(one.err, ::testing::Not(HasSubstr("baseline runs: ")));
  const Outcome all = resume({"infer.max_new_tokens=3"});
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* stage : {"static_analysis", "baseline", "torch_profiler"}) {
    EXPECT_THAT(all.err, HasSubstr(std::string(stage) + " runs: ")) << stage;
  }
  EXPECT_THAT(damage_in(folder_ / "run"), IsEmpty());
}

TEST_F(Resume, TakesTheProgramsOfTheFirstAttempt) {
  kill_in_the_middle();
  fs::remove(folder_ / "hang");
  const Outcome outcome = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord after = record_of(folder_ / "run");
  EXPECT_EQ(after.tools.workload, program_.string());
  for (const char* name : {"baseline", "torch_profiler"}) {
    const StageRecord* stage = after.find_stage(name);
    ASSERT_NE(stage, nullptr) << name;
    ASSERT_FALSE(stage->commands.empty()) << name;
    EXPECT_EQ(stage->commands[0].argv[0], program_.string()) << name;
  }
}

TEST_F(Resume, AProgramOfTheFirstAttemptThatIsGoneIsAnError) {
  kill_in_the_middle();
  fs::remove(folder_ / "hang");
  fs::rename(program_, folder_ / "elsewhere.sh");
  const RunRecord before = record_of(folder_ / "run");
  const Outcome gone = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  EXPECT_EQ(gone.code, 3);
  EXPECT_EQ(gone.err, "profline: the workload that this run used no longer exists: cannot run '" +
                          program_.string() +
                          "': no such file; name another one: --workload PROGRAM\n");
  EXPECT_EQ(record_of(folder_ / "run"), before) << "a resume that does not start changes nothing";
  const Outcome other =
      run_profline_in(folder_.path(), {"run", "--resume", "run", "--workload", "./elsewhere.sh"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(record_of(folder_ / "run").tools.workload, (folder_ / "elsewhere.sh").string());
}

/// A run of a user's program whose nsys stage has its default setting and is killed there.
class ResumeUnderNsys : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const auto tools = nsight_tools(why);
    if (!tools) GTEST_SKIP() << why;
    nsys_ = folder_ / "nsys";
    fs::create_symlink(fs::canonical(tools->folder / "bin/nsys"), nsys_);
    write_files(folder_.path(), {{"hang", "x"}});
    Started profline(folder_.path(),
                     own_command_run("[sh,-c,'if [ -e hang ]; then sleep 1000; fi']",
                                     {"pipeline.baseline.enable=false", "pipeline.nsys.enable=auto",
                                      "--nsys", nsys_.string()}));
    const bool hangs = comes_true(
        [&] {
          const auto record = run::read_record(folder_ / "run");
          const StageRecord* stage = record ? record->find_stage("nsys") : nullptr;
          return stage != nullptr && !stage->commands.empty() &&
                 stage->commands[0].process.pid != 0;
        },
        &profline);
    ASSERT_TRUE(hangs) << read_file(folder_ / "err").value_or("");
    ASSERT_EQ(profline.end(SIGKILL), -SIGKILL);
    fs::remove(folder_ / "hang");
  }

  testing::TempDir folder_;
  fs::path nsys_;
};

TEST_F(ResumeUnderNsys, RunsTheStageWithTheSameNsys) {
  const Outcome outcome = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  EXPECT_THAT(outcome.err, HasSubstr("nsys runs: it is running\n"));
  const RunRecord after = record_of(folder_ / "run");
  EXPECT_EQ(after.tools.nsys, nsys_.string());
  const StageRecord* stage = after.find_stage("nsys");
  ASSERT_NE(stage, nullptr);
  ASSERT_FALSE(stage->commands.empty()) << outcome.err;
  EXPECT_EQ(stage->commands[0].argv[0], nsys_.string());
}

TEST_F(ResumeUnderNsys, AnNsysThatIsGoneIsAnErrorAndNotASkippedStage) {
  fs::remove(nsys_);
  const Outcome outcome = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "profline: the nsys that this run used no longer exists: cannot run '" +
                             nsys_.string() +
                             "': no such file; name another one: --nsys PROGRAM\n");
  EXPECT_EQ(state_of(record_of(folder_ / "run"), "nsys"), StageState::Running);
}

TEST_F(Resume, RefusesARunThatIsNoneAndOneThatStillRuns) {
  const Outcome none = run_profline_in(folder_.path(), {"run", "--resume", "nowhere"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("nowhere/run.json: no such file"));
  Started profline(folder_.path(), words());
  ASSERT_TRUE(comes_true([&] { return run::read_record(folder_ / "run").has_value(); }, &profline));
  const Outcome running = resume();
  EXPECT_EQ(running.code, 2);
  EXPECT_EQ(running.err, "profline: run folder 'run' is in use by another profline\n");
  EXPECT_EQ(profline.end(SIGINT), 130);
}

}  // namespace
}  // namespace profline::e2e
