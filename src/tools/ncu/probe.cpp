#include "tools/ncu/probe.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "process/runner.h"
#include "records/ncu_tables.h"

namespace profline::ncu {
namespace {

constexpr std::string_view kChips = "gh100,ga100,ad102";

/// Metrics that `--query-metrics` does not list because they are not hardware counters, and names
/// for several at once.
constexpr std::array<std::string_view, 13> kUnlisted = {
    "launch__",     "device__", "derived__", "nvlink__",   "numa__", "c2clink__",  "profiler__",
    "smsp__pcsamp", "sass__",   "group:",    "breakdown:", "regex:", "pmsampling:"};

bool contains_or_unknown(const std::vector<std::string>& known, std::string_view name) {
  return known.empty() || std::find(known.begin(), known.end(), name) != known.end();
}

constexpr std::string_view kFlopCount = "flop_count_";
struct InstructionPart {
  std::string_view instruction;
  double operations;
};
constexpr std::array<InstructionPart, 3> kParts = {{{"add", 1}, {"mul", 1}, {"fma", 2}}};

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

bool Installation::takes(std::string_view option) const {
  return contains_or_unknown(options, option);
}

bool Installation::has_section(std::string_view section) const {
  return section.starts_with("regex:") || contains_or_unknown(sections, section);
}

bool Installation::has_set(std::string_view set) const {
  return contains_or_unknown(sets, set);
}

bool Installation::knows_metric(std::string_view metric) const {
  if (metrics.empty()) return true;
  const bool is_unlisted =
      std::any_of(kUnlisted.begin(), kUnlisted.end(),
                  [&](std::string_view prefix) { return metric.starts_with(prefix); });
  if (is_unlisted) return true;
  // Names of counters have no points, except for those of triage groups: `FE_A.TriageCompute.…`.
  return std::binary_search(metrics.begin(), metrics.end(), metric) ||
         std::binary_search(metrics.begin(), metrics.end(), metric.substr(0, metric.find('.')));
}

Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program) {
  const std::string answer = PL_TRY(output_of(runner, {program.string(), "--version"}));
  const auto version = find_version(answer, "Version");
  if (!version) {
    return Error(ErrorKind::Tool,
                 program.string() + " --version prints no version: " + std::string(trim(answer)));
  }
  return Installation{program, *version};
}

Result<Installation> survey(ProcessRunner& runner, const std::filesystem::path& program,
                            bool has_gpu) {
  Installation ncu = PL_TRY(probe(runner, program));
  const std::string name = program.string();
  if (const auto table = output_of(runner, {name, "--list-sections"})) {
    ncu.sections = first_column(*table);
  }
  if (const auto table = output_of(runner, {name, "--list-sets"})) {
    ncu.sets = first_column(*table);
  }
  if (const auto help = output_of(runner, {name, "--help"})) ncu.options = option_names(*help);
  if (has_gpu) {
    if (const auto table = output_of(runner, {name, "--query-metrics"})) {
      ncu.metrics = first_column(*table);
    }
  }
  if (ncu.metrics.empty()) {
    const auto table = output_of(runner, {name, "--query-metrics", "--chips", std::string(kChips)});
    if (table) ncu.metrics = first_column(*table);
  }
  std::sort(ncu.metrics.begin(), ncu.metrics.end());
  ncu.metrics.erase(std::unique(ncu.metrics.begin(), ncu.metrics.end()), ncu.metrics.end());
  return ncu;
}

std::vector<std::string> first_column(std::string_view table) {
  // Chip gh100
  // ------------------ ------- ----------------------------
  // Metric Name        Unit    Metric Description
  // ------------------ ------- ----------------------------
  // gpu__time_duration nsecond incremental duration in
  //                            nanoseconds
  std::vector<std::string> cells;
  int rules = 0;
  for (const std::string_view line : lines(table)) {
    if (line.starts_with("---")) {
      ++rules;
      continue;
    }
    if (line.starts_with("Chip ") || line.starts_with("Device ")) {
      rules = 0;  // another table follows
      continue;
    }
    if (rules < 2 || line.empty() || line.front() == ' ' || line.starts_with("==")) continue;
    cells.emplace_back(line.substr(0, line.find(' ')));
  }
  return cells;
}

std::vector<std::string> option_names(std::string_view help) {
  //   -k [ --kernel-name ] arg              Filter the kernel in one of the following ways:
  //   --kill arg (=0)                       Terminate the target application when the
  std::vector<std::string> names;
  for (std::string_view line : lines(help)) {
    const bool is_indented_once = line.starts_with("  -");
    if (!is_indented_once) continue;
    const std::size_t start = line.find("--");
    if (start == std::string_view::npos) continue;
    line.remove_prefix(start);
    names.emplace_back(
        line.substr(0, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-")));
  }
  return names;
}

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
  for (const InstructionPart& part : kParts) {
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
