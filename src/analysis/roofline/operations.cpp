#include "analysis/roofline/internal/operations.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace profline::roofline::internal {

Lookup::Lookup(const CounterReport& report, const ProfiledKernel& kernel)
    : report_(report), kernel_(kernel) {
  first_.reserve(kernel.counters.size());
  for (const Counter& counter : kernel.counters) {
    first_.try_emplace(report.names.text(counter.name), &counter);
  }
}

std::optional<double> Lookup::find(std::string_view name) const {
  const auto found = first_.find(name);
  if (found == first_.end()) return std::nullopt;
  return found->second->value;
}

std::optional<double> Lookup::find(std::string_view name, std::string_view unit) const {
  const auto found = first_.find(name);
  if (found == first_.end()) return std::nullopt;
  if (report_.names.text(found->second->unit) == unit) return found->second->value;
  // Sections share labels: `Memory Throughput` is a share in one and a rate in another.
  for (const Counter& counter : kernel_.counters) {
    if (counter.name == found->second->name && report_.names.text(counter.unit) == unit) {
      return counter.value;
    }
  }
  return std::nullopt;
}

std::optional<double> Lookup::first_of(std::initializer_list<std::string_view> names,
                                       std::string_view unit) const {
  for (const std::string_view name : names) {
    if (const auto value = find(name, unit)) return value;
  }
  return std::nullopt;
}

namespace {

struct Kind {
  char letter;  // in the names of SASS instructions
  Precision precision;
  double lanes;  // values per instruction and thread: HFMA2 has two
  std::string_view old_name;
};
constexpr Kind kKinds[] = {
    {'d', Precision::Fp64, 1, "flop_count_dp"},
    {'f', Precision::Fp32, 1, "flop_count_sp"},
    {'h', Precision::Fp16, 2, "flop_count_hp"},
};
struct Instruction {
  std::string_view name;
  double operations;
};
constexpr Instruction kInstructions[] = {{"add", 1}, {"mul", 1}, {"fma", 2}};

struct Sum {
  double operations = 0;
  bool is_there = false;
  bool is_rounded = false;
};

std::string counter_name(std::string_view unit, char letter, std::string_view instruction) {
  return std::string(unit) + "__sass_thread_inst_executed_op_" + letter + std::string(instruction) +
         "_pred_on.sum";
}

/// The instructions of one kind; from a rate if nothing else was collected, as with the roofline
/// section.
std::optional<double> instructions(const Lookup& counters, char letter, std::string_view name,
                                   bool& is_rounded) {
  for (const char* unit : {"smsp", "sm"}) {
    const std::string counter = counter_name(unit, letter, name);
    if (const auto sum = counters.find(counter)) return sum;
    const auto rate = counters.find(counter + ".per_cycle_elapsed");
    const auto cycles = counters.find(std::string(unit) + "__cycles_elapsed.avg");
    if (rate && cycles) {
      is_rounded = *rate != 0;
      return *rate * *cycles;
    }
  }
  return std::nullopt;
}

Sum sum_of(const Lookup& counters, const Kind& kind) {
  Sum sum;
  for (const Instruction& instruction : kInstructions) {
    bool is_rounded = false;
    const auto count = instructions(counters, kind.letter, instruction.name, is_rounded);
    if (!count) continue;
    sum.is_there = true;
    sum.is_rounded = sum.is_rounded || is_rounded;
    sum.operations += *count * instruction.operations * kind.lanes;
  }
  return sum;
}

std::string formula(const Kind& kind, bool is_rounded) {
  const std::string of = std::string("_pred_on.sum") + (is_rounded ? ".per_cycle_elapsed" : "");
  const std::string text = std::string(kind.lanes == 2 ? "2 x " : "") + "(" + kind.letter +
                           "add + " + kind.letter + "mul + 2 x " + kind.letter +
                           "fma) of smsp__sass_thread_inst_executed_op_*" + of;
  return is_rounded ? text + " x smsp__cycles_elapsed.avg" : text;
}

/// A parsed counter `sm__ops_path_tensor[_op_hgmma]_src_bf16[_dst_fp32][_sparsity_on].sum`.
struct TensorCounter {
  std::string instruction;  // empty: of all instructions
  std::string source;
  std::string destination;  // empty: of all
  std::string sparsity;     // "", "on" or "off"
  double operations = 0;
  std::string name;
};

/// Removes `marker` and what follows it from the end of `text`.
std::string take_suffix(std::string_view& text, std::string_view marker) {
  const std::size_t at = text.rfind(marker);
  if (at == std::string_view::npos) return {};
  std::string taken(text.substr(at + marker.size()));
  text = text.substr(0, at);
  return taken;
}

std::optional<TensorCounter> parse(std::string_view name, double value) {
  constexpr std::string_view kPrefix = "sm__ops_path_tensor_";
  constexpr std::string_view kSum = ".sum";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSum)) return std::nullopt;
  TensorCounter counter;
  counter.name = name;
  counter.operations = value;
  std::string_view body = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSum.size());
  counter.sparsity = take_suffix(body, "_sparsity_");
  counter.destination = take_suffix(body, "_dst_");
  constexpr std::string_view kSource = "src_";
  const std::size_t source = body.find(kSource);
  if (source == std::string_view::npos) return std::nullopt;
  counter.source = body.substr(source + kSource.size());
  std::string_view instruction = body.substr(0, source);
  if (instruction.starts_with("op_")) instruction.remove_prefix(3);
  if (instruction.ends_with('_')) instruction.remove_suffix(1);
  counter.instruction = instruction;
  return counter;
}

