#include "run_index/run_index.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/sqlite.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "run_index/testing_runs.h"
#include "testing/temp_dir.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunIndex opened(const fs::path& root) {
  auto index = RunIndex::open(root);
  EXPECT_TRUE(index) << index.error().to_string();
  const auto done = index->refresh();
  EXPECT_TRUE(done) << done.error().to_string();
  return std::move(*index);
}

std::vector<std::string> folders(RunIndex& index) {
  std::vector<std::string> names;
  const auto runs = index.runs();
  EXPECT_TRUE(runs);
  for (const IndexedRun& run : *runs) names.push_back(run.folder + " " + run.state);
  return names;
}

TEST(RunIndex, ListsRunsNewestFirst) {
  const testing::TempDir root;
  TestRun{.second = 1}.write(root / "a");
  TestRun{.second = 3}.write(root / "b");
  TestRun{.state = RunState::Failed, .second = 2}.write(root / "sweep/0");
  fs::create_directories(root / "not a run");
  fs::create_directory_symlink("b", root / "latest");
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("b ok", "sweep/0 failed", "a ok"));
  EXPECT_THAT(index.notes(), IsEmpty());
  EXPECT_TRUE(fs::exists(root / run::files::kIndex));
  // What was read from files equals what comes back from the index.
  EXPECT_EQ(index.runs().value().back(), read_indexed_run(root.path(), "a").value());
}

TEST(RunIndex, FindsJobsInTheFoldersThatTheirSweepNames) {
  const testing::TempDir root;
  const testing::TempDir outside;
  TestRun{}.write(outside / "0");
  const auto record = [&](const fs::path& sweep, const std::vector<std::string>& folders) {
    std::string jobs;
    for (const std::string& folder : folders) {
      jobs += std::string(jobs.empty() ? "" : ",") + R"({"folder": ")" + folder + R"("})";
    }
    EXPECT_TRUE(write_file_atomic(sweep / run::files::kSweep, R"({"jobs": [)" + jobs + "]}"));
  };
  TestRun{.second = 1}.write(root / "sweep/model@arch=a/b,seed=1");
  TestRun{.second = 2}.write(root / "sweep/model@arch=a/c/d");
  TestRun{.second = 3}.write(root / "sweep/3");
  TestRun{.second = 4}.write(root / "sweep/.hidden/0");
  TestRun{.second = 5}.write(root / "sweep/not/named");
  TestRun{.second = 6}.write(root / "deep/er/0");
  fs::create_directory_symlink(outside.path(), root / "sweep/link");
  record(root / "sweep", {"model@arch=a/b,seed=1", "model@arch=a/c/d", "3", ".hidden/0", "link/0",
                          "../deep/er/0", (outside / "0").string(), "missing", ".", ""});
  RunIndex index = opened(root.path());
  const std::vector<std::string> found = {"sweep/3 ok", "sweep/model@arch=a/c/d ok",
                                          "sweep/model@arch=a/b,seed=1 ok"};
  EXPECT_EQ(folders(index), found);
  RunIndex of_sweep = opened(root / "sweep");
  EXPECT_THAT(folders(of_sweep), ElementsAre("not/named ok", "3 ok", "model@arch=a/c/d ok",
                                             "model@arch=a/b,seed=1 ok"))
      << "the root itself may be the folder of a sweep";

  for (const char* text : {"", "{", "[]", R"({"jobs": 1})", R"({"jobs": [1, {"folder": 2}]})"}) {
    ASSERT_TRUE(write_file_atomic(root / "sweep" / run::files::kSweep, text));
    RunIndex without = opened(root.path());
    EXPECT_THAT(folders(without), ElementsAre("sweep/3 ok")) << text;
  }
}

TEST(RunIndex, FollowsTheFolders) {
  const testing::TempDir root;
  TestRun{.second = 1, .token_ms = 2}.write(root / "a");
  TestRun{.second = 2}.write(root / "b");
  RunIndex index = opened(root.path());
  fs::remove_all(root / "b");
  TestRun{.second = 1, .token_ms = 9}.write(root / "a");
  TestRun{.second = 3}.write(root / "c");
  ASSERT_TRUE(index.refresh());
  EXPECT_THAT(folders(index), ElementsAre("c ok", "a ok"));
  EXPECT_EQ(index.runs()->back().find_metric("token_ms")->value, 9);
}

sqlite::Database altered(const fs::path& file) {
  auto database = sqlite::Database::open_read_write(file, sqlite::Create::Yes);
  EXPECT_TRUE(database) << database.error().to_string();
  return std::move(*database);
}

TEST(RunIndex, CanBeRemovedDamagedOrOfAnotherVersion) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  { opened(root.path()); }
  fs::remove(root / run::files::kIndex);
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
  ASSERT_TRUE(write_file_atomic(root / run::files::kIndex, ""));
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
    EXPECT_THAT(index.notes(), IsEmpty());
  }
  fs::resize_file(root / run::files::kIndex, fs::file_size(root / run::files::kIndex) / 2);
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
    ASSERT_TRUE(index.rebuild());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
  ASSERT_TRUE(
      altered(root / run::files::kIndex).execute("PRAGMA user_version = 99; DROP TABLE metric;"));
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(), IsEmpty());
}

