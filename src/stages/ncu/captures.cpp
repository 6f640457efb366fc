#include "stages/ncu/internal/captures.h"

#include <algorithm>

#include "base/figures.h"
#include "base/strings.h"
#include "stages/ncu/internal/counter_plan.h"
#include "tools/ncu/probe.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages::internal {

bool NcuFiles::has_report(std::size_t group) const {
  std::error_code failure;
  return std::filesystem::file_size(report(group), failure) > 0 && !failure;
}

bool NcuFiles::was_rerun() const {
  std::error_code failure;
  return std::filesystem::exists(command({.without_gate = true}), failure);
}

ncu::Installation ncu_of(const pipeline::Toolbox& tools) {
  if (tools.ncu && *tools.ncu) return **tools.ncu;
  return {"ncu", {}};
}

namespace {

constexpr const char* kFromStart = "from the program's start, loading and warm-up included";

/// `the first 5 launches after 10 skipped ones of regex:gemm inside decode`
std::string launches_text(const settings::Ncu& ncu, std::uint32_t count, bool without_gate) {
  const settings::NcuCli& cli = ncu.ncu_cli;
  const std::string what = ncu::is_range_replay(cli) && !without_gate ? "range" : "launch";
  const std::string many = what == "range" ? "ranges" : "launches";
  std::string text =
      count == 1 ? "the first " + what : "the first " + std::to_string(count) + " " + many;
  if (cli.launch_skip.value_or(0) > 0) {
    text += " after " + std::to_string(*cli.launch_skip) + " skipped";
  }
  if (cli.kernel_name) text += " of " + *cli.kernel_name;
  const bool is_gated = !without_gate && !ncu::gate(ncu).empty();
  return text + " " + (is_gated ? "inside " + ranges_text(ncu) : kFromStart);
}

}  // namespace

std::string ranges_text(const settings::Ncu& ncu) {
  std::vector<std::string> given;
  for (const ncu::NvtxExpression& range : ncu::gate(ncu)) given.push_back(range.given);
  return join(given, ", ");
}

std::optional<LaunchLimit> launch_limit(const settings::Ncu& ncu, bool without_gate) {
  std::optional<std::uint32_t> count = ncu::launch_bound(ncu);
  const char* key =
      ncu.ncu_cli.launch_count ? "pipeline.ncu.ncu_cli.launch_count" : "pipeline.ncu.max_launches";
  if (without_gate && ncu.rerun_launch_count < count.value_or(ncu.rerun_launch_count + 1)) {
    count = ncu.rerun_launch_count;
    key = "pipeline.ncu.rerun_launch_count";
  }
  if (!count) return std::nullopt;
  if (!without_gate && chooses_launches(ncu)) {
    return LaunchLimit{*count,
                       "at most " + counted(*count, "launch", "launches") + " (" + key + ")"};
  }
  return LaunchLimit{*count, launches_text(ncu, *count, without_gate) + " (" + key + ")"};
}

std::vector<std::string> coverage_notes(const settings::Ncu& ncu,
                                        const settings::Workload& workload) {
  std::vector<std::string> notes;
  const bool is_gated = !ncu::gate(ncu).empty();
  if (!launch_limit(ncu, false) && !ncu.ncu_cli.kernel_name) {
    notes.push_back("every launch " + (is_gated ? "inside " + ranges_text(ncu) : "of the program") +
                    " is profiled, because pipeline.ncu.max_launches is null");
  }
  if (is_gated && workload.user_command()) {
    notes.push_back("if your program launches nothing inside " + ranges_text(ncu) +
                    ", the rerun profiles " + launch_limit(ncu, true)->text +
                    "; pipeline.ncu.ncu_cli.nvtx.include=RANGE names a range of your program");
  }
  return notes;
}

}  // namespace profline::stages::internal
