#include "stages/program_gate/program_gate.h"

#include <algorithm>
#include <numeric>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "records/recorded_program.h"
#include "run/names/artifact_names.h"
#include "workloads/program/recording.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using pipeline::RunSetup;

fs::path steady_file(const RunSetup& setup) {
  return setup.stage_folder(run::stages::kBaseline) / run::files::kSteady;
}

/// Ranks wait for each other in collectives, so all of them capture the requests that suit the
/// first one that is profiled.
RunSetup of_lead_rank(RunSetup setup) {
  if (!setup.rank) return setup;
  const settings::Ranks& ranks = setup.settings.pipeline.workload.ranks;
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) {
    if (!ranks.is_profiled(rank)) continue;
    setup.rank = rank;
    break;
  }
  return setup;
}

std::vector<Request> baseline_requests(const RunSetup& setup) {
  const fs::path file = setup.stage_folder(run::stages::kBaseline) / run::files::kRequests;
  const auto text = read_file(file);
  if (!text) return {};
  return parse_requests(*text, file.string()).value_or({});
}

SteadyWindow steady_window(const RunSetup& setup, std::size_t requests) {
  SteadyWindow second;
  second.first = requests > 1 ? 1 : 0;
  second.count = 1;
  second.requests = requests;
  const auto text = read_file(steady_file(setup));
  if (!text) return second;
  return from_document<SteadyWindow>(*text, steady_file(setup).string()).value_or(second);
}

/// `requests 2 to 4`, counted from 1 as people do.
std::string requests_text(const SteadyWindow& steady) {
  if (steady.count <= 1) return "request " + std::to_string(steady.first + 1);
  return "requests " + std::to_string(steady.first + 1) + " to " +
         std::to_string(steady.first + steady.count);
}

bool has_source(const std::vector<Request>& requests, RequestSource source) {
  return std::any_of(requests.begin(), requests.end(),
                     [&](const Request& request) { return request.source == source; });
}

Result<program::Recording> recording_of(const RunSetup& setup, const fs::path& out) {
  return program::read_recording(recorded_folder(out),
                                 {.request_range = setup.settings.pipeline.workload.request_range});
}

/// `requests 2 to 4 of 9`.
std::string place_text(const SteadyWindow& steady, std::size_t requests) {
  const std::string text = requests_text(steady) + " of ";
  const std::string all = std::to_string(std::max<std::size_t>(steady.requests, requests));
  if (!steady.in_process) return text + all;
  return text + std::to_string(*steady.in_process) +
         " in each process, as chosen in the one with the most requests (" + all + " in all)";
}

/// Whether a request ran while one of the gates was open. torch.profiler sees its own process only.
bool was_captured(const Request& request, const std::vector<program::Gate>& gates) {
  if (!request.start_ns) return false;
  const auto pid = request.integer("pid");
  return std::any_of(gates.begin(), gates.end(), [&](const program::Gate& gate) {
    if (gate.gate == "torch" && pid && *pid != gate.pid) return false;
    return gate.opened_ns && gate.closed_ns && (*request.start_ns < *gate.closed_ns) &&
           (*request.start_ns + request.ns > *gate.opened_ns);
  });
}

bool is_among(const Request& request, const CapturedRequests& captured) {
  return request.id >= captured.first && request.id - captured.first < captured.count;
}

void cut_steps(Request& request, std::uint32_t steps) {
  for (Phase& phase : request.phases) {
    if (!phase.steps_ns || phase.steps_ns->size() <= steps) continue;
    phase.steps_ns->resize(steps);
    phase.ns = std::accumulate(phase.steps_ns->begin(), phase.steps_ns->end(), std::int64_t{0});
  }
}

}  // namespace

bool is_program(const RunSetup& setup) {
  return setup.settings.pipeline.workload.user_command().has_value();
}

bool is_server(const RunSetup& setup) {
  return setup.settings.pipeline.workload.kind == settings::WorkloadKind::Server;
}

bool uses_adapter(const pipeline::StageContext& context) {
  return is_program(context.setup) && context.tools.companions.python &&
         context.setup.settings.pipeline.workload.python != settings::PythonAdapter::Off;
}

bool follows_baseline(const RunSetup& setup) {
  return is_program(setup) && !is_server(setup) && setup.baseline_is_on;
}

ProgramGate choose_gate(const pipeline::StageContext& context) {
  const RunSetup setup = of_lead_rank(context.setup);
  const std::vector<Request> requests = baseline_requests(setup);
  if (requests.empty()) return {.why = "the baseline recorded no requests"};
  const SteadyWindow steady = steady_window(setup, requests.size());
  ProgramGate gate{.first = steady.first, .count = steady.count};
  const bool is_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
  const std::string of = place_text(steady, requests.size());
  if (uses_adapter(context) && is_gpu && has_source(requests, RequestSource::Python)) {
    gate.gate = CaptureGate::Requests;
    gate.why = of + ", bracketed by the Python adapter";
  } else if (has_source(requests, RequestSource::Nvtx)) {
    gate.gate = CaptureGate::Ranges;
    gate.why = of + ", ranges named " + setup.settings.pipeline.workload.request_range;
  } else {
    gate.why = is_gpu ? "neither the adapter nor a range delimits the program's requests"
                      : "the program runs on the CPU, where nothing delimits its requests";
  }
  return gate;
}

std::string condition_of(CaptureGate kind, const RunSetup& setup) {
  switch (kind) {
    case CaptureGate::Requests:
      return "if the baseline records requests of a Python program on a GPU";
    case CaptureGate::Ranges:
      return "if it records NVTX ranges '" + setup.settings.pipeline.workload.request_range +
             "' instead";
    case CaptureGate::Everything:
      break;
  }
  return "otherwise, or if nothing opened the capture";
}

program::ProgramRun gated_run(const RunSetup& setup, program::GateKind gate) {
  program::ProgramRun run;
  run.gate = gate;
  run.gate_plan = steady_file(of_lead_rank(setup));
  return run;
}

fs::path recorded_folder(const fs::path& out) {
  return out / run::folders::kRecorded;
}

void forget_recorded(const fs::path& out) {
  std::error_code ignored;
  fs::remove_all(recorded_folder(out), ignored);
}

std::string adapter_problem(const RunSetup& setup, const fs::path& out) {
  const auto recording = recording_of(setup, out);
  if (!recording) return recording.error().to_string();
  if (!recording->problems.empty()) return recording->problems.front();
  if (recording->python_processes == 0) return "no Python process loaded the adapter";
  return "";
}

Result<void> write_gate(const fs::path& folder, const ProgramGate& gate) {
  return write_file_atomic(folder / run::files::kGate, PL_TRY(to_document(gate)));
}

ProgramGate read_gate(const fs::path& folder) {
  const auto text = read_file(folder / run::files::kGate);
  if (!text) return {};
  return from_document<ProgramGate>(*text, (folder / run::files::kGate).string()).value_or({});
}

Result<void> write_profiled_requests(const RunSetup& setup, const fs::path& out, const fs::path& to,
                                     const ProfiledPart& part) {
  program::Recording recording = PL_TRY(recording_of(setup, out));
  std::string lines;
  for (Request& request : recording.requests) {
    if (!recording.gates.empty() && !was_captured(request, recording.gates)) continue;
    if (part.captured && !is_among(request, *part.captured)) continue;
    if (part.steps) cut_steps(request, *part.steps);
    lines += to_json_line(request) + "\n";
  }
  if (lines.empty()) return {};
  PL_TRY(create_folders(to));
  return write_file_atomic(to / run::files::kRequests, lines);
}

}  // namespace profline::stages
