// Ctrl-C and SIGTERM while the real Nsight tools run, followed by --resume.

#include <signal.h>

#include <chrono>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "interrupt_moments.h"
#include "nsight_tools.h"
#include "run_folder.h"
#include "started_profline.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class NsightInterrupt : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    tools_ = working_nsys(why);
    if (!tools_) GTEST_SKIP() << why;
    if (!has_workload() || !workload_has_nvtx()) {
      GTEST_SKIP() << "profline-workload is not built here with nvtx3 headers";
    }
  }
  std::map<std::string, std::string> env() const { return tools_->environment(true).env; }
  Outcome resume(const fs::path& folder, const std::vector<std::string>& overrides = {}) const {
    Command base = tools_->environment(true);
    base.cwd = folder;
    std::vector<std::string> words = {"run", "--resume", "run"};
    words.insert(words.end(), overrides.begin(), overrides.end());
    return run_profline(std::move(words), std::move(base));
  }

  std::optional<NsightTools> tools_;
};

const Finding* finding_in(const StageRecord& stage, std::string_view code) {
  for (const Finding& finding : stage.findings) {
    if (finding.code == code) return &finding;
  }
  return nullptr;
}

/// The folder is intact, nothing is running, and run.json says what happened.
void expect_interrupted(const fs::path& folder, const std::string& stage) {
  EXPECT_THAT(processes_of(folder), IsEmpty());
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  const RunRecord record = record_of(folder / "run");
  EXPECT_EQ(record.state, RunState::Interrupted);
  EXPECT_EQ(record.exit_code, 130);
  EXPECT_EQ(state_of(record, stage), StageState::Interrupted);
  const StageRecord* found = record.find_stage(stage);
  ASSERT_NE(found, nullptr);
  const Finding* interrupted = finding_in(*found, "interrupted");
  ASSERT_NE(interrupted, nullptr) << read_file(folder / "err").value_or("");
  EXPECT_THAT(interrupted->text,
              MatchesRegex("interrupted during capture( again)?; kept, and not verified: .*"));
  for (const CommandRecord& command : found->commands) EXPECT_NE(command.end, "") << command.name;
}

/// Takes several seconds, so that there is time to interrupt it.
std::vector<std::string> long_run(const std::string& stage) {
  return tiny_run({"pipeline." + stage + ".enable=true", "pipeline." + stage + ".samples=100",
                   "dataset.pages=100", "infer.max_new_tokens=300"});
}

/// Waits for output of the workload under a profiler: its first images.
bool images_are_run(const fs::path& log, const Started& profline) {
  return comes_true(
      [&] { return read_file(log).value_or("").find(" images (") != std::string::npos; },
      &profline);
}

TEST_F(NsightInterrupt, WhileNsysCapturesKeepsTheReportAndCanBeResumed) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const testing::TempDir folder;
    Started profline(folder.path(), long_run("nsys"), env());
    ASSERT_TRUE(images_are_run(folder / "run/nsys/workload/log", profline))
        << read_file(folder / "err").value_or("");
    EXPECT_EQ(profline.end(signal), 130);
    expect_interrupted(folder.path(), "nsys");
    const RunRecord record = record_of(folder / "run");
    const StageRecord& stage = *record.find_stage("nsys");
    EXPECT_TRUE(fs::exists(folder / "run/nsys/run.nsys-rep"));
    EXPECT_THAT(finding_in(stage, "interrupted")->text, HasSubstr("run.nsys-rep"));
    EXPECT_THAT(finding_in(stage, "interrupted")->text, HasSubstr("workload/requests.jsonl"));
    EXPECT_EQ(finding_in(stage, "no_report"), nullptr);
    const Outcome resumed = resume(folder.path(), {"pipeline.nsys.samples=1"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("nsys runs: it is interrupted\n"));
    EXPECT_EQ(record_of(folder / "run").state, RunState::Ok);
    EXPECT_TRUE(fs::exists(folder / "run/attempts/nsys-1/run.nsys-rep")) << "nothing is lost";
    EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  }
}

