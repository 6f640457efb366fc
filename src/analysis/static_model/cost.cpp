#include "analysis/static_model/cost.h"

#include <algorithm>
#include <cmath>

namespace profline::static_model {
namespace {

constexpr double kNsPerSecond = 1e9;

std::optional<double> time_ns(Count amount, const std::optional<double>& per_second) {
  if (amount == Count()) return 0;
  if (!per_second) return std::nullopt;
  return amount.as_double() / *per_second * kNsPerSecond;
}

std::optional<double> larger(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

std::optional<double> share(const std::optional<double>& part, double whole) {
  if (!part || !(whole > 0)) return std::nullopt;
  return *part / whole;
}

}  // namespace

std::string_view to_text(ModelPhase phase) {
  switch (phase) {
    case ModelPhase::Sam:
      return "sam";
    case ModelPhase::Clip:
      return "clip";
    case ModelPhase::Projector:
      return "projector";
    case ModelPhase::Prefill:
      return "prefill";
    case ModelPhase::Decode:
      break;
  }
  return "decode";
}

std::optional<ModelPhase> phase_named(std::string_view name) {
  for (const ModelPhase phase : {ModelPhase::Sam, ModelPhase::Clip, ModelPhase::Projector,
                                 ModelPhase::Prefill, ModelPhase::Decode}) {
    if (to_text(phase) == name) return phase;
  }
  return std::nullopt;
}

std::span<const std::string_view> phase_names(ModelPhase phase) {
  static constexpr std::string_view kSam[] = {"sam"};
  static constexpr std::string_view kClip[] = {"clip"};
  static constexpr std::string_view kProjector[] = {"projector"};
  static constexpr std::string_view kPrompt[] = {"lm", "prefill"};
  static constexpr std::string_view kDecode[] = {"decode"};
  switch (phase) {
    case ModelPhase::Sam:
      return kSam;
    case ModelPhase::Clip:
      return kClip;
    case ModelPhase::Projector:
      return kProjector;
    case ModelPhase::Prefill:
      return kPrompt;
    case ModelPhase::Decode:
      break;
  }
  return kDecode;
}

std::optional<NumberFormat> number_format(std::string_view name) {
  using settings::Cores;
  using settings::Precision;
  struct Known {
    std::string_view alias;
    std::string_view name;
    std::uint64_t bytes;
    Cores cores;
    Precision precision;
  };
  constexpr Known kKnown[] = {
      {"bf16", "bf16", 2, Cores::Tensor, Precision::Bf16},
      {"bfloat16", "bf16", 2, Cores::Tensor, Precision::Bf16},
      {"fp16", "fp16", 2, Cores::Tensor, Precision::Fp16},
      {"float16", "fp16", 2, Cores::Tensor, Precision::Fp16},
      {"fp32", "fp32", 4, Cores::Vector, Precision::Fp32},
      {"float32", "fp32", 4, Cores::Vector, Precision::Fp32},
      {"tf32", "tf32", 4, Cores::Tensor, Precision::Tf32},
      {"fp8", "fp8", 1, Cores::Tensor, Precision::Fp8},
      {"int8", "int8", 1, Cores::Tensor, Precision::Int8},
  };
  for (const Known& known : kKnown) {
    if (known.alias != name) continue;
    return NumberFormat{std::string(known.name), known.bytes, known.cores, known.precision};
  }
  return std::nullopt;
}

Count NumberFormat::linear_bytes(Count weights) const {
  if (!quantized || !weights.is_exact()) return weights * bytes;
  return static_cast<std::uint64_t>(
      std::llround(weights.as_double() * quantized->bytes_per_weight));
}

OperatorCost PhaseCost::total() const {
  OperatorCost sums;
  sums.name = to_text(phase);
  for (const OperatorCost& cost : operators) {
    sums.parameters += cost.parameters;
    sums.flops += cost.flops;
    sums.weight_bytes += cost.weight_bytes;
    sums.activation_bytes += cost.activation_bytes;
    sums.kv_read_bytes += cost.kv_read_bytes;
    sums.kv_write_bytes += cost.kv_write_bytes;
  }
  return sums;
}

Count ModelCost::parameters() const {
  Count sum;
  for (const ParameterGroup& group : groups) sum += group.parameters;
  return sum;
}

Count ModelCost::parameter_bytes() const {
  Count sum;
  for (const ParameterGroup& group : groups) {
    const Count others = group.parameters.value() - group.linear.value();
    sum += format.linear_bytes(group.linear) + others * format.bytes;
  }
  return sum;
}

const PhaseCost* ModelCost::find(ModelPhase phase) const {
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const PhaseCost& cost) { return cost.phase == phase; });
  return found == phases.end() ? nullptr : &*found;
}

