#include "tools/ncu/probe.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "process/ask.h"

namespace profline::ncu {
namespace {

constexpr std::string_view kChips = "gh100,ga100,ad102";

/// Metrics that `--query-metrics` does not list because no hardware counts them, and ways to name
/// several at once.
constexpr std::array<std::string_view, 13> kUnlisted = {
    "launch__",     "device__", "derived__", "nvlink__",   "numa__", "c2clink__",  "profiler__",
    "smsp__pcsamp", "sass__",   "group:",    "breakdown:", "regex:", "pmsampling:"};

bool contains_or_unknown(const std::vector<std::string>& known, std::string_view name) {
  return known.empty() || std::find(known.begin(), known.end(), name) != known.end();
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
  // Names of counters hold no point but those of triage groups: `FE_A.TriageCompute.…`.
  return std::binary_search(metrics.begin(), metrics.end(), metric) ||
         std::binary_search(metrics.begin(), metrics.end(), metric.substr(0, metric.find('.')));
}

Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program) {
  const std::string answer = PL_TRY(output_of(runner, {program.string(), "--version"}));
  const auto version = find_version(answer, "Version");
  if (!version) {
    return Error(ErrorKind::Tool,
                 program.string() + " --version names no version: " + std::string(trim(answer)));
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

}  // namespace profline::ncu
