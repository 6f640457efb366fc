#include "analysis/static_model/static_compute.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/figures.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"

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

Node phase_node(const PhaseCost& phase, const StaticCompute& result) {
  NodeMap map;
  add_cost(map, phase.total(), floor_of(phase, result.cost.format, result.ceilings));
  map.set("input_bytes", number(phase.input_bytes));
  map.set("output_bytes", number(phase.output_bytes));
  Node operators = Node::list();
  for (const OperatorCost& cost : phase.operators) {
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
  if (ceilings.read_bytes_per_second) {
    map.set("read_bytes_per_second", maybe(ceilings.read_bytes_per_second));
  }
  map.set("source", ceilings.source.empty() ? Node() : Node::string(ceilings.source));
  const bool is_known = !ceilings.source.empty();
  map.set("peak", is_known ? Node::string(std::string(ceilings.peak_name())) : Node());
  return Node::map(std::move(map));
}

Node weights_node(const NumberFormat& format) {
  if (!format.quantized) return Node();
  NodeMap map;
  map.set("name", Node::string(format.quantized->name));
  map.set("bytes", Node::real(format.quantized->bytes_per_weight));
  return Node::map(std::move(map));
}

Node parameters_node(const StaticCompute& result) {
  const ModelCost& cost = result.cost;
  NodeMap map;
  map.set("total", number(cost.parameters()));
  map.set("counted", result.counted ? number(*result.counted) : Node());
  map.set("bytes", number(cost.parameter_bytes()));
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
  NodeMap phases;
  for (const TracedPhase& phase : result.traced) {
    NodeMap entry;
    entry.set("flops", number(phase.traced_flops));
    entry.set("closed_form_flops", number(phase.closed_form_flops));
    entry.set("difference", maybe(phase.difference()));
    phases.set(phase.phase, Node::map(std::move(entry)));
  }
  return Node::map(std::move(phases));
}

using Row = std::vector<std::string>;

/// Stands for what an operator does not have and for what is not known.
constexpr const char* kNone = "–";

std::string amount(Count count) {
  if (count == Count()) return kNone;
  return (count.is_exact() ? "" : "> ") + human_count(count.as_double());
}

std::string time(const std::optional<double>& ns) {
  return ns && *ns != 0 ? duration(*ns) : kNone;
}

std::string ratio(const std::optional<double>& value) {
  return value ? human_count(*value) : kNone;
}

/// Digits in groups of three: 3 336 106 240.
std::string grouped(Count count) {
  std::string digits = std::to_string(count.value());
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ' ');
  return digits;
}

const Row kColumns = {"operator", "params", "FLOP",  "weight B", "activation B",
                      "KV B",     "FLOP/B", "floor", "unfused"};

Row row_of(std::string name, const OperatorCost& cost, const Floor& floor) {
  return {std::move(name),
          amount(cost.parameters),
          amount(cost.flops),
          amount(cost.weight_bytes),
          amount(cost.activation_bytes),
          amount(cost.kv_read_bytes + cost.kv_write_bytes),
          ratio(cost.flops == Count() ? std::nullopt : intensity(cost)),
          time(floor.floor_ns),
          time(floor.unfused_ns)};
}

std::vector<Row> operator_rows(const PhaseCost& phase, const StaticCompute& result) {
  std::vector<Row> rows;
  for (const OperatorCost& cost : phase.operators) {
    rows.push_back(row_of(cost.name, cost, floor_of(cost, result.cost.format, result.ceilings)));
  }
  return rows;
}

std::string title(const PhaseCost& phase, const StaticCompute& result, bool all_steps) {
  if (phase.phase == ModelPhase::Prefill) {
    return "prefill of " + counted(result.cost.prompt_tokens, "token");
  }
  if (phase.phase != ModelPhase::Decode) return std::string(to_text(phase.phase));
  if (all_steps) return "decode, all " + counted(result.cost.new_tokens - 1, "step");
  return "decode, one step at context " + std::to_string(result.cost.context);
}

std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(kColumns.size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = pad_width(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += "  " + std::string(widths[i] - display_width(row[i]), ' ') + row[i];
    }
    text += line + '\n';
  }
  return text;
}

std::string piped(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += '|';
    for (const std::string& cell : row) text += ' ' + cell + " |";
    text += '\n';
    if (&row != &rows.front()) continue;
    text += "|---|";
    for (std::size_t column = 1; column < row.size(); ++column) text += "---:|";
    text += '\n';
  }
  return text;
}

std::string format_words(const NumberFormat& format) {
  return format.quantized ? format.quantized->name + " and " + format.name : format.name;
}

std::string device_words(const StaticCompute& result) {
  const settings::Ceilings& ceilings = result.ceilings;
  const auto rate = ceilings.rate(result.cost.format.cores, result.cost.format.precision);
  if (!result.floors_withheld.empty()) {
    return (result.device.empty() ? "not named" : printable(result.device)) +
           "; there are no floors: " + result.floors_withheld;
  }
  if (!rate && !ceilings.bytes_per_second) {
    return result.device.empty()
               ? "not named, so there are no floors"
               : printable(result.device) + " is not in the table, so there are no floors";
  }
  std::string words = ceilings.device.empty() ? printable(result.device) : ceilings.device;
  if (words.empty()) words = "as given";
  words += rate ? ", " + profline::amount(*rate, "FLOP/s") + " " + result.cost.format.name
                : ", no peak for " + result.cost.format.name;
  if (const auto rate_of_reads = ceilings.read_rate())
    words += ", " + profline::amount(*rate_of_reads, "B/s");
  return words + " (" + ceilings.source + ")";
}

