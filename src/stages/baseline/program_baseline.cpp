#include "stages/baseline/internal/program_baseline.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "pipeline/gpu_watch.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"
#include "stages/baseline/process_watch.h"
#include "stages/ranks/ranked_stage.h"
#include "tools/gpu/driver.h"
#include "workloads/program/environment.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

constexpr std::size_t kMostProblems = 5;
constexpr std::size_t kNamedRanges = 5;

Finding requests_finding(const program::Recording& recording, const settings::Workload& workload) {
  const bool by_adapter = recording.requests.front().source == RequestSource::Python;
  return {Severity::Note, "requests_recorded",
          counted(recording.requests.size(), "request") +
              (by_adapter ? " recorded by the Python adapter"
                          : " recorded, from the ranges named '" + workload.request_range + "'")};
}

Finding ranges_finding(const program::Recording& recording, const settings::Workload& workload) {
  std::vector<std::string> names;
  for (const NamedRanges& range : recording.ranges) {
    if (names.size() < kNamedRanges) names.push_back(range.name);
  }
  std::string text = "phases are unknown: the program opens no range named '" +
                     workload.request_range +
                     "'; its ranges are reported by name: " + join(names, ", ");
  if (recording.ranges.size() > names.size()) {
    text += " and " + std::to_string(recording.ranges.size() - names.size()) + " more";
  }
  return {Severity::Note, "no_requests", std::move(text),
          "name the range that is one request: pipeline.workload.request_range=" + names.front()};
}

Finding not_adapted_finding(const program::NotAdapted& reason) {
  return {Severity::Note, "adapter_not_started",
          "requests of Python are not recorded: " + reason.why, reason.fix};
}

Finding no_requests_finding(const ProgramEnd& end) {
  if (end.has_failed) {
    return {Severity::Note, "no_requests",
            "phases are unknown: the program failed and recorded no request"};
  }
  if (end.not_adapted) return not_adapted_finding(*end.not_adapted);
  return {Severity::Note, "no_requests", "phases are unknown: the program marks no requests",
          "add two lines around one unit of work; in Python 'import profline' and 'with "
          "profline.request():', in C and C++ 'nvtxRangePushA(\"request\");' and "
          "'nvtxRangePop();'"};
}

/// Writes what the program recorded of itself.
Result<void> write_recording(const program::Recording& recording, const fs::path& folder) {
  if (!recording.models.empty()) {
    PL_TRY(write_file_atomic(folder / run::files::kModels,
                             PL_TRY(to_document(RecordedModels{recording.models}))));
  }
  if (recording.requests.empty()) {
    if (recording.ranges.empty()) return {};
    return write_file_atomic(folder / run::files::kRanges,
                             PL_TRY(to_document(ProgramRanges{recording.ranges, recording.lost})));
  }
  std::string lines;
  for (const Request& request : recording.requests) lines += to_json_line(request) + '\n';
  PL_TRY(write_file_atomic(folder / run::files::kRequests, lines));
  return write_file_atomic(folder / run::files::kSteady,
                           PL_TRY(to_document(program::steady_window(recording))));
}

}  // namespace

void add_program_plan(const pipeline::StageContext& context, pipeline::StagePlan& plan) {
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  const program::Companions& companions = context.tools.companions;
  plan.artifacts.insert(plan.artifacts.end(),
                        {run::files::kProcess, run::files::kRequests, run::files::kModels,
                         run::files::kSteady, run::files::kLog});
  const bool is_ranked = has_ranks(context.setup);
  if (pipeline::is_on_gpu(context) && !is_ranked)
    plan.artifacts.emplace_back(run::files::kGpuReadings);
  if (is_ranked) {
    plan.notes.push_back("requests, phases and times of the report are those of rank 0");
    if (pipeline::is_on_gpu(context)) plan.notes.push_back("GPU clocks and power are not sampled");
  }
  plan.limits = {"one run: its wall time has no spread"};
  if (const std::string why = program::why_no_recorder(companions); !why.empty()) {
    plan.notes.push_back("NVTX ranges are not recorded: " + why);
  }
  const bool is_off = workload.python == settings::PythonAdapter::Off;
  if (is_off || !companions.python) {
    plan.notes.push_back("requests of Python programs are not recorded: " +
                         std::string(is_off ? "pipeline.workload.python is off"
                                            : "the Python adapter is not installed with profline"));
  }
}

