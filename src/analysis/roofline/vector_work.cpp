#include <string>

#include "analysis/roofline/internal/operations.h"

namespace profline::roofline::internal {
namespace {

struct Kind {
  char letter;  // in the names of SASS instructions
  Precision precision;
  double lanes;  // values one instruction of a thread works on: HFMA2 has two
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

/// Instructions of one kind; from a rate where nothing else was collected, as the roofline section
/// does not.
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

}  // namespace profline::roofline::internal
