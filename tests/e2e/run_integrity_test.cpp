// Run folders on disks that are full, read-only or owned by another user, and with several runs
// starting at the same moment.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
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
using ::testing::IsEmpty;

/// What `body` reports from a child process: `fine`, what is wrong, or `skip: ` and why.
void expect_fine(const std::function<std::string()>& body) {
  const std::string said = testing::in_child(body);
  if (said.starts_with("skip: ")) GTEST_SKIP() << said.substr(6);
  EXPECT_EQ(said, "fine");
}

/// Expects one error with this text, and no files.
std::string refused(const Outcome& outcome, const std::string& text, const fs::path& run) {
  if (outcome.code == 0) return "exit code 0";
  if (outcome.err.find(text) == std::string::npos) return outcome.err;
  if (std::count(outcome.err.begin(), outcome.err.end(), '\n') != 1) return outcome.err;
  if (fs::exists(run)) return run.string() + " was made";
  return "fine";
}

TEST(RunIntegrity, AReadOnlyDiskIsOneErrorBeforeAnythingRuns) {
  const testing::TempDir folder;
  fs::create_directory(folder / "disk");
  expect_fine([&]() -> std::string {
    std::string why = testing::mount_small_tmpfs((folder / "disk").string(), 32U << 20U);
    if (why.empty()) why = testing::remount_read_only((folder / "disk").string());
    if (!why.empty()) return "skip: " + why;
    const Outcome outcome =
        run_profline_in(folder.path(), own_command_run("[cat]", {"hydra.run.dir=disk/runs/1"}));
    return refused(outcome, "read-only file system", folder / "disk/runs");
  });
}

TEST(RunIntegrity, AnotherUsersFolderIsOneErrorBeforeAnythingRuns) {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const testing::TempDir folder;
  fs::create_directory(folder / "theirs");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder / "theirs", static_cast<fs::perms>(0755));
  expect_fine([&]() -> std::string {
    if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0)
      return "skip: cannot become another user";
    if (::access(profline_program().c_str(), X_OK) != 0) {
      return "skip: others may not run " + profline_program().string();
    }
    const Outcome outcome =
        run_profline_in(folder.path(), own_command_run("[cat]", {"hydra.run.dir=theirs/runs/1"}));
    return refused(outcome, "permission denied", folder / "theirs/runs");
  });
}

/// A workload that fills its disk and then works as usual; if only asked for its version, it does
/// not.
fs::path filling_workload(const fs::path& folder) {
  return workload_script(folder, "case \"$*\" in *--mode*) dd if=/dev/zero of='" +
                                     (folder / "fill").string() +
                                     "' bs=64k 2>/dev/null;; esac\nexec \"$REAL\" \"$@\"");
}

/// Runs one stage on a disk that becomes full during it. The run ends, the record says that the
/// stage failed, and every existing file is complete.
std::string on_a_full_disk(const fs::path& folder, const std::string& stage, Command base) {
  const std::string why = testing::mount_small_tmpfs(folder.string(), 48U << 20U);
  if (!why.empty()) return "skip: " + why;
  const fs::path program = filling_workload(folder);
  base.cwd = folder;
  std::vector<std::string> words =
      tiny_run({"pipeline." + stage + ".enable=true", "--workload", program.string()});
  if (stage == "ncu") words.emplace_back("pipeline.ncu.require_gpu=false");
  const Outcome outcome = run_profline(std::move(words), std::move(base));
  if (outcome.code <= 0) return "exit code " + std::to_string(outcome.code) + ": " + outcome.err;
  const auto record = run::read_record(folder / "run");
  if (!record) return record.error().to_string();
  if (record->state != RunState::Failed) return "state " + std::string(to_text(record->state));
  if (state_of(*record, stage) != StageState::Failed) {
    return "the stage is " + std::string(to_text(state_of(*record, stage)));
  }
  const auto left = processes_of(folder);
  if (!left.empty()) return "still running: " + left.front();
  fs::remove(folder / "fill");
  const std::vector<std::string> damage = damage_in(folder / "run");
  return damage.empty() ? "fine" : damage.front();
}

TEST(RunIntegrity, ADiskThatGetsFullInAnyStageIsReported) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  for (const char* stage : {"static_analysis", "baseline", "torch_profiler", "direct_inference"}) {
    SCOPED_TRACE(stage);
    const testing::TempDir folder;
    expect_fine([&] { return on_a_full_disk(folder.path(), stage, {}); });
  }
}

TEST(RunIntegrity, NoRoomForWhatNsysHasNotImportedIsOneErrorBeforeAnythingRuns) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  const testing::TempDir folder;
  fs::create_directory(folder / "small");
  expect_fine([&]() -> std::string {
    std::string no = testing::mount_small_tmpfs((folder / "small").string(), 4U << 20U);
    if (!no.empty()) return "skip: " + no;
    Command base = tools->environment(true);
    base.cwd = folder.path();
    base.env["TMPDIR"] = (folder / "small").string();
    const auto words =
        own_command_run("[cat]", {"pipeline.baseline.enable=false", "pipeline.nsys.enable=true"});
    return refused(run_profline(words, base), "where nsys keeps what it has not imported yet",
                   folder / "run");
  });
}

