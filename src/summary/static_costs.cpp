#include "summary/static_costs.h"

#include <charconv>

#include "base/files.h"
#include "records/document.h"

namespace profline::summary {
namespace {

using static_model::Count;
using static_model::ModelPhase;
using static_model::OperatorCost;
using static_model::PhaseCost;

Error bad(const Node& near, const std::string& path, const std::string& what) {
  return {ErrorKind::Parse, "'" + path + "' must be " + what, near.position()};
}

Result<std::string> text_at(const Node& node, const std::string& path) {
  const Node* found = node.find_path(path);
  if (found == nullptr || !found->is_string()) return bad(node, path, "a string");
  return found->as_string();
}

/// An integer of any size; one that does not fit saturates.
Result<Count> count_at(const Node& node, const std::string& path) {
  const Node* found = node.find_path(path);
  if (found != nullptr && found->is_int() && found->as_int() >= 0) {
    return Count::of(found->as_int());
  }
  if (found == nullptr || found->kind() != Node::Kind::BigInt) {
    return bad(node, path, "an integer >= 0");
  }
  const std::string& digits = found->as_big_int();
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return bad(node, path, "an integer >= 0");
  return failure == std::errc() ? Count(value) : Count() + Count(UINT64_MAX);
}

std::optional<double> number_at(const Node& node, std::string_view path) {
  const Node* found = node.find_path(path);
  if (found == nullptr) return std::nullopt;
  if (found->is_int()) return static_cast<double>(found->as_int());
  if (found->is_float()) return found->as_float();
  return std::nullopt;
}

Result<OperatorCost> read_operator(const Node& node) {
  OperatorCost cost;
  cost.name = PL_TRY(text_at(node, "name"));
  cost.parameters = PL_TRY(count_at(node, "params"));
  cost.flops = PL_TRY(count_at(node, "flops"));
  cost.weight_bytes = PL_TRY(count_at(node, "weight_bytes"));
  cost.activation_bytes = PL_TRY(count_at(node, "activation_bytes"));
  cost.kv_read_bytes = PL_TRY(count_at(node, "kv_read_bytes"));
  cost.kv_write_bytes = PL_TRY(count_at(node, "kv_write_bytes"));
  return cost;
}

Result<PhaseCost> read_phase(ModelPhase phase, const Node& node) {
  PhaseCost cost;
  cost.phase = phase;
  const Node* operators = node.find("operators");
  if (operators == nullptr || !operators->is_list()) return bad(node, "operators", "a list");
  for (const Node& entry : operators->as_list()) {
    cost.operators.push_back(PL_TRY(read_operator(entry)));
  }
  return cost;
}

}  // namespace

Result<StaticCosts> read_static_costs(const Node& document) {
  StaticCosts costs;
  const std::string format = PL_TRY(text_at(document, "format.name"));
  const auto known = static_model::number_format(format);
  if (!known) return bad(document, "format.name", "a format that is known, not '" + format + "'");
  costs.format = *known;
  costs.prompt_tokens = PL_TRY(count_at(document, "request.prompt_tokens")).value();
  costs.new_tokens = PL_TRY(count_at(document, "request.new_tokens")).value();
  costs.context = PL_TRY(count_at(document, "request.context")).value();
  costs.shapes_from = PL_TRY(text_at(document, "request.shapes_from"));
  // Any rate for this format will do, whichever cores it belongs to.
  costs.ceilings.peak_operations_per_second = number_at(document, "device.operations_per_second");
  costs.ceilings.bytes_per_second = number_at(document, "device.bytes_per_second");
  costs.ceilings.device = text_at(document, "device.name").value_or("");
  costs.ceilings.source = text_at(document, "device.source").value_or("");
  const Node* stages = document.find("stages");
  if (stages == nullptr || !stages->is_map()) return bad(document, "stages", "a map");
  for (const NodeMap::Entry& entry : stages->as_map()) {
    const auto phase =
        static_model::phase_named(entry.key.is_string() ? entry.key.as_string() : "");
    if (phase) costs.phases.push_back(PL_TRY(read_phase(*phase, entry.value)));
  }
  return costs;
}

Result<StaticCosts> internal::read_static_costs_file(const run::Run&,
                                                     const std::filesystem::path& file) {
  const std::string text = PL_TRY(read_file(file));
  return read_static_costs(PL_TRY(parse_document(text, {"static_compute", 1}, file.string())));
}

}  // namespace profline::summary
