#include "records/run_record.h"

#include <algorithm>

#include "formats/json.h"
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

}  // namespace profline
