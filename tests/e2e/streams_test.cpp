// Commands whose stdout, stderr or files cannot be written, or that have too few resources.

#include <cctype>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "made_runs.h"
#include "run_folder.h"
#include "testing/forked.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

std::string golden(const std::string& name) {
  return (profline::testing::source_dir() / "tests/golden" / name).string();
}
std::string example(const std::string& name) {
  return (profline::testing::source_dir() / "docs/examples" / name).string();
}

/// Runs an sh script in which `profline "$@"` is the built program with these words.
Outcome run_script(const fs::path& folder, const std::string& script, const Words& words) {
  Command command;
  command.cwd = folder;
  command.argv = {"/bin/sh", "-c", "program=$0; profline() { \"$program\" \"$@\"; }\n" + script,
                  profline_program().string()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  return run_command(std::move(command));
}

/// Makes descriptor 5 of a script a pipe without a reader.
constexpr const char* kClosedPipe = "mkfifo pipe; exec 4<>pipe 5>pipe 4<&-; rm pipe\n";

class LostOutput : public ::testing::TestWithParam<Words> {};

TEST_P(LostOutput, IsAFailureWithOneLine) {
  const testing::TempDir folder;
  MadeRun{.id = "r1"}.write(folder / "a/r1");
  MadeRun{.id = "r2", .seed = 2}.write(folder / "b/r2");
  fs::create_directory(folder / "out");
  const Outcome kept = run_script(folder.path(), "profline \"$@\" 2>/dev/null", GetParam());
  EXPECT_THAT(kept.out, Not(IsEmpty()));
  const Outcome lost = run_script(folder.path(), "profline \"$@\" >/dev/full", GetParam());
  EXPECT_EQ(lost.code, 1);
  EXPECT_THAT(lost.err, EndsWith("profline: cannot write the result to standard output: no space "
                                 "left on device\n"));
  EXPECT_THAT(lost.err, Not(HasSubstr("bug")));
}

INSTANTIATE_TEST_SUITE_P(
    Of, LostOutput,
    ::testing::Values(
        Words{"--help"}, Words{"--version"}, Words{"kernels", "--help"}, Words{"config"},
        Words{"config", "--format", "json"}, Words{"config", "--info"}, Words{"explain", "device"},
        Words{"plan", "--config-name", "demo", "device=cpu"},
        Words{"plan", "--config-name", "demo", "device=cpu", "--format", "json"},
        Words{"analyze", "--config-name", "demo", "device=cpu"},
        Words{"doctor", "--nsys", "/bin/false", "--ncu", "/bin/false"},
        Words{"trace", golden("trace/kineto-torch-2.11-h200.json.gz")},
        Words{"trace", "--format", "json", golden("trace/kineto-torch-2.11-h200.json.gz")},
        Words{"trace", "--export", "json", "--to", "out/trace.json",
              golden("trace/kineto-torch-2.11-h200.json.gz")},
        Words{"compare", "a", "b", "--fail-on", "never"},
        Words{"compare", "a", "b", "--fail-on", "never", "--format", "json"},
        Words{"runs", "--root", "a"}, Words{"runs", "show", "r1", "--root", "a"},
        Words{"runs", "--root", "a", "--format", "json"},
        Words{"kernels", "top", example("h200/nsys/run.sqlite")},
        Words{"kernels", "analyze", example("h200-kernels/decode"), "--output-dir", "out"},
        Words{"--shell-completion", "install=bash"}),
    [](const auto& tested) {
      std::string name;
      for (const std::string& word : tested.param) {
        if (word.find('/') != std::string::npos) continue;
        for (const char c : word) {
          if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
        }
        name += '_';
      }
      return name + std::to_string(tested.index);
    });

TEST(Streams, AReportAndARunWhoseResultIsLostFailToo) {
  const testing::TempDir folder;
  const Outcome run =
      run_script(folder.path(), "profline \"$@\" >/dev/full", own_command_run("[/bin/true]"));
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, EndsWith("profline: cannot write the result to standard output: no space "
                                "left on device\n"));
  EXPECT_EQ(record_of(folder / "run").state, RunState::Ok) << "the run itself is whole";
  const Outcome report = run_script(folder.path(), "profline report run >/dev/full", {});
  EXPECT_EQ(report.code, 1);
  EXPECT_EQ(report.err,
            "profline: cannot write the result to standard output: no space left on device\n");
}

