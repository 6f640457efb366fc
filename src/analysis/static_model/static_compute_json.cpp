#include <limits>

#include "analysis/static_model/static_compute.h"
#include "base/files.h"
#include "formats/json_write.h"

namespace profline::static_model {
namespace {

Node number(Count count) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (count.value() <= kMost) return Node::integer(static_cast<std::int64_t>(count.value()));
  return Node::big_integer(std::to_string(count.value()));
}

Node maybe(const std::optional<double>& value) {
  return value ? Node::real(*value) : Node();
}

void add_cost(NodeMap& map, const OperatorCost& cost, const Floor& floor) {
  map.set("params", number(cost.parameters));
  map.set("flops", number(cost.flops));
  map.set("weight_bytes", number(cost.weight_bytes));
  map.set("activation_bytes", number(cost.activation_bytes));
  map.set("kv_read_bytes", number(cost.kv_read_bytes));
  map.set("kv_write_bytes", number(cost.kv_write_bytes));
  map.set("intensity", maybe(intensity(cost)));
  map.set("compute_ns", maybe(floor.compute_ns));
  map.set("memory_ns", maybe(floor.memory_ns));
  map.set("floor_ns", maybe(floor.floor_ns));
  map.set("unfused_ns", maybe(floor.unfused_ns));
}

Node stage_node(const StageCost& stage, const StaticCompute& result) {
  NodeMap map;
  add_cost(map, stage.total(), floor_of(stage, result.cost.format, result.ceilings));
  map.set("input_bytes", number(stage.input_bytes));
  map.set("output_bytes", number(stage.output_bytes));
  Node operators = Node::list();
  for (const OperatorCost& cost : stage.operators) {
    NodeMap entry;
    entry.set("name", Node::string(cost.name));
    add_cost(entry, cost, floor_of(cost, result.cost.format, result.ceilings));
    operators.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("operators", std::move(operators));
  return Node::map(std::move(map));
}

Node request_node(const StaticCompute& result) {
  const ModelCost& cost = result.cost;
  const auto integer = [](std::uint64_t value) { return number(Count(value)); };
  NodeMap map;
  map.set("prompt_tokens", integer(cost.prompt_tokens));
  map.set("new_tokens", integer(cost.new_tokens));
  map.set("batch", integer(cost.batch));
  map.set("context", integer(cost.context));
  map.set("attention",
          Node::string(result.request.attention == AttentionCount::Causal ? "causal" : "square"));
  map.set("head", Node::string(result.request.head == HeadCount::Last ? "last" : "all"));
  Node views = Node::list();
  for (const ViewBatch& batch : result.views) {
    NodeMap entry;
    entry.set("side", integer(batch.side));
    entry.set("views", integer(batch.views));
    views.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("views", std::move(views));
  map.set("shapes_from", Node::string(result.shapes_from));
  return Node::map(std::move(map));
}

Node device_node(const StaticCompute& result) {
  const settings::Ceilings& ceilings = result.ceilings;
  const NumberFormat& format = result.cost.format;
  NodeMap map;
  map.set("asked_for", Node::string(result.device));
  map.set("name", ceilings.device.empty() ? Node() : Node::string(ceilings.device));
  map.set("operations_per_second", maybe(ceilings.rate(format.cores, format.precision)));
  map.set("bytes_per_second", maybe(ceilings.bytes_per_second));
  map.set("source", ceilings.source.empty() ? Node() : Node::string(ceilings.source));
  return Node::map(std::move(map));
}

Node parameters_node(const ModelCost& cost) {
  NodeMap map;
  map.set("total", number(cost.parameters()));
  map.set("bytes", number(cost.parameters() * cost.format.bytes));
  Node groups = Node::list();
  for (const ParameterGroup& group : cost.groups) {
    NodeMap entry;
    entry.set("name", Node::string(group.name));
    entry.set("tensors", number(group.tensors));
    entry.set("parameters", number(group.parameters));
    groups.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("groups", std::move(groups));
  return Node::map(std::move(map));
}

Node traced_node(const StaticCompute& result) {
  if (result.traced.empty()) return Node();
  NodeMap stages;
  for (const TracedStage& stage : result.traced) {
    NodeMap entry;
    entry.set("flops", number(stage.traced_flops));
    entry.set("closed_form_flops", number(stage.closed_form_flops));
    entry.set("difference", maybe(stage.difference()));
    stages.set(stage.stage, Node::map(std::move(entry)));
  }
  return Node::map(std::move(stages));
}

}  // namespace

std::optional<double> TracedStage::difference() const {
  if (traced_flops == Count()) return std::nullopt;
  return closed_form_flops.as_double() / traced_flops.as_double() - 1;
}

Node to_node(const StaticCompute& result) {
  const ModelCost& cost = result.cost;
  NodeMap document;
  document.set("schema", Node::string("profline.static_compute/1"));
  document.set("model", Node::string(cost.model));
  document.set("config", Node::string(result.config_from));
  document.set("method", Node::string(result.traced.empty() ? "closed_form" : "traced"));
  NodeMap format;
  format.set("name", Node::string(cost.format.name));
  format.set("bytes", number(Count(cost.format.bytes)));
  document.set("format", Node::map(std::move(format)));
  document.set("request", request_node(result));
  document.set("device", device_node(result));
  document.set("parameters", parameters_node(cost));
  document.set("kv_cache_bytes", number(cost.kv_bytes));
  NodeMap stages;
  for (const StageCost& stage : cost.stages) {
    stages.set(std::string(to_text(stage.stage)), stage_node(stage, result));
  }
  document.set("stages", Node::map(std::move(stages)));
  document.set("all_decode_steps",
               cost.all_decode_steps ? stage_node(*cost.all_decode_steps, result) : Node());
  NodeMap total;
  const RequestTotal whole = request_total(cost, result.ceilings);
  total.set("flops", number(whole.flops));
  total.set("floor_ns", maybe(whole.floor_ns));
  total.set("unfused_ns", maybe(whole.unfused_ns));
  document.set("total", Node::map(std::move(total)));
  Node notes = Node::list();
  for (const std::string& note : cost.notes) notes.as_list().push_back(Node::string(note));
  document.set("notes", std::move(notes));
  document.set("traced", traced_node(result));
  return Node::map(std::move(document));
}

Result<void> write_static_compute(const StaticCompute& result,
                                  const std::filesystem::path& folder) {
  const std::string json = PL_TRY(write_json(to_node(result)));
  PL_TRY(write_file_atomic(folder / "static_compute.json", json));
  return write_file_atomic(folder / "static_compute.md", to_markdown(result));
}

}  // namespace profline::static_model
