#include "records/run_record.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json_write.h"
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

void write(const std::filesystem::path& file, const Node& document) {
  ASSERT_TRUE(write_file_atomic(file, write_json(document).value()));
}

TEST(RunRecord, ReadsBackWhatWasWritten) {
  const testing::TempDir folder;
  const RunRecord run = full_record();
  write(folder / "run.json", to_node(run));
  const auto read = read_run_record(folder.path());
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
  const testing::TempDir folder;
  Node document = to_node(full_record());
  document.as_map().set("schema", Node::string("profline.run/2"));
  write(folder / "run.json", document);
  const auto read = read_run_record(folder.path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().to_string(),
            "reading " + (folder / "run.json").string() +
                ": its schema must be 'profline.run/1', not 'profline.run/2'; a newer profline may "
                "have written it");
}

TEST(RunRecord, AFolderWithoutOneIsNotFound) {
  const testing::TempDir folder;
  const auto read = read_run_record(folder.path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace profline