TEST(Streams, APipeThatNobodyReadsEndsACommandAsItEndsOthers) {
  const testing::TempDir folder;
  const std::string script = std::string(kClosedPipe) + "profline \"$@\" >&5; echo \"code $?\"";
  const Outcome usual = run_script(folder.path(), script, {"config"});
  EXPECT_EQ(usual.out, "code 141\n");
  EXPECT_EQ(usual.err, "");
  // Whoever ignores SIGPIPE wants an error message.
  const Outcome ignored = run_script(folder.path(), "trap '' PIPE\n" + script, {"config"});
  EXPECT_EQ(ignored.out, "code 1\n");
  EXPECT_EQ(ignored.err, "profline: cannot write the result to standard output: broken pipe\n");
}

TEST(Streams, ARunGoesOnWhenNobodyReadsItsProgress) {
  const testing::TempDir folder;
  const std::string script = std::string(kClosedPipe) + "profline \"$@\" 2>&5; echo \"code $?\"";
  const Outcome without_progress =
      run_script(folder.path(), script, own_command_run("[/bin/true]"));
  EXPECT_THAT(without_progress.out, EndsWith("code 0\n"));
  EXPECT_EQ(record_of(folder / "run").state, RunState::Ok);
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
  EXPECT_TRUE(fs::exists(folder / "run/report.html"));
  fs::remove_all(folder / "run");
  // `profline run … 2>&1 | head -1`: nobody reads the result either.
  const std::string neither =
      std::string(kClosedPipe) + "profline \"$@\" >&5 2>&5; echo \"code $?\"";
  const Outcome alone = run_script(folder.path(), neither, own_command_run("[/bin/true]"));
  EXPECT_EQ(alone.out, "code 141\n");
  EXPECT_EQ(record_of(folder / "run").state, RunState::Ok);
  EXPECT_EQ(record_of(folder / "run").exit_code, 0);
}

TEST(Streams, AnErrorThatNobodyReadsKeepsItsExitCode) {
  const testing::TempDir folder;
  const std::string script = std::string(kClosedPipe) + "profline \"$@\" 2>&5; echo \"code $?\"";
  EXPECT_EQ(run_script(folder.path(), script, {"explain", "nothing"}).out, "code 2\n");
  EXPECT_EQ(run_script(folder.path(), "profline \"$@\" 2>/dev/full", {"explain", "nothing"}).code,
            2);
}

TEST(Streams, ClosedStreamsAreNoFilesOfOurs) {
  const testing::TempDir folder;
  const Outcome lost = run_script(folder.path(), "profline config >&-", {});
  EXPECT_EQ(lost.code, 1);
  EXPECT_EQ(lost.err,
            "profline: cannot write the result to standard output: bad file descriptor\n");
  const Outcome run =
      run_script(folder.path(), "profline \"$@\" <&- 2>&-", own_command_run("[/bin/true]"));
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(record_of(folder / "run").state, RunState::Ok);
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST(Streams, TheLimitOnTheSizeOfFilesIsAnErrorOfTheFileThatReachesIt) {
  const testing::TempDir folder;
  const Outcome config = run_script(folder.path(), "ulimit -f 1; profline config >file", {});
  EXPECT_EQ(config.code, 1);
  EXPECT_EQ(config.err, "profline: cannot write the result to standard output: file too large\n");
  // 200 blocks of 512 bytes: less than what is reserved for run.json, and less than report.html.
  const Outcome run =
      run_script(folder.path(), "ulimit -f 200; profline \"$@\"", own_command_run("[/bin/true]"));
  if (run.code == 0 && fs::file_size(folder / "run/report.html") < 200UL * 512) {
    GTEST_SKIP() << "this build has no chart library, so report.html is too small for the limit";
  }
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("report.html: file too large\n"));
  const RunRecord record = record_of(folder / "run");
  EXPECT_EQ(state_of(record, "baseline"), StageState::Ok);
  EXPECT_EQ(record.state, RunState::Failed);
  EXPECT_EQ(record.exit_code, 1);
  EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
}