/// A counter that names several sources counts those that the chip has: Turing's `fp16_bf16_tf32`
/// is fp16.
std::optional<Precision> source_precision(std::string_view source) {
  struct Source {
    std::string_view name;
    Precision precision;
  };
  constexpr Source kSources[] = {
      {"fp64", Precision::Fp64}, {"tf32", Precision::Tf32}, {"bf16", Precision::Bf16},
      {"fp16", Precision::Fp16}, {"fp8", Precision::Fp8},   {"fp4", Precision::Fp4},
      {"int8", Precision::Int8}, {"int4", Precision::Int4}, {"int1", Precision::Int1},
  };
  for (const Source& known : kSources) {
    if (source == known.name) return known.precision;
    if (source.starts_with(known.name) && source[known.name.size()] == '_') return known.precision;
  }
  return std::nullopt;
}

/// Among counters with the same `key`, those that add up to the total without counting anything
/// twice: the sum over `part` if the chip has it, else the parts.
template <typename Key, typename Part>
std::vector<TensorCounter> without_overlap(const std::vector<TensorCounter>& counters, Key key,
                                           Part part, bool prefer_parts) {
  std::map<decltype(key(counters.front())), std::vector<TensorCounter>> groups;
  for (const TensorCounter& counter : counters) groups[key(counter)].push_back(counter);
  std::vector<TensorCounter> chosen;
  for (auto& [unused, group] : groups) {
    const auto is_whole = [&](const TensorCounter& counter) { return part(counter).empty(); };
    const bool has_whole = std::any_of(group.begin(), group.end(), is_whole);
    const bool has_parts = !std::all_of(group.begin(), group.end(), is_whole);
    const bool want_whole = has_whole && !(prefer_parts && has_parts);
    for (TensorCounter& counter : group) {
      if (is_whole(counter) == want_whole) chosen.push_back(std::move(counter));
    }
  }
  return chosen;
}

std::vector<TensorCounter> disjoint(std::vector<TensorCounter> counters) {
  if (counters.empty()) return counters;
  counters = without_overlap(
      counters,
      [](const TensorCounter& c) { return std::tuple(c.source, c.instruction, c.destination); },
      [](const TensorCounter& c) { return c.sparsity; }, false);
  // Parts, because the accumulation format decides how fast some cards are.
  counters = without_overlap(
      counters, [](const TensorCounter& c) { return std::tuple(c.source, c.instruction); },
      [](const TensorCounter& c) { return c.destination; }, true);
  return without_overlap(
      counters, [](const TensorCounter& c) { return c.source; },
      [](const TensorCounter& c) { return c.instruction; }, false);
}

void add_operations(const TensorCounter& counter, Measurement& measured) {
  const auto precision = source_precision(counter.source);
  if (!precision) {
    measured.notes.push_back(counter.name + " names a precision that is not known");
    return;
  }
  const bool is_fast = counter.destination == "fp16";
  const Accumulation accumulation = is_fast ? Accumulation::Fast : Accumulation::Fp32;
  for (Work& work : measured.work) {
    if (work.cores == Cores::Tensor && work.precision == *precision &&
        work.accumulation == accumulation) {
      work.operations += counter.operations;
      work.counters += " + " + counter.name;
      return;
    }
  }
  measured.work.push_back(
      {Cores::Tensor, *precision, accumulation, counter.operations, counter.name, false});
}

/// Instructions of several shapes share one pipe; only Volta has a single shape, 8 by 8 by 4.
void add_instructions(const Lookup& counters, std::string_view compute_capability,
                      Measurement& measured) {
  constexpr double kVoltaOperations = 512;
  for (const char* name :
       {"sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_pipe_tensor.sum",
        "sm__inst_executed_pipe_tensor_op_hmma.sum"}) {
    const auto instructions = counters.find(name);
    if (!instructions) continue;
    if (*instructions == 0) {
      measured.counted_operations = true;
    } else if (compute_capability == "7.0") {
      measured.counted_operations = true;
      measured.work.push_back({Cores::Tensor, Precision::Fp16, Accumulation::Fp32,
                               *instructions * kVoltaOperations, "512 x " + std::string(name),
                               false});
    } else {
      measured.notes.push_back(std::string(name) +
                               " counts instructions of unknown size: collect "
                               "sm__ops_path_tensor_* for operations");
    }
    return;
  }
}

}  // namespace

void add_vector_work(const Lookup& counters, Measurement& measured) {
  for (const Kind& kind : kKinds) {
    Sum sum = sum_of(counters, kind);
    std::string source = formula(kind, sum.is_rounded);
    if (!sum.is_there) {
      for (const char* suffix : {"", ".sum"}) {
        const std::string name = std::string(kind.old_name) + suffix;
        const auto count = counters.find(name);
        if (!count) continue;
        sum = {*count, true, false};
        source = name;
      }
    }
    if (!sum.is_there) continue;
    measured.counted_operations = true;
    if (sum.operations <= 0) continue;
    measured.work.push_back({Cores::Vector, kind.precision, Accumulation::Fp32, sum.operations,
                             std::move(source), sum.is_rounded});
  }
}

void add_tensor_work(const Lookup& counters, std::string_view compute_capability,
                     Measurement& measured) {
  std::vector<TensorCounter> all;
  counters.each([&](std::string_view name, double value) {
    if (auto counter = parse(name, value)) all.push_back(*std::move(counter));
  });
  if (all.empty()) {
    add_instructions(counters, compute_capability, measured);
    return;
  }
  measured.counted_operations = true;
  all = disjoint(std::move(all));
  std::sort(all.begin(), all.end(),
            [](const TensorCounter& a, const TensorCounter& b) { return a.name < b.name; });
  for (const TensorCounter& counter : all) {
    if (counter.operations > 0) add_operations(counter, measured);
  }
}

}  // namespace profline::roofline::internal
