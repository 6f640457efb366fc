#include "session/run_session.h"

#include <algorithm>

#include "formats/json.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunSessionTest : public SessionTest {
 protected:
  Result<FinishedRun> started(std::vector<std::string> overrides = {}) {
    RunRequest request{.choice = choice(std::move(overrides))};
    request.argv = {"profline", "run", "-cn", "single"};
    auto run = prepare_run(request, Making::Folder, services());
    if (!run) return run.error();
    return start_run(*run, request, services());
  }
  Result<FinishedRun> resumed(std::vector<std::string> overrides = {}) {
    RunRequest request{.choice = choice(std::move(overrides))};
    request.resume = folder_ / "run";
    return resume_run(request, services());
  }
  static StageState baseline_of(const FinishedRun& run) {
    for (const StageRecord& stage : run.record.stages) {
      if (stage.name == "baseline") return stage.state;
    }
    return StageState::Off;
  }
};

TEST_F(RunSessionTest, LeavesARunThatSaysWhatItWas) {
  processes_.expect({}).any_number_of_times();
  const auto run = started({"experiment=first"});
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->code, ExitCode::Done);
  EXPECT_EQ(run->folder, folder_ / "run");
  EXPECT_EQ(baseline_of(*run), StageState::Ok);
  EXPECT_FALSE(run->verdict.empty());
  const RunRecord record = run::read_record(folder_ / "run").value();
  EXPECT_EQ(record.experiment, "first");
  EXPECT_EQ(record.state, RunState::Ok);
  EXPECT_EQ(record.command_line.argv.back(), "single");
  EXPECT_EQ(record.command_line.overrides, std::vector<std::string>{"experiment=first"});
  for (const char* file : {"env.json", "run.log", "report.html", "summary.json"}) {
    EXPECT_TRUE(exists(fs::path("run") / file)) << file;
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "latest"));
}

TEST_F(RunSessionTest, ConfigAndOriginsAreAmongItsFiles) {
  processes_.expect({}).any_number_of_times();
  ASSERT_TRUE(started({"experiment=first", "hydra.output_subdir=.hydra"}));
  EXPECT_EQ(text_of("run/overrides.yaml"), "- experiment=first\n- hydra.output_subdir=.hydra\n");
  EXPECT_THAT(text_of("run/config.yaml"), HasSubstr("experiment: first\n"));
  EXPECT_EQ(text_of("run/.hydra/config.yaml"), text_of("run/config.yaml"));
  EXPECT_EQ(text_of("run/.hydra/overrides.yaml"), "- experiment=first\n");
  EXPECT_THAT(text_of("run/.hydra/hydra.yaml"), HasSubstr("output_subdir: .hydra\n"));
  const Node origins = parse_json(text_of("run/config.origins.json"), "origins").value();
  EXPECT_EQ(origins.find("schema")->as_string(), "profline.config_origins/1");
  const Node* experiment = origins.find("origins")->find("experiment");
  ASSERT_NE(experiment, nullptr);
  EXPECT_EQ(experiment->find("source")->as_string(), "override 1");
  EXPECT_TRUE(experiment->find("is_override")->as_bool());
  const Node* device = origins.find("origins")->find("device");
  EXPECT_EQ(device->find("source")->as_string(), "conf/single.yaml");
  EXPECT_EQ(device->find("line")->as_int(), 4);
}

TEST_F(RunSessionTest, SecretsStayOutOfItsFiles) {
  processes_.expect({}).any_number_of_times();
  ASSERT_TRUE(started({"+vars.api_key=hunter2hunter2"}));
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "run")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(read_file(entry.path()).value_or(""), ::testing::Not(HasSubstr("hunter2hunter2")))
        << entry.path();
  }
  EXPECT_THAT(text_of("run/config.yaml"),
              HasSubstr("# Values that look like secrets were replaced by "));
}

TEST_F(RunSessionTest, AnObstacleIsAnErrorAndLeavesNothing) {
  const auto run = started({"pipeline.workload.command=[no-such-program]"});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().to_string(), HasSubstr("no-such-program"));
  EXPECT_FALSE(exists("run"));
}

TEST_F(RunSessionTest, AFailedStageFailsTheRunAndIsDoneAgain) {
  processes_.expect({}).complains("boom\n").exits(3);
  const auto failed = started();
  ASSERT_TRUE(failed) << failed.error().to_string();
  EXPECT_EQ(failed->code, ExitCode::Failed);
  EXPECT_EQ(baseline_of(*failed), StageState::Failed);
  processes_.expect({}).any_number_of_times();
  const auto again = resumed();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->code, ExitCode::Done);
  EXPECT_EQ(baseline_of(*again), StageState::Ok);
  EXPECT_EQ(again->record.resumed.size(), 1U);
}

TEST_F(RunSessionTest, WhatIsFinishedIsNotRunAgain) {
  processes_.expect({}).any_number_of_times();
  ASSERT_TRUE(started());
  const std::size_t before = processes_.commands().size();
  const auto again = resumed();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->code, ExitCode::Done);
  EXPECT_EQ(processes_.commands().size(), before);
}

TEST_F(RunSessionTest, OnlyARunCanBeResumed) {
  const auto nothing = resumed();
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind(), ErrorKind::NotFound);
}

TEST_F(RunSessionTest, ReportsAreWrittenAgainWithTheirDigests) {
  processes_.expect({}).any_number_of_times();
  ASSERT_TRUE(started());
  ASSERT_TRUE(write_file_atomic(folder_ / "run/report.html", "damaged"));
  const auto written = rewrite_reports(folder_ / "run");
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_THAT(text_of("run/report.html"), ::testing::StartsWith("<!doctype html>"));
  const RunRecord record = run::read_record(folder_ / "run").value();
  for (const fs::path& file : written->files) {
    EXPECT_TRUE(std::any_of(record.artifacts.begin(), record.artifacts.end(),
                            [&](const ArtifactRecord& known) { return known.path == file; }))
        << file;
  }
}

TEST_F(RunSessionTest, TheRecordOfARunningOneIsLeftAlone) {
  processes_.expect({}).any_number_of_times();
  ASSERT_TRUE(started());
  std::string record = text_of("run/run.json");
  const std::string ok = "\"state\": \"ok\"";
  record.replace(record.find(ok), ok.size(), "\"state\": \"running\"");
  ASSERT_TRUE(write_file_atomic(folder_ / "run/run.json", record));
  ASSERT_TRUE(rewrite_reports(folder_ / "run"));
  EXPECT_EQ(text_of("run/run.json"), record);
}

}  // namespace
}  // namespace profline::session
