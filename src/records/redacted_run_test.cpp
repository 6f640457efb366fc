#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "records/run_record.h"

namespace profline {
namespace {

using ::testing::ElementsAre;

TEST(RedactedRun, HasNoSecretInItsCommandsOverridesAndMessages) {
  Redactor redactor;
  redactor.know("opensesame");
  RunRecord run;
  run.id = "opensesame";  // a folder's name, which --resume needs
  run.experiment = "with opensesame";
  run.command_line.argv = {"profline", "run", "db.password=x", "--nsys", "/opt/nsys"};
  run.command_line.overrides = {"db.password=x", "hub.token=${oc.env:HF_TOKEN}"};
  run.findings = {{Severity::Note, "code", "said opensesame", "unset opensesame"}};
  StageRecord stage;
  stage.name = "nsys";
  CommandRecord command;
  command.argv = {"python", "--token", "abc"};
  command.env = {{"HF_TOKEN", "abc"}, {"LANG", "C"}};
  command.cwd = "/srv/opensesame";
  stage.commands = {command};
  stage.findings = {{Severity::Problem, "child_failed", "exited: opensesame"}};
  stage.changes = {{"hub", Node::string("opensesame"), "to see it"}};
  run.stages = {stage};
  const RunRecord written = redacted(run, redactor);
  EXPECT_EQ(written.id, "opensesame");
  EXPECT_EQ(written.experiment, "with <redacted>");
  EXPECT_THAT(written.command_line.argv,
              ElementsAre("profline", "run", "db.password=<redacted>", "--nsys", "/opt/nsys"));
  EXPECT_THAT(written.command_line.overrides,
              ElementsAre("db.password=<redacted>", "hub.token=${oc.env:HF_TOKEN}"));
  EXPECT_EQ(written.findings[0].text, "said <redacted>");
  EXPECT_EQ(written.findings[0].fix, "unset <redacted>");
  const CommandRecord& kept = written.stages[0].commands[0];
  EXPECT_THAT(kept.argv, ElementsAre("python", "--token", "<redacted>"));
  EXPECT_EQ(kept.env.at("HF_TOKEN"), "<redacted>");
  EXPECT_EQ(kept.env.at("LANG"), "C");
  EXPECT_EQ(kept.cwd, "/srv/opensesame");
  EXPECT_EQ(written.stages[0].findings[0].text, "exited: <redacted>");
  EXPECT_EQ(written.stages[0].changes[0].value, Node::string("<redacted>"));
}

}  // namespace
}  // namespace profline
