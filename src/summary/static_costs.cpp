#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/files.h"
#include "records/document.h"
#include "summary/internal/number_at.h"
#include "summary/internal/parts.h"

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

constexpr double kNsPerSecond = 1e9;
constexpr double kPercent = 100;

std::string bandwidth_of(const std::string& device, const std::string& source) {
  return "the bandwidth of " + (device.empty() ? "this device" : device) +
         (source.empty() ? "" : " (" + source + ")");
}

std::optional<SummaryMemoryRoof> of_static_analysis(const run::Run& run) {
  const auto& static_costs = run.get(kStaticCosts);
  if (!static_costs) return std::nullopt;
  const settings::Ceilings& ceilings = static_costs->ceilings;
  if (!ceilings.bytes_per_second || *ceilings.bytes_per_second <= 0) return std::nullopt;
  return SummaryMemoryRoof{*ceilings.bytes_per_second,
                           bandwidth_of(ceilings.device, ceilings.source), static_costs.file};
}

/// A CPU's bandwidth is measured with the baseline; phases are compared with it.
std::optional<SummaryMemoryRoof> of_phases(const std::vector<PhaseSummary>& phases) {
  for (const PhaseSummary& phase : phases) {
    if (!phase.cost || phase.cost->memory_ns.value_or(0) <= 0 || phase.cost->bytes <= 0) continue;
    return SummaryMemoryRoof{phase.cost->bytes / *phase.cost->memory_ns * kNsPerSecond,
                             phase.cost->ceilings, phase.cost->source};
  }
  return std::nullopt;
}

/// If the floor is longer than the operations take at peak rate, it is the time of the bytes.
std::optional<double> bandwidth_of_floor(const NcuRoofline& at) {
  if (!at.floor_ns || !at.dram_bytes || *at.floor_ns <= 0 || *at.dram_bytes <= 0) {
    return std::nullopt;
  }
  double compute_ns = 0;
  if (at.operations.value_or(0) > 0) {
    if (!at.peak_operations_per_second || *at.peak_operations_per_second <= 0) return std::nullopt;
    compute_ns = *at.operations / *at.peak_operations_per_second * kNsPerSecond;
  }
  constexpr double kMoreThanRounding = 1.0001;
  if (*at.floor_ns <= compute_ns * kMoreThanRounding) return std::nullopt;
  return *at.dram_bytes / *at.floor_ns * kNsPerSecond;
}

std::optional<SummaryMemoryRoof> of_kernel_floors(const run::Run& run) {
  const auto& ncu_kernels = run.get(run::kNcuKernels);
  if (!ncu_kernels) return std::nullopt;
  for (const NcuKernel& kernel : ncu_kernels->kernels) {
    if (const auto rate = bandwidth_of_floor(kernel.roofline)) {
      return SummaryMemoryRoof{
          *rate, bandwidth_of(kernel.device_name, ncu_kernels->ceilings_source), ncu_kernels.file};
    }
  }
  return std::nullopt;
}

/// DRAM throughput alone, in percent of the sustained peak.
std::optional<double> dram_percent(const NcuKernel& kernel) {
  constexpr std::array<std::string_view, 3> kNames = {
      "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"};
  for (const std::string_view name : kNames) {
    for (const NcuCounter& counter : kernel.counters) {
      if (counter.name == name && counter.unit == "%") return counter.value;
    }
  }
  return std::nullopt;
}

/// Uses the kernel with the largest share: its percentage lost the least to rounding.
std::optional<SummaryMemoryRoof> of_dram_counters(const run::Run& run) {
  const auto& ncu_kernels = run.get(run::kNcuKernels);
  if (!ncu_kernels) return std::nullopt;
  double best = 0;
  double rate = 0;
  for (const NcuKernel& kernel : ncu_kernels->kernels) {
    const auto share = dram_percent(kernel);
    const auto& reached = kernel.roofline.bytes_per_second;
    if (!share || !reached || *share <= best || *reached <= 0) continue;
    best = *share;
    rate = *reached / (*share / kPercent);
  }
  if (best <= 0) return std::nullopt;
  return SummaryMemoryRoof{
      rate, "what ncu's DRAM throughput counters imply; the device table has no entry",
      ncu_kernels.file};
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
  costs.batch = PL_TRY(count_at(document, "request.batch")).value();
  costs.context = PL_TRY(count_at(document, "request.context")).value();
  costs.shapes_from = PL_TRY(text_at(document, "request.shapes_from"));
  // Any rate for this format will do, whichever cores it belongs to.
  costs.ceilings.peak_operations_per_second = number_at(document, "device.operations_per_second");
  costs.ceilings.bytes_per_second = number_at(document, "device.bytes_per_second");
  costs.ceilings.read_bytes_per_second = number_at(document, "device.read_bytes_per_second");
  costs.ceilings.device = text_at(document, "device.name").value_or("");
  costs.ceilings.source = text_at(document, "device.source").value_or("");
  // Runs of version 0.1 knew published peaks only.
  const std::string peak = text_at(document, "device.peak").value_or("datasheet peak");
  costs.ceilings.is_measured = peak.starts_with("measured");
  costs.ceilings.is_given = peak == "peak";
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

std::optional<SummaryMemoryRoof> memory_roof(const run::Run& run,
                                             const std::vector<PhaseSummary>& phases) {
  if (auto roof = of_static_analysis(run)) return roof;
  if (auto roof = of_phases(phases)) return roof;
  if (auto roof = of_kernel_floors(run)) return roof;
  return of_dram_counters(run);
}

}  // namespace profline::summary