namespace {

Result<program::Recording> recording_of(const pipeline::RunSetup& setup) {
  const fs::path folder = setup.stage_folder(run::stages::kBaseline);
  return program::read_recording(folder / run::folders::kRecorded,
                                 {.request_range = setup.settings.pipeline.workload.request_range});
}

/// Reads what a rank recorded into the files that a program without ranks would have.
Result<program::Recording> read_rank(const pipeline::RunSetup& setup) {
  program::Recording recording = PL_TRY(recording_of(setup));
  PL_TRY(write_recording(recording, setup.stage_folder(run::stages::kBaseline)));
  return recording;
}

/// Nothing if the run does not use the adapter.
std::optional<program::NotAdapted> not_adapted(const pipeline::StageContext& context,
                                               const std::vector<ProcessUse>& processes,
                                               const program::Recording& recording) {
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  const auto command = workload.user_command();
  const bool is_used =
      workload.python == settings::PythonAdapter::Auto && context.tools.companions.python;
  if (!is_used || !command || !recording.requests.empty()) return std::nullopt;
  std::vector<std::string> names;
  names.reserve(processes.size());
  for (const ProcessUse& process : processes) names.push_back(process.name);
  return program::why_not_adapted(*command, names, recording);
}

}  // namespace

Result<void> run_ranks(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                       const RankRunOf& run_of, pipeline::StageRun& run) {
  const pipeline::RunSetup& setup = context.setup;
  const char* stage = run::stages::kBaseline;
  const settings::Workload& workload = setup.settings.pipeline.workload;
  const Launched launched = PL_TRY(launch(context, stage, plan, run_of, std::nullopt, run));
  const std::uint32_t lead = lead_rank(setup, stage);
  for (const std::uint32_t rank : observed_ranks(setup, stage)) {
    const program::Recording recording = PL_TRY(read_rank(for_rank(setup, rank)));
    std::vector<Finding> findings = recording_findings(recording, workload);
    if (rank == lead) {
      PL_TRY(write_recording(recording, setup.stage_folder(stage)));
    } else {
      // That the others recorded requests, or none, is no news.
      std::erase_if(findings, [](const Finding& one) { return one.severity == Severity::Note; });
      findings = of_rank(std::move(findings), rank);
    }
    for (Finding& finding : findings) run.report(std::move(finding));
  }
  PL_TRY(lift_file(setup, stage, lead, run::files::kProcess));
  const fs::path process = setup.stage_folder(stage) / run::files::kProcess;
  std::error_code failure;
  if (!fs::exists(process, failure)) {  // the rank did not get that far
    PL_TRY(write_file_atomic(process, PL_TRY(write_json(process_document(launched.exit, {})))));
  }
  run.report(lead_finding(setup, stage));
  return {};
}

Result<void> run_program(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                         pipeline::StageRun& run) {
  const fs::path folder = context.setup.stage_folder(run::stages::kBaseline);
  const settings::Workload& workload = context.setup.settings.pipeline.workload;
  const std::unique_ptr<gpu::GpuSampler> sampler = pipeline::watch_gpu(context, run);
  ProcessWatch watch;
  const pipeline::PlannedCommand& command = plan.command("workload");
  const Exit exit = PL_TRY(run.execute(command, &watch));
  PL_TRY(pipeline::write_readings(sampler.get(), folder));
  const bool is_ours = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  if (!exit.succeeded() && !is_ours) run.report(child_problem(command, exit));
  const program::Recording recording = PL_TRY(recording_of(context.setup));
  const std::vector<ProcessUse> processes = watch.processes();
  const ProgramEnd end{!exit.succeeded(), not_adapted(context, processes, recording)};
  const std::string no_adapter = end.not_adapted ? end.not_adapted->why : "";
  PL_TRY(write_file_atomic(folder / run::files::kProcess,
                           PL_TRY(write_json(process_document(exit, processes, no_adapter)))));
  PL_TRY(write_recording(recording, folder));
  for (Finding& finding : recording_findings(recording, workload, end)) {
    run.report(std::move(finding));
  }
  return {};
}

std::vector<Finding> recording_findings(const program::Recording& recording,
                                        const settings::Workload& workload, const ProgramEnd& end) {
  std::vector<Finding> findings;
  if (!recording.requests.empty()) {
    findings.push_back(requests_finding(recording, workload));
  } else if (!recording.ranges.empty()) {
    findings.push_back(ranges_finding(recording, workload));
    if (end.not_adapted) findings.push_back(not_adapted_finding(*end.not_adapted));
  } else {
    findings.push_back(no_requests_finding(end));
  }
  const std::vector<std::string>& problems = recording.problems;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostProblems); ++i) {
    findings.push_back({Severity::Warning, "recording_problem", problems[i]});
  }
  if (problems.size() > kMostProblems) {
    findings.push_back({Severity::Warning, "recording_problem",
                        counted(problems.size() - kMostProblems, "more problem") +
                            " with what the program recorded"});
  }
  return findings;
}

}  // namespace profline::stages::internal