Floor floor_of(const OperatorCost& cost, const NumberFormat& format,
               const settings::Ceilings& ceilings) {
  Floor floor;
  floor.compute_ns = time_ns(cost.flops, ceilings.rate(format.cores, format.precision));
  floor.memory_ns = time_ns(cost.floor_bytes(), ceilings.read_rate());
  floor.floor_ns = larger(floor.compute_ns, floor.memory_ns);
  floor.unfused_ns = larger(floor.compute_ns, time_ns(cost.all_bytes(), ceilings.read_rate()));
  return floor;
}

Floor floor_of(const PhaseCost& cost, const NumberFormat& format,
               const settings::Ceilings& ceilings) {
  Floor floor{0, 0, 0, 0};
  for (const OperatorCost& part : cost.operators) {
    const Floor single = floor_of(part, format, ceilings);
    floor.compute_ns = sum(floor.compute_ns, single.compute_ns);
    floor.memory_ns = sum(floor.memory_ns, single.memory_ns);
    floor.floor_ns = sum(floor.floor_ns, single.floor_ns);
    floor.unfused_ns = sum(floor.unfused_ns, single.unfused_ns);
  }
  return floor;
}

RequestTotal request_total(const ModelCost& cost, const settings::Ceilings& ceilings) {
  RequestTotal total{Count(), 0, 0};
  const auto add = [&](const PhaseCost& phase) {
    const Floor floor = floor_of(phase, cost.format, ceilings);
    total.flops += phase.total().flops;
    total.floor_ns = sum(total.floor_ns, floor.floor_ns);
    total.unfused_ns = sum(total.unfused_ns, floor.unfused_ns);
  };
  for (const PhaseCost& phase : cost.phases) {
    if (phase.phase != ModelPhase::Decode) add(phase);
  }
  if (cost.all_decode_steps) add(*cost.all_decode_steps);
  return total;
}

std::optional<double> intensity(const OperatorCost& cost) {
  const Count bytes = cost.floor_bytes();
  if (bytes == Count()) return std::nullopt;
  return cost.flops.as_double() / bytes.as_double();
}

Utilisation utilisation(const PhaseCost& cost, double measured_ns, const NumberFormat& format,
                        const settings::Ceilings& ceilings) {
  const Floor floor = floor_of(cost, format, ceilings);
  return {share(floor.compute_ns, measured_ns), share(floor.memory_ns, measured_ns),
          share(floor.floor_ns, measured_ns)};
}

std::uint64_t Request::decode_context() const {
  return context != 0 ? context : prompt_tokens + new_tokens / 2;
}

double expected_experts(std::uint64_t experts, std::uint64_t chosen, std::uint64_t tokens) {
  if (experts == 0 || tokens == 0) return 0;
  const auto all = static_cast<double>(experts);
  const double missed_by_one = 1 - static_cast<double>(chosen) / all;
  // One token chooses exactly this many; the power below would have a rounding error.
  if (tokens == 1) return static_cast<double>(chosen);
  return all * (1 - std::pow(missed_by_one, static_cast<double>(tokens)));
}

}  // namespace profline::static_model
