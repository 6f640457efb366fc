// `profline runs`: listing the output root, showing one run, and pruning.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "formats/sqlite.h"
#include "made_runs.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Runs : public ::testing::Test {
 protected:
  void SetUp() override {
    add({.id = "r1", .experiment = "eager", .started = "2026-11-13T10:00:00.000Z", .token_ms = 3});
    add({.id = "r2", .experiment = "Fast path", .started = "2026-11-14T10:00:00.000Z"});
    add({.id = "r3",
         .experiment = "fast",
         .state = "failed",
         .started = "2026-11-15T10:00:00.000Z",
         .device = "cpu"});
  }
  void add(const MadeRun& run) const { run.write(root() / run.id); }
  fs::path root() const { return folder_ / "tmp/profile-output"; }
  Outcome runs(std::vector<std::string> more) const {
    more.insert(more.begin(), "runs");
    return run_profline_in(folder_.path(), std::move(more));
  }
  /// The folders in a list.
  std::vector<std::string> listed(std::vector<std::string> more) const {
    more.insert(more.end(), {"--format", "json"});
    const Outcome outcome = runs(std::move(more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto document = parse_json(outcome.out, "out");
    EXPECT_TRUE(document) << outcome.out;
    std::vector<std::string> names;
    if (!document) return names;
    for (const Node& run : document->find("runs")->as_list()) {
      names.push_back(run.find("folder")->as_string());
    }
    return names;
  }

  testing::TempDir folder_;
};

TEST_F(Runs, AreListedNewestFirst) {
  const Outcome outcome = runs({});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(
      outcome.out,
      "  run  started (UTC)        state   workload  device  prefill_ms  token_ms  experiment\n"
      "  r3   2026-11-15 10:00:00  failed  tiny      cpu        30.0 ms   2.00 ms  fast\n"
      "  r2   2026-11-14 10:00:00  ok      tiny      cuda:0     30.0 ms   2.00 ms  Fast path\n"
      "  r1   2026-11-13 10:00:00  ok      tiny      cuda:0     30.0 ms   3.00 ms  eager\n");
  EXPECT_EQ(runs({"list"}).out, outcome.out);
  EXPECT_TRUE(fs::exists(root() / "runs.sqlite"));
  fs::remove(root() / "runs.sqlite");
  EXPECT_EQ(runs({"rebuild"}).out, outcome.out);
}

TEST_F(Runs, AreFiltered) {
  EXPECT_THAT(listed({}), ElementsAre("r3", "r2", "r1"));
  EXPECT_THAT(listed({"--top", "2"}), ElementsAre("r3", "r2"));
  EXPECT_THAT(listed({"--experiment", "FAST"}), ElementsAre("r3", "r2"));
  EXPECT_THAT(listed({"--model", "tin"}), ElementsAre("r3", "r2", "r1"));
  EXPECT_THAT(listed({"--device", "cuda"}), ElementsAre("r2", "r1"));
  EXPECT_THAT(listed({"--since", "2026-11-14"}), ElementsAre("r3", "r2"));
  EXPECT_THAT(listed({"--until", "2026-11-14"}), ElementsAre("r2", "r1"));
  EXPECT_THAT(listed({"--metric", "token_ms<2.5", "--device", "cuda"}), ElementsAre("r2"));
  EXPECT_EQ(runs({"--metric", "token_ms>100"}).out, "no runs\n");
}

TEST_F(Runs, ReportAMetricThatNoneHas) {
  struct Case {
    std::string metric, message;
  };
  const Case cases[] = {
      {"token_m<5", "--metric: no run has 'token_m' (did you mean 'token_ms'?)"},
      {"clip", "--metric: no run has 'clip'"},
      {"token_ms,prefill_ms",
       "--metric: no run has 'token_ms,prefill_ms'; repeat --metric for each name"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = runs({"--metric", c.metric});
    EXPECT_EQ(outcome.code, 3) << c.metric;
    EXPECT_EQ(outcome.err, "profline: " + c.message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Runs, ShowOne) {
  const Outcome outcome = runs({"show", "r2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  experiment  Fast path\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  token_ms           2.00 ms        40\n"));
  EXPECT_EQ(runs({"show", (root() / "r2").string()}).out, outcome.out);
  const Outcome wrong = runs({"show", "r9"});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("profline: there is no run 'r9' below tmp/profile-output"));
}

TEST_F(Runs, AreExportedWithTheSameColumnsWhateverTheyMeasured) {
  add({.id = "r0", .experiment = "a, \"b\"", .started = "2026-11-12T10:00:00.000Z", .images = 0});
  const Outcome csv = runs({"export", "--as", "csv"});
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_THAT(csv.out,
              StartsWith("folder,id,experiment,state,exit_code,model,program,device,device_name,"
                         "host,version,commit,started,ended,fingerprint,disturbance,steadiness,"
                         "swept,metric,unit,value,n,configuration\n"));
  EXPECT_THAT(csv.out, HasSubstr("r1,r1,eager,ok,,tiny,,cuda:0,"));
  EXPECT_THAT(csv.out, HasSubstr(",token_ms,ms,"));
  EXPECT_THAT(csv.out, HasSubstr("r0,r0,\"a, \"\"b\"\"\",ok,,tiny,,cuda:0,"));
  EXPECT_THAT(csv.out, ContainsRegex(",,,,,[0-9a-f]{16}\n$"));
  const Outcome jsonl = runs({"export", "--as", "jsonl", "--experiment", "eager"});
  EXPECT_EQ(jsonl.out.find('\n'), jsonl.out.size() - 1);
  const auto line = parse_json(jsonl.out, "line");
  ASSERT_TRUE(line) << jsonl.out;
  EXPECT_EQ(line->find("folder")->as_string(), "r1");
  EXPECT_EQ(line->find("swept")->as_string(), "");
  EXPECT_EQ(runs({"export"}).err,
            "profline: 'profline runs export' needs a form: --as csv, or --as jsonl\n");
}

TEST_F(Runs, ArePrunedAfterADryRun) {
  const Outcome dry = runs({"prune", "--keep", "1", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("  kept          r3 "));
  EXPECT_THAT(dry.out, HasSubstr("  would remove  r1 "));
  EXPECT_THAT(dry.out, HasSubstr("would remove 2 of 3 runs, "));
  EXPECT_THAT(listed({}), ElementsAre("r3", "r2", "r1"));
  const Outcome done = runs({"prune", "--keep", "1"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("removed 2 of 3 runs, "));
  EXPECT_THAT(listed({}), ElementsAre("r3"));
  EXPECT_FALSE(fs::exists(root() / "r1"));
}

TEST_F(Runs, PruneOnlyWhatTheFiltersLeave) {
  EXPECT_EQ(runs({"prune", "--keep", "0", "--experiment", "eager"}).code, 0);
  EXPECT_THAT(listed({}), ElementsAre("r3", "r2"));
}

TEST_F(Runs, OfAUsersProgramHaveItsNameAndWallTime) {
  add({.id = "r4",
       .experiment = "mine",
       .started = "2026-11-16T10:00:00.000Z",
       .device = "cpu",
       .wall_ms = 1500});
  const Outcome outcome = runs({"--top", "2"});
  EXPECT_EQ(outcome.out,
            "  run  started (UTC)        state   workload  device  prefill_ms  token_ms  wall_ms  "
            "experiment\n"
            "  r4   2026-11-16 10:00:00  ok      train.py  cpu              –         –    1.5 s  "
            "mine\n"
            "  r3   2026-11-15 10:00:00  failed  tiny      cpu        30.0 ms   2.00 ms        –  "
            "fast\n");
  EXPECT_THAT(listed({"--metric", "wall_ms<2000"}), ElementsAre("r4"));
  EXPECT_THAT(listed({"--model", "train"}), ElementsAre("r4"));
  EXPECT_THAT(listed({"--model", "deepseek_ocr"}), ElementsAre());
  EXPECT_THAT(runs({"show", "r4"}).out, HasSubstr("  program     train.py\n"));
}

/// The index of the root after someone has tampered with it.
class HostileIndex : public Runs {
 protected:
  void SetUp() override {
    Runs::SetUp();
    MadeRun{.id = "victim"}.write(folder_ / "tmp/victim");
    ASSERT_EQ(runs({}).code, 0);
  }
  void alter(const std::string& sql) const {
    auto index = sqlite::Database::open_read_write(index_file(), sqlite::Create::Yes);
    ASSERT_TRUE(index) << index.error().to_string();
    const auto done = index->execute(sql);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  fs::path index_file() const { return root() / "runs.sqlite"; }
  void expect_only_the_root_is_pruned() const {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{}, {"prune", "--keep", "1"}, {"prune", "--keep", "0"}}) {
      const Outcome outcome = runs(arguments);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_THAT(outcome.out, Not(HasSubstr("victim")));
    }
    EXPECT_TRUE(fs::exists(folder_ / "tmp/victim/run.json"));
    EXPECT_THAT(listed({}), ElementsAre());
  }

  /// The columns of the index, whatever they are, with a folder outside the root and an early
  /// start.
  std::string intruding_columns() const {
    auto index = sqlite::Database::open_read_only(index_file());
    const auto columns = index->columns("run");
    EXPECT_TRUE(columns) << columns.error().to_string();
    std::string text;
    for (const auto& column : *columns) {
      const std::string name = '"' + column.name + '"';
      text += text.empty() ? "" : ", ";
      if (column.name == "folder") text += "'../victim' AS ";
      if (column.name == "started") text += "'2020' AS ";
      text += name;
    }
    return text;
  }
  /// Adds a row for something outside the root.
  std::string intruder() const {
    return "INSERT OR REPLACE INTO run SELECT " + intruding_columns() + " FROM run LIMIT 1";
  }
};

TEST_F(HostileIndex, CannotNameAFolderOutsideTheRoot) {
  alter(intruder());
  expect_only_the_root_is_pruned();
}

TEST_F(HostileIndex, CannotNameAFolderThroughATrigger) {
  alter("CREATE TRIGGER hook AFTER DELETE ON run BEGIN " + intruder() +
        "; END; UPDATE run SET stamp = ''");
  expect_only_the_root_is_pruned();
}

TEST_F(HostileIndex, CannotNameAFolderThroughAView) {
  const std::string columns = intruding_columns();
  alter("ALTER TABLE run RENAME TO hidden; CREATE VIEW run AS SELECT " + columns + " FROM hidden");
  expect_only_the_root_is_pruned();
}

TEST_F(HostileIndex, CannotNameAFolderThroughAViewThatAcceptsEveryChange) {
  std::string sql = "ALTER TABLE run RENAME TO hidden; CREATE VIEW run AS SELECT " +
                    intruding_columns() + " FROM hidden";
  for (const std::string change : {"INSERT", "UPDATE", "DELETE"}) {
    sql +=
        "; CREATE TRIGGER on_" + change + " INSTEAD OF " + change + " ON run BEGIN SELECT 1; END";
  }
  alter(sql);
  expect_only_the_root_is_pruned();
}

TEST_F(HostileIndex, CannotChooseWhichRunsGo) {
  alter("UPDATE run SET started = '2999' WHERE folder = 'r1'");
  EXPECT_EQ(runs({"prune", "--keep", "1"}).code, 0);
  EXPECT_THAT(listed({}), ElementsAre("r3"));
}

TEST_F(HostileIndex, CannotHaveAnotherProgramsDatabaseAltered) {
  const fs::path theirs = folder_ / "theirs.sqlite";
  {
    auto database = sqlite::Database::open_read_write(theirs, sqlite::Create::Yes);
    ASSERT_TRUE(database->execute(
        "CREATE TABLE run (precious); CREATE TABLE metric (precious); INSERT INTO run VALUES (1)"));
  }
  const std::string before = read_file(theirs).value();
  const std::string lead =
      "profline: warning: the index is not used, and every run was read from its folder: "
      "tmp/profile-output/runs.sqlite: ";
  fs::remove(index_file());
  fs::create_symlink(theirs, index_file());
  const Outcome linked = runs({});
  EXPECT_EQ(linked.code, 0);
  EXPECT_EQ(linked.err, lead + "is a link\n");
  EXPECT_THAT(linked.out, HasSubstr("  r1 "));
  fs::remove(index_file());
  fs::create_hard_link(theirs, index_file());
  EXPECT_EQ(runs({}).err, lead + "is a database of another program\n");
  EXPECT_EQ(runs({"rebuild"}).err, lead + "is a database of another program\n");
  EXPECT_EQ(read_file(theirs).value(), before);
  EXPECT_EQ(runs({"prune", "--keep", "1"}).code, 0);
  EXPECT_EQ(read_file(theirs).value(), before);
  EXPECT_FALSE(fs::exists(root() / "r1"));
}

TEST_F(Runs, WithHostileNamesAreInert) {
  add({.id = "r4",
       .experiment = "\x1b]0;pwned\x07\x1b[2J\u202E\nr5  ok",
       .started = "2026-11-16T10:00:00.000Z"});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"show", "r4"}, {"prune", "--keep", "9"}}) {
    const Outcome outcome = runs(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\u202E")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\nr5")));
  }
}

TEST_F(Runs, ReportWhatIsWrong) {
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string message;
  };
  const Case cases[] = {
      {{"--root", "nowhere"},
       3,
       "there is no folder 'nowhere'; use --root to name the folder that contains the runs"},
      {{"prune"}, 2, "'profline runs prune' needs to know how many to keep: --keep N"},
      {{"prune", "--keep", "-1"}, 2, "--keep must be an integer from 0 to 1000000000, not '-1'"},
      {{"prun"},
       2,
       "'runs prun' is not known; there is 'list', 'show', 'export', 'prune', 'rebuild' (did you "
       "mean "
       "'prune'?)"},
      {{"show"}, 2, "'profline runs show RUN' takes one run"},
      {{"--since", "today"},
       2,
       "--since takes a day in UTC, as in 2026-11-15 or 2026-11-15T10:20, not 'today'"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = runs(c.arguments);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.err, "profline: " + c.message + "\n");
  }
  ASSERT_TRUE(write_file_atomic(root() / "r1/run.json", "{ torn"));
  const Outcome torn = runs({});
  EXPECT_EQ(torn.code, 0);
  EXPECT_THAT(torn.err, HasSubstr("profline: warning: the run r1 is left out: "));
}

}  // namespace
}  // namespace profline::e2e