TEST(RunIndex, OfTheFirstReleaseIsMadeAgain) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  ASSERT_TRUE(altered(root / run::files::kIndex).execute(R"(
    CREATE TABLE run (
      folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, id TEXT NOT NULL, experiment TEXT NOT NULL,
      state TEXT NOT NULL, exit_code INTEGER, model TEXT NOT NULL, device TEXT NOT NULL,
      device_name TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL,
      "commit" TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL,
      fingerprint TEXT NOT NULL);
    CREATE TABLE metric (
      folder TEXT NOT NULL REFERENCES run(folder) ON DELETE CASCADE,
      name TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL, n INTEGER NOT NULL,
      place INTEGER NOT NULL, PRIMARY KEY (folder, name));
    CREATE INDEX run_fingerprint ON run(fingerprint);
    PRAGMA user_version = 1;)"));
  RunIndex index = opened(root.path());
  EXPECT_THAT(index.notes(), IsEmpty());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  RunIndex again = opened(root.path());
  EXPECT_THAT(again.notes(), IsEmpty());
}

TEST(RunIndex, LeavesTheDatabaseOfAnotherProgramAlone) {
  struct Case {
    std::string_view name, schema;
  };
  constexpr Case kCases[] = {
      {"with names like ours", "CREATE TABLE run (precious); CREATE TABLE metric (precious);"},
      {"of the same version", "CREATE TABLE run (precious); PRAGMA user_version = 1;"},
      {"marked as its own", "CREATE TABLE notes (precious); PRAGMA application_id = 77;"},
      {"without a table", "PRAGMA user_version = 5;"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const testing::TempDir root;
    TestRun{}.write(root / "a");
    ASSERT_TRUE(altered(root / run::files::kIndex).execute(std::string(c.schema)));
    const std::string before = read_file(root / run::files::kIndex).value();
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
    EXPECT_THAT(
        index.notes(),
        ElementsAre("the index is not used, and every run was read from its folder: " +
                    (root / run::files::kIndex).string() + ": is a database of another program"));
    EXPECT_EQ(read_file(root / run::files::kIndex).value(), before);
  }
}

TEST(RunIndex, LeavesAFileThatIsNoDatabaseAlone) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  ASSERT_TRUE(write_file_atomic(root / run::files::kIndex, std::string(5000, 'x')));
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(),
              ElementsAre("the index is not used, and every run was read from its folder: " +
                          (root / run::files::kIndex).string() + ": is not an SQLite database"));
  EXPECT_EQ(read_file(root / run::files::kIndex).value(), std::string(5000, 'x'));
}

TEST(RunIndex, FollowsNoLink) {
  const testing::TempDir root;
  const testing::TempDir elsewhere;
  TestRun{}.write(root / "a");
  TestRun{}.write(elsewhere / "b");
  { opened(elsewhere.path()); }
  const std::string before = read_file(elsewhere / run::files::kIndex).value();
  fs::create_symlink(elsewhere / run::files::kIndex, root / run::files::kIndex);
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(),
              ElementsAre("the index is not used, and every run was read from its folder: " +
                          (root / run::files::kIndex).string() + ": is a link"));
  EXPECT_EQ(read_file(elsewhere / run::files::kIndex).value(), before);
}

