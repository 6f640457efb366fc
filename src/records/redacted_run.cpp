#include "records/redacted_run.h"

#include <utility>

#include "formats/node.h"

namespace profline {
namespace {

void redact(std::vector<std::string>& texts, const Redactor& redactor) {
  for (std::string& text : texts) text = redactor.text(text);
}

void redact(std::vector<Finding>& findings, const Redactor& redactor) {
  for (Finding& finding : findings) {
    finding.text = redactor.text(finding.text);
    finding.fix = redactor.text(finding.fix);
  }
}

}  // namespace

StageRecord redacted(StageRecord stage, const Redactor& redactor) {
  stage.why = redactor.text(stage.why);
  redact(stage.findings, redactor);
  redact(stage.limits, redactor);
  redact(stage.notes, redactor);
  for (ChangeRecord& change : stage.changes) change.value = redacted(change.value, redactor);
  for (CommandRecord& command : stage.commands) {
    command.argv = redactor.words(command.argv);
    command.env = redactor.variables(command.env);
    command.end = redactor.text(command.end);
  }
  return stage;
}

RunRecord redacted(RunRecord run, const Redactor& redactor) {
  run.experiment = redactor.text(run.experiment);
  run.command_line.argv = redactor.words(run.command_line.argv);
  run.command_line.overrides = redactor.words(run.command_line.overrides);
  redact(run.findings, redactor);
  for (StageRecord& stage : run.stages) stage = redacted(std::move(stage), redactor);
  return run;
}

}  // namespace profline
