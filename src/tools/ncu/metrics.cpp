#include "tools/ncu/metrics.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "records/ncu_regions.h"

namespace profline::ncu {
namespace {

constexpr std::string_view kFlopCount = "flop_count_";
struct Part {
  std::string_view instruction;
  double operations;
};
constexpr std::array<Part, 3> kParts = {{{"add", 1}, {"mul", 1}, {"fma", 2}}};

/// The letter of SASS instructions for `flop_count_sp`, with or without `.sum`; 0 for other names.
char precision_letter(std::string_view name) {
  if (name.ends_with(".sum")) name.remove_suffix(4);
  if (name == "flop_count_hp") return 'h';
  if (name == "flop_count_sp") return 'f';
  return name == "flop_count_dp" ? 'd' : '\0';
}

void add_once(std::vector<std::string>& list, std::string item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

/// Counted by patching a kernel's code, which ncu does not do for ranges.
bool is_patched(std::string_view metric) {
  return metric.find("__sass_") != std::string_view::npos;
}

void add_metric(const Installation& ncu, std::string_view name, bool of_ranges,
                Collection& collected) {
  const std::vector<std::string> parts = flop_count_parts(name);
  if (of_ranges && (is_patched(name) || !parts.empty())) {
    add_once(collected.unsupported, std::string(name));
    return;
  }
  if (parts.empty()) {
    add_once(ncu.knows_metric(name) ? collected.metrics : collected.unknown_metrics,
             std::string(name));
    return;
  }
  const bool are_known = std::all_of(
      parts.begin(), parts.end(), [&](const std::string& part) { return ncu.knows_metric(part); });
  if (!are_known) {
    add_once(collected.unknown_metrics, std::string(name));
    return;
  }
  add_once(collected.translated, std::string(name));
  for (const std::string& part : parts) add_once(collected.metrics, part);
}

}  // namespace

bool is_range_replay(const settings::NcuCli& cli) {
  return cli.replay_mode == settings::ReplayMode::Range ||
         cli.replay_mode == settings::ReplayMode::AppRange;
}

Collection collection(const Installation& ncu, const settings::NcuCli& cli) {
  Collection collected;
  if (cli.metrics) {
    for (const std::string& name : cli.metrics->items) {
      if (!trim(name).empty()) add_metric(ncu, trim(name), is_range_replay(cli), collected);
    }
  }
  if (is_range_replay(cli) && ncu.knows_metric(kInstructions)) {
    add_once(collected.metrics, kInstructions);
  }
  if (cli.sections) {
    for (const std::string& name : cli.sections->items) {
      const bool is_known = ncu.has_section(name);
      add_once(is_known ? collected.sections : collected.unknown_sections, name);
    }
  }
  return collected;
}

std::vector<std::string> flop_count_parts(std::string_view name) {
  std::vector<std::string> parts;
  const char letter = name.starts_with(kFlopCount) ? precision_letter(name) : '\0';
  if (letter == '\0') return parts;
  for (const Part& part : kParts) {
    parts.push_back(std::string("smsp__sass_thread_inst_executed_op_") + letter +
                    std::string(part.instruction) + "_pred_on.sum");
  }
  return parts;
}

void add_flop_counts(CounterReport& report, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::vector<std::string> parts = flop_count_parts(name);
    for (ProfiledKernel& kernel : report.kernels) {
      double operations = 0;
      std::size_t found = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Counter* part = report.find(kernel, parts[i]);
        if (part == nullptr) continue;
        operations += part->value * kParts[i].operations;
        ++found;
      }
      if (found < kParts.size()) continue;
      kernel.counters.push_back(
          {.name = report.names.id_of(name), .section = 0, .unit = 0, .value = operations});
    }
  }
}

}  // namespace profline::ncu