TEST_F(NsightInterrupt, AsNsysStartsLeavesNothingInTheWayOfAnotherTry) {
  // The session of a capture that is interrupted this early keeps its name for a moment.
  const testing::TempDir folder;
  Started profline(folder.path(),
                   tiny_run({"pipeline.nsys.enable=true", "pipeline.nsys.capture_range=none"}),
                   env());
  ASSERT_TRUE(comes_true([&] { return fs::exists(folder / "run/nsys/workload/log"); }, &profline));
  static_cast<void>(profline.ends_within(std::chrono::milliseconds(400)));
  EXPECT_EQ(profline.end(SIGINT), 130) << read_file(folder / "err").value_or("");
  const Outcome resumed = resume(folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST_F(NsightInterrupt, TwiceEndsNsysAndItsAgentAtOnce) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"stays.sh",
                               "trap 'echo interrupted once' INT\ntrap '' TERM\n"
                               "echo it runs\nwhile :; do sleep 0.1; done\n"},
                              {"tmp/here", ""}});
  std::vector<std::string> words =
      tiny_run({"pipeline.nsys.enable=true",
                "pipeline.workload.command=[sh," + (folder / "stays.sh").string() + "]"});
  std::map<std::string, std::string> with_tmp = env();
  with_tmp["TMPDIR"] = (folder / "tmp").string();
  Started profline(folder.path(), words, with_tmp);
  const auto says = [&](const char* text) {
    return comes_true(
        [&] {
          auto log = read_file(folder / "run/nsys/workload/log");
          return std::move(log).value_or("").find(text) != std::string::npos;
        },
        &profline);
  };
  ASSERT_TRUE(says("it runs")) << read_file(folder / "err").value_or("");
  ::kill(profline.pid(), SIGINT);
  ASSERT_TRUE(says("interrupted once")) << read_file(folder / "err").value_or("");
  EXPECT_EQ(profline.end(SIGINT), 130);
  expect_interrupted(folder.path(), "nsys");
  const RunRecord record = record_of(folder / "run");
  // The last attempt, as nsys may have failed to start; it may also end between the two signals.
  EXPECT_THAT(record.find_stage("nsys")->commands.back().end,
              MatchesRegex("cancelled and (killed by SIGKILL|exited with code 0 on SIGINT)"));
  for (const auto& entry : fs::directory_iterator(folder / "tmp")) {
    EXPECT_NE(entry.path().extension(), ".qdstrm") << "half a capture, where nobody looks";
  }
}

TEST_F(NsightInterrupt, WhileNcuRunsIsReportedAndCanBeResumed) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const testing::TempDir folder;
    std::vector<std::string> words = long_run("ncu");
    words.emplace_back("pipeline.ncu.require_gpu=false");
    Started profline(folder.path(), words, env());
    ASSERT_TRUE(images_are_run(folder / "run/ncu/workload/log", profline))
        << read_file(folder / "err").value_or("");
    EXPECT_EQ(profline.end(signal), 130);
    expect_interrupted(folder.path(), "ncu");
    const RunRecord record = record_of(folder / "run");
    EXPECT_EQ(finding_in(*record.find_stage("ncu"), "nothing_profiled"), nullptr)
        << "ncu did not run to its end";
    // Without a GPU the stage cannot be ok, but it runs to its end, and that is reported.
    const Outcome resumed = resume(folder.path(), {"pipeline.ncu.samples=1"});
    EXPECT_EQ(resumed.code, 1) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("ncu runs: it is interrupted\n"));
    EXPECT_THAT(resumed.err, HasSubstr("no kernels were profiled: "));
    EXPECT_EQ(record_of(folder / "run").state, RunState::Failed);
    const Outcome without = resume(
        folder.path(), {"pipeline.ncu.enable=false", "pipeline.static_analysis.enable=true"});
    EXPECT_EQ(without.code, 0) << without.err;
    EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  }
}

/// Every stage that a CPU can run, including nsys gated on a range.
std::vector<std::string> whole_run() {
  return tiny_run({"pipeline.static_analysis.enable=true", "pipeline.baseline.enable=true",
                   "pipeline.torch_profiler.enable=true", "pipeline.nsys.enable=true",
                   "pipeline.nsys.capture_range=nvtx", "pipeline.nsys.nvtx_capture=decode",
                   "pipeline.direct_inference.enable=true"});
}

TEST_F(NsightInterrupt, AtMomentsAllOverAWholeRunLosesNothing) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  Moments moments;
  SCOPED_TRACE(moments.seed_text());
  milliseconds whole{0};
  {
    const testing::TempDir folder;
    const auto start = std::chrono::steady_clock::now();
    Command base = tools_->environment(true);
    base.cwd = folder.path();
    const Outcome outcome = run_profline(whole_run(), base);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    whole = duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  }
  // One moment in each part of a run's duration; one of the runs is resumed.
  const int resumed = moments.one_of(moments.count());
  for (int i = 0; i < moments.count(); ++i) {
    const milliseconds moment = moments.within(whole, i, moments.count());
    SCOPED_TRACE("interrupted after " + std::to_string(moment.count()) + " ms");
    const testing::TempDir folder;
    Started profline(folder.path(), whole_run(), env());
    static_cast<void>(profline.ends_within(moment));
    expect_truth_after_interrupt(folder.path(), profline.end(SIGINT));
    if (i != resumed || !fs::exists(folder / "run/run.json")) continue;
    const Outcome outcome = resume(folder.path());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(record_of(folder / "run").state, RunState::Ok);
    EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  }
}

}  // namespace
}  // namespace profline::e2e