TEST(RunIntegrity, ADiskThatGetsFullUnderNsightIsReported) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  for (const char* stage : {"nsys", "ncu"}) {
    SCOPED_TRACE(stage);
    const testing::TempDir folder;
    expect_fine([&] { return on_a_full_disk(folder.path(), stage, tools->environment(true)); });
  }
}

/// The position in a text of something that acts on a terminal or reorders text: an escape other
/// than our colours, or a bidirectional mark. Empty: nowhere.
std::string harm_in(const std::string& text) {
  for (const char* mark : {"\x1b]", "\x1b[31", "\xe2\x80\xae", "\xe2\x81\xa6", "\x07"}) {
    const std::size_t at = text.find(mark);
    if (at != std::string::npos) return text.substr(at > 60 ? at - 60 : 0, 120);
  }
  return {};
}

TEST(RunIntegrity, ANameThatActsOnATerminalIsHarmlessInAllThatIsPrintedAndWritten) {
  const testing::TempDir root;
  const std::string name =
      "evil\x1b]0;owned\x07\x1b[31m\xe2\x80\xae"
      "cod.exe\xe2\x81\xa6";
  const fs::path folder = root / name;
  fs::create_directory(folder);
  const std::vector<std::string> words =
      own_command_run(R"([sh,-c,'printf "\033]0;owned\007\342\200\256x\n" >&2; exit 3'])");
  const Outcome run = run_profline_in(folder, words);
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(harm_in(run.out + run.err), "");
  for (const auto& entry : fs::recursive_directory_iterator(folder / "run")) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".md" && ending != ".html" && ending != ".txt" && ending != ".yaml" &&
        entry.path().filename() != "run.log") {
      continue;
    }
    EXPECT_EQ(harm_in(read_file(entry.path()).value_or("")), "") << entry.path().filename();
  }
  std::vector<std::string> plan = words;
  plan.front() = "plan";
  std::replace(plan.begin(), plan.end(), std::string("hydra.run.dir=run"),
               std::string("hydra.run.dir=other"));
  const std::vector<std::vector<std::string>> commands = {
      plan,
      {"report", "run"},
      {"report", (folder / "none").string()},
      {"runs", "--root", folder.string()},
      {"compare", (folder / "run").string(), (folder / "run").string()},
      {"run", "--resume", (folder / "none").string()},
      {"run", "--config-dir", (folder / "none").string()},
      {"run", "--" + name},
      {"run", name + "=1"},
      {name},
      {"trace", (folder / "none.json").string()},
      {"trace", (folder / "run").string()},
      {"kernels", "top", (folder / "none").string()},
      {"config", "--info", "searchpath", "--config-dir", folder.string()},
      {"explain", name},
      {"doctor", "--workload", (folder / "none").string()},
  };
  for (const auto& command : commands) {
    const Outcome outcome = run_profline_in(folder, command);
    EXPECT_EQ(harm_in(outcome.out + outcome.err), "") << command[0];
  }
}

TEST(RunIntegrity, RunsThatStartTogetherGetAFolderEach) {
  constexpr std::size_t kRuns = 4;
  const testing::TempDir root;
  std::vector<std::string> words = own_command_run("[\"true\"]");
  std::replace(words.begin(), words.end(), std::string("hydra.run.dir=run"),
               std::string("hydra.job.chdir=null"));
  // The same name for all, whatever the clock says when each gets there.
  write_files(root.path(),
              {{"conf/mine.yaml", "defaults: [demo, _self_]\nhydra:\n  run:\n    dir: " +
                                      root.path().string() + "/out/20260101-000000\n"}});
  *std::find(words.begin(), words.end(), "demo") = "mine";
  words.insert(words.end(), {"--config-dir", (root / "conf").string()});
  std::vector<std::unique_ptr<Started>> runs;
  for (std::size_t i = 0; i < kRuns; ++i) {
    const fs::path folder = root / std::to_string(i);
    fs::create_directory(folder);
    runs.push_back(std::make_unique<Started>(folder, words));
  }
  for (std::size_t i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(comes_true([&] { return runs[i]->ends_within(std::chrono::seconds(1)); }));
    EXPECT_EQ(runs[i]->end(0), 0) << read_file(root / std::to_string(i) / "err").value_or("");
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root / "out")) {
    names.push_back(entry.path().filename().string());
    if (entry.is_symlink()) continue;
    EXPECT_EQ(record_of(entry.path()).state, RunState::Ok);
    EXPECT_THAT(damage_in(entry.path()), IsEmpty());
  }
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre("20260101-000000", "20260101-000000-2",
                                              "20260101-000000-3", "20260101-000000-4", "latest"));
  EXPECT_TRUE(fs::exists(root / "out/latest/run.json"));
}

}  // namespace
}  // namespace profline::e2e