std::string views_words(const StaticCompute& result) {
  std::string words;
  for (const ViewBatch& batch : result.views) {
    if (!words.empty()) words += " and ";
    words += counted(batch.views, "view") + " of " + std::to_string(batch.side) + " px";
  }
  return words + " (" + printable(result.shapes_from) + ")";
}

/// The request, as lines of name and value.
std::vector<std::pair<std::string, std::string>> facts(const StaticCompute& result) {
  const ModelCost& cost = result.cost;
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("model", cost.model + " (" + printable(result.config_from) + ")");
  lines.emplace_back("parameters", grouped(cost.parameters()) + ", " +
                                       grouped(cost.parameter_bytes()) + " bytes in " +
                                       format_words(cost.format));
  if (!result.views.empty()) lines.emplace_back("images", views_words(result));
  lines.emplace_back("request", counted(cost.prompt_tokens, "token") + " of prompt, " +
                                    std::to_string(cost.new_tokens) + " new, batch " +
                                    std::to_string(cost.batch));
  lines.emplace_back("KV cache", grouped(cost.kv_bytes) + " bytes after the prompt");
  lines.emplace_back("device", device_words(result));
  return lines;
}

std::vector<Row> summary_rows(const StaticCompute& result) {
  const ModelCost& cost = result.cost;
  std::vector<Row> rows = {kColumns};
  rows[0][0] = "phase";
  const auto add = [&](const PhaseCost& phase, bool all_steps) {
    rows.push_back(row_of(title(phase, result, all_steps), phase.total(),
                          floor_of(phase, cost.format, result.ceilings)));
  };
  for (const PhaseCost& phase : cost.phases) add(phase, false);
  if (cost.all_decode_steps) add(*cost.all_decode_steps, true);
  return rows;
}

std::string total_words(const StaticCompute& result) {
  const RequestTotal total = request_total(result.cost, result.ceilings);
  return "whole request: " + amount(total.flops) + "FLOP, floor " + time(total.floor_ns) +
         ", unfused " + time(total.unfused_ns);
}

/// Whether the figures were checked against the module graph.
std::string traced_words(const StaticCompute& result) {
  if (result.traced.empty()) {
    return "\n## Method\n\nClosed forms only: the module graph was not traced.\n";
  }
  std::string text =
      "\n## Method\n\nClosed forms, checked against the module graph traced on the meta device "
      "(same "
      "shapes, attention as the full square).\n\n| phase | traced FLOP | closed form FLOP | "
      "difference |\n|---|---:|---:|---:|\n";
  for (const TracedPhase& phase : result.traced) {
    const auto difference = phase.difference();
    text += "| " + phase.phase + " | " + amount(phase.traced_flops) + " | " +
            amount(phase.closed_form_flops) + " | " +
            (difference ? signed_percent(*difference) : kNone) + " |\n";
  }
  return text;
}

constexpr std::string_view kLegend =
    "floor: per operator, the larger of FLOP / peak and weight and KV bytes / bandwidth; unfused: "
    "with activations through memory as well";

}  // namespace

std::optional<double> TracedPhase::difference() const {
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
  format.set("products", Node::string(std::string(settings::to_text(cost.format.precision))));
  format.set("weights", weights_node(cost.format));
  document.set("format", Node::map(std::move(format)));
  document.set("request", request_node(result));
  document.set("device", device_node(result));
  document.set("parameters", parameters_node(result));
  document.set("kv_cache_bytes", number(cost.kv_bytes));
  NodeMap phases;
  for (const PhaseCost& phase : cost.phases) {
    phases.set(std::string(to_text(phase.phase)), phase_node(phase, result));
  }
  document.set("stages", Node::map(std::move(phases)));
  document.set("all_decode_steps",
               cost.all_decode_steps ? phase_node(*cost.all_decode_steps, result) : Node());
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
  PL_TRY(write_file_atomic(folder / run::files::kStaticCompute, json));
  return write_file_atomic(folder / run::files::kStaticComputePage, to_markdown(result));
}

std::string to_text(const StaticCompute& result) {
  std::string text;
  for (const auto& [name, value] : facts(result)) text += pad_width(name, 10) + "  " + value + '\n';
  text += '\n' + aligned(summary_rows(result)) + '\n' + total_words(result) + '\n';
  for (const PhaseCost& phase : result.cost.phases) {
    std::vector<Row> rows = operator_rows(phase, result);
    rows.insert(rows.begin(), kColumns);
    text += '\n' + title(phase, result, false) + '\n' + aligned(rows);
  }
  text += '\n' + std::string(kLegend) + '\n';
  for (const std::string& note : result.cost.notes) text += "note: " + printable(note) + '\n';
  return text;
}

std::string to_markdown(const StaticCompute& result) {
  std::string text = "# Static Compute Analysis Report\n\n## Configuration\n\n";
  for (const auto& [name, value] : facts(result)) text += "- " + name + ": " + value + '\n';
  text += "\n## Per-Phase Breakdown\n\n" + piped(summary_rows(result)) + '\n' +
          total_words(result) + ".\n\n" + std::string(kLegend) + ".\n";
  text += "\n## Per-Phase Details\n";
  for (const PhaseCost& phase : result.cost.phases) {
    std::vector<Row> rows = operator_rows(phase, result);
    rows.insert(rows.begin(), kColumns);
    text += "\n### " + title(phase, result, false) + "\n\n" + piped(rows);
  }
  text += traced_words(result);
  if (result.cost.notes.empty()) return text;
  text += "\n## Notes\n\n";
  for (const std::string& note : result.cost.notes) text += "- " + printable(note) + '\n';
  return text;
}

}  // namespace profline::static_model
