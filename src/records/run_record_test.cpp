#include "records/run_record.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

RunRecord full_record() {
  RunRecord run;
  run.id = "20261115-162549";
  run.state = RunState::Failed;
  run.exit_code = 1;
  run.sampling_seed = 7;
  StageRecord stage;
  stage.name = "nsys";
  stage.state = StageState::TimedOut;
  stage.findings = {{Severity::Problem, "timeout", "ended after 5 s", "give it longer"}};
  stage.changes = {{"pipeline.torch_profiler.enable", Node::boolean(false), "CUPTI"}};
  CommandRecord command;
  command.name = "capture";
  command.argv = {"nsys", "profile"};
  command.env = {{"A", "b"}};
  command.process = {77, 1234};
  command.signal = 9;
  stage.commands = {command};
  stage.artifacts = {{"nsys/run.nsys-rep", 12, "abc"}};
  run.stages = {stage};
  return run;
}

TEST(RunRecord, ReadsBackWhatWasWritten) {
  const RunRecord run = full_record();
  const auto read = parse_run_record(write_json(to_node(run)).value(), "run.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, run);
  ASSERT_NE(read->find_stage("nsys"), nullptr);
  EXPECT_EQ(to_text(read->find_stage("nsys")->state), "timeout");
  EXPECT_EQ(read->find_stage("ncu"), nullptr);
}

TEST(RunRecord, BeginsWithItsSchema) {
  EXPECT_EQ(to_node(full_record()).as_map().begin()->value, Node::string("profline.run/1"));
  EXPECT_EQ(to_node(full_record().stages[0]).as_map().begin()->value,
            Node::string("profline.status/1"));
}

TEST(RunRecord, RefusesOneOfANewerVersion) {
  Node document = to_node(full_record());
  document.as_map().set("schema", Node::string("profline.run/2"));
  const auto read = parse_run_record(write_json(document).value(), "run.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().to_string(),
            "reading run.json: its schema must be 'profline.run/1', not 'profline.run/2'; a newer "
            "profline may have written it");
}

}  // namespace
}  // namespace profline
