#include "records/run_record.h"

#include <algorithm>
#include <utility>

#include "formats/json.h"
#include "formats/node.h"
#include "schema/read.h"

namespace profline {
namespace {

template <typename Record>
Node document(const char* schema, const Record& record) {
  NodeMap map;
  map.set("schema", Node::string(schema));
  const Node written = schema::write(record);
  for (const NodeMap::Entry& entry : written.as_map()) map.set(entry.key, entry.value);
  return Node::map(std::move(map));
}

Result<void> check_schema(const Node& document, const std::string& file) {
  const Node* schema = document.find("schema");
  if (schema != nullptr && schema->is_string() && schema->as_string() == kRunSchema) return {};
  const std::string said =
      schema != nullptr && schema->is_string() ? "'" + schema->as_string() + "'" : "none";
  return Error(ErrorKind::Parse, "its schema must be '" + std::string(kRunSchema) + "', not " +
                                     said + "; a newer profline may have written it")
      .during("reading " + file);
}

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

std::string_view to_text(StageState state) {
  return schema::name_of(state);
}

std::string_view to_text(RunState state) {
  return schema::name_of(state);
}

const StageRecord* RunRecord::find_stage(std::string_view name) const {
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const StageRecord& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

Node to_node(const RunRecord& run) {
  return document(kRunSchema, run);
}

Node to_node(const StageRecord& stage) {
  return document(kStatusSchema, stage);
}

Result<RunRecord> parse_run_record(std::string_view text, const std::string& source) {
  Node tree = PL_TRY(parse_json(text, source));
  if (!tree.is_map()) {
    return Error(ErrorKind::Parse, "must be a map").during("reading " + source);
  }
  PL_TRY(check_schema(tree, source));
  tree.as_map().erase("schema");
  return schema::read<RunRecord>(tree);
}

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
