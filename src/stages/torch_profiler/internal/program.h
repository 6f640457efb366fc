#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "tools/kineto/responder.h"
#include "tools/kineto/traced_processes.h"

/// The stage on a user's program: torch.profiler through the Python adapter or, for a program
/// without requests that the adapter could bracket, Kineto on demand.
namespace profline::stages::internal {

std::vector<pipeline::Finding> program_preflight(const pipeline::StageContext& context);
pipeline::StagePlan program_plan(const pipeline::StageContext& context);
Result<void> trace_program(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run);
std::vector<pipeline::Finding> verify_program(const pipeline::StageContext& context);

/// Why Kineto on demand is not used; empty: it is.
std::string why_no_kineto(const pipeline::RunSetup& setup);

/// When and for how long processes are traced on demand.
struct OnDemandWindow {
  std::chrono::milliseconds after{0};  ///< since the program's start
  std::chrono::milliseconds duration{500};

  bool operator==(const OnDemandWindow&) const = default;
};
/// In the middle of a program that took `wall` in the baseline; nothing: not known.
OnDemandWindow on_demand_window(std::optional<std::chrono::nanoseconds> wall);

/// What the user should know about traces on demand.
std::vector<pipeline::Finding> on_demand_findings(const std::vector<kineto::ProcessTrace>& traces,
                                                  const kineto::Traffic& traffic,
                                                  const OnDemandWindow& window);

}  // namespace profline::stages::internal