TEST(Streams, TooFewDescriptorsAreOneClearError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers need descriptors of their own";
#endif
  const testing::TempDir folder;
  const Outcome few = run_script(folder.path(), "ulimit -n 4; exec \"$0\" \"$@\"", {"config"});
  EXPECT_EQ(few.code, 1);
  EXPECT_EQ(few.out, "");
  EXPECT_EQ(few.err,
            "profline: too few files may be open at once: the limit is 4, and profline needs 32 "
            "more than are open now; raise it with 'ulimit -n 1024'\n");
  EXPECT_EQ(run_script(folder.path(), "ulimit -n 4; exec \"$0\" --help", {}).code, 0);
  for (const int limit : {8, 16, 30, 34, 36, 40}) {
    SCOPED_TRACE(limit);
    const Outcome outcome =
        run_script(folder.path(), "ulimit -n " + std::to_string(limit) + "; exec \"$0\" \"$@\"",
                   own_command_run("[/bin/true]"));
    EXPECT_EQ(outcome.code, limit < 35 ? 1 : 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("bug")));
    fs::remove_all(folder / "run");
  }
}

TEST(Streams, AFullDiskIsReportedForEveryFileACommandWrites) {
  const testing::TempDir folder;
  const testing::TempDir disk;
  MadeRun{.id = "r1"}.write(folder / "a/r1");
  MadeRun{.id = "r2", .seed = 2}.write(folder / "b/r2");
  const std::string trace = golden("trace/kineto-torch-2.11-h200.json.gz");
  const std::string to = disk.path().string();
  const Words cases[] = {
      {"compare", "a", "b", "--fail-on", "never", "--markdown", to + "/c.md"},
      {"compare", "a", "b", "--fail-on", "never", "--html", to + "/c.html"},
      {"trace", trace, "--export", "json", "--to", to + "/t.json"},
      {"trace", trace, "--export", "perfetto", "--to", to + "/t.perfetto"},
      {"trace", trace, "--export", "csv", "--to", to},
      {"analyze", "--config-name", "demo", "device=cpu", "--output-dir", to},
      {"kernels", "analyze", example("h200-kernels/decode"), "--output-dir", to},
      {"kernels", "top", example("h200/nsys/run.sqlite"), "--output", to + "/top.yaml"},
  };
  const std::string said = testing::in_child([&]() -> std::string {
    const std::string why = testing::mount_small_tmpfs(to, 64U << 10U);
    if (!why.empty()) return "skip: " + why;
    run_script(folder.path(), "cat /dev/zero >'" + to + "/fill' 2>/dev/null", {});
    for (const Words& words : cases) {
      const Outcome outcome = run_profline_in(folder.path(), words);
      const bool is_reported = outcome.err.starts_with("profline: cannot write " + to) &&
                               outcome.err.ends_with(": no space left on device\n");
      if (outcome.code != 1 || !is_reported) {
        return words[0] + " " + words[words.size() - 2] + ": code " + std::to_string(outcome.code) +
               ", " + outcome.err;
      }
      for (const auto& left : fs::directory_iterator(to)) {
        if (left.path().filename() != "fill" && fs::file_size(left.path()) == 0) {
          return left.path().string() + " was left";
        }
      }
    }
    return "fine";
  });
  if (said.starts_with("skip: ")) GTEST_SKIP() << said.substr(6);
  EXPECT_EQ(said, "fine");
}

}  // namespace
}  // namespace profline::e2e