TEST(RunIndex, HasOnlyRunsThatLieInTheRoot) {
  const testing::TempDir above;
  TestRun{}.write(above / "victim");
  TestRun{}.write(above / "root/a");
  const fs::path root = above / "root";
  { opened(root); }
  const std::string insert =
      "INSERT INTO run SELECT '../victim', stamp, id, experiment, state, exit_code, model, "
      "program, "
      "device, device_name, host, version, \"commit\", started, ended, fingerprint, "
      "configuration, disturbance, steadiness FROM run WHERE folder = 'a';";
  struct Case {
    std::string_view name;
    std::string schema;
  };
  const Case cases[] = {
      {"a row", insert},
      {"a trigger", "CREATE TRIGGER hook AFTER DELETE ON run BEGIN " + insert +
                        " END; UPDATE run SET stamp = ''"},
      {"a view",
       "ALTER TABLE run RENAME TO hidden; CREATE VIEW run AS SELECT '../victim' AS "
       "folder, * FROM hidden"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    { opened(root); }
    ASSERT_TRUE(altered(root / run::files::kIndex).execute(c.schema));
    RunIndex index = opened(root);
    EXPECT_THAT(index.notes(), IsEmpty());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
}

TEST(RunIndex, InMemoryBeginsWithWhatTheFileHasAndWritesNothing) {
  const testing::TempDir root;
  TestRun{.second = 1}.write(root / "a");
  TestRun{.second = 2}.write(root / "b");
  opened(root.path());
  const fs::path file = root / run::files::kIndex;
  const std::string before = read_file(file).value();
  TestRun{.second = 3}.write(root / "c");
  std::vector<std::string> read;
  const auto reading = [&](const fs::path& below, const fs::path& folder) {
    read.push_back(folder.string());
    return read_indexed_run(below, folder);
  };
  auto copy = RunIndex::open(root.path(), RunIndex::Keep::Copy);
  ASSERT_TRUE(copy);
  ASSERT_TRUE(copy->refresh(reading));
  EXPECT_THAT(folders(*copy), ElementsAre("c ok", "b ok", "a ok"));
  EXPECT_THAT(read, ElementsAre("c"));
  EXPECT_EQ(read_file(file).value(), before);
  // A file that is not ours, or a link to one, is not read; the runs are.
  for (const bool is_link : {false, true}) {
    fs::rename(file, root / "elsewhere");
    if (is_link) fs::create_symlink("elsewhere", file);
    read.clear();
    auto unaided = RunIndex::open(root.path(), RunIndex::Keep::Copy);
    ASSERT_TRUE(unaided);
    ASSERT_TRUE(unaided->refresh(reading));
    EXPECT_THAT(folders(*unaided), ElementsAre("c ok", "b ok", "a ok"));
    EXPECT_EQ(read.size(), 3U);
    fs::remove(file);
    fs::rename(root / "elsewhere", file);
  }
}

TEST(RunIndex, ForgetsWhatItNotedOnceItIsRight) {
  const testing::TempDir root;
  fs::create_directories(root / "a");
  ASSERT_TRUE(write_file_atomic(root / "a/run.json", "{"));
  RunIndex index = opened(root.path());
  ASSERT_TRUE(index.refresh());
  EXPECT_EQ(index.notes().size(), 1U);
  TestRun{}.write(root / "a");
  ASSERT_TRUE(index.refresh());
  EXPECT_THAT(index.notes(), IsEmpty());
}

TEST(RunIndex, TellsOfRunsItCannotRead) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  fs::create_directories(root / "newer");
  ASSERT_TRUE(write_file_atomic(root / "newer/run.json", R"({"schema": "profline.run/9"})"));
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(), ElementsAre(HasSubstr("newer is left out: reading " +
                                                   (root / "newer/run.json").string() +
                                                   ": its schema must be 'profline.run/1'")));
}

TEST(RunIndex, TellsARunThatGoesOnFromOneThatWasKilled) {
  const testing::TempDir root;
  TestRun{.state = RunState::Running, .second = 1}.write(root / "killed");
  TestRun{.state = RunState::Running, .second = 2}.write(root / "going");
  const run::FolderLock lock(root / "going", run::FolderLock::Kind::Own);
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("going running", "killed killed"));
}

TEST(RunIndex, IsKeptInMemoryWhereItCannotBeWritten) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  // A folder of that name: not even root can open it.
  fs::create_directories(root / run::files::kIndex);
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(
      index.notes(),
      ElementsAre("the index is not used, and every run was read from its folder: " +
                  (root / run::files::kIndex).string() + ": is a folder, not an SQLite database"));
  // Reading alone creates no file.
  const testing::TempDir other;
  TestRun{}.write(other / "a");
  ASSERT_TRUE(RunIndex::open(other.path(), RunIndex::Keep::IfThere));
  EXPECT_FALSE(fs::exists(other / run::files::kIndex));
  auto sceptic = RunIndex::open(other.path(), RunIndex::Keep::No);
  ASSERT_TRUE(sceptic && sceptic->refresh());
  EXPECT_THAT(folders(*sceptic), ElementsAre("a ok"));
  EXPECT_FALSE(fs::exists(other / run::files::kIndex));
}

TEST(RunIndex, NeedsAFolder) {
  const testing::TempDir root;
  const auto index = RunIndex::open(root / "nowhere");
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().to_string(),
            "there is no folder '" + (root / "nowhere").string() +
                "'; use --root to name the folder that contains the runs");
}

TEST(RunIndex, BearsManyReadersWhileRunsComeAndGo) {
  const testing::TempDir root;
  for (int i = 0; i < 10; ++i) TestRun{.second = i}.write(root / ("r" + std::to_string(i)));
  const auto visit = [&root](int id) {
    for (int round = 0; round < 3; ++round) {
      const std::string own = "own" + std::to_string(id);
      TestRun{.second = 30 + round}.write(root / own);
      auto index = RunIndex::open(root.path());
      ASSERT_TRUE(index) << index.error().to_string();
      const auto done = index->refresh();
      ASSERT_TRUE(done) << done.error().to_string();
      ASSERT_GE(index->runs()->size(), 11U);
    }
  };
  {
    std::vector<std::jthread> visitors;
    visitors.reserve(4);
    for (int id = 0; id < 4; ++id) visitors.emplace_back(visit, id);
  }
  RunIndex index = opened(root.path());
  EXPECT_EQ(index.runs()->size(), 14U);
  EXPECT_THAT(index.notes(), IsEmpty());
}

}  // namespace
}  // namespace profline::run_index
