#include "stages/server/server_stages.h"

#include <algorithm>

#include "base/figures.h"
#include "base/files.h"
#include "pipeline/gpu_watch.h"
#include "pipeline/workload_stage.h"
#include "run/artifacts.h"
#include "stages/nsys/nsys_stage.h"
#include "stages/server/internal/engine_traces.h"
#include "stages/server/internal/gates.h"
#include "stages/server/internal/session.h"
#include "stages/torch_profiler/on_demand.h"
#include "stages/torch_profiler/torch_profiler_stage.h"
#include "tools/kineto/environment.h"
#include "tools/kineto/protocol.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/interactive.h"
#include "tools/nsys/sqlite_reader.h"
#include "workloads/server/command.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using namespace internal;
using pipeline::Finding;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;
using settings::ServerGate;

ServerGate gate_of(const RunSetup& setup) {
  return workload_of(setup).server.gate;
}

Command plain_server(const RunSetup& setup, std::string_view stage) {
  return server::server_command(workload_of(setup), setup.cwd, setup.folder,
                                setup.stage_folder(stage));
}

Finding not_for_attached(std::string_view stage, std::string_view why) {
  return {Severity::Problem, "server_attached",
          "the server was not started by profline, so " + std::string(why),
          "give its command after '--', or set pipeline." + std::string(stage) + ".enable=false",
          ErrorKind::Config};
}

/// The stage's own server.json, as its run wrote it.
std::optional<ServerRecord> read_record(const RunSetup& setup, std::string_view stage) {
  const fs::path file = setup.stage_folder(stage) / run::files::kServerRecord;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  auto record = from_document<ServerRecord>(*text, file.string());
  if (!record) return std::nullopt;
  return std::move(*record);
}

/// Takes the edges of the window from the capture, if they make sense. It may begin after the
/// window was asked to close: libkineto begins two seconds after it was asked, and records for the
/// time that was requested.
void use_edges(std::int64_t begin_unix_ns, std::int64_t end_unix_ns, ServerWindowRecord& window) {
  constexpr std::int64_t kFar = 5'000'000'000;
  const std::int64_t begin = begin_unix_ns - window.unix_minus_monotonic_ns;
  const std::int64_t end = end_unix_ns - window.unix_minus_monotonic_ns;
  const bool is_near = begin > window.open_asked_ns - kFar &&
                       begin < window.close_acknowledged_ns && end > window.open_acknowledged_ns &&
                       end < window.close_acknowledged_ns + kFar;
  if (!is_near) return;
  window.open_ns = begin;
  window.close_ns = end;
  window.edges_from = "capture";
}

}  // namespace

// The run without a profiler.

std::vector<Finding> ServerBaselineStage::preflight(const StageContext& context) const {
  return server_preflight(context);
}

pipeline::StagePlan ServerBaselineStage::plan(const StageContext& context) const {
  pipeline::StagePlan plan;
  add_session(context, id(), plain_server(context.setup, id()), false, plan);
  if (pipeline::is_on_gpu(context) && !is_attached(context.setup)) {
    plan.artifacts.emplace_back(run::files::kGpuReadings);
  }
  return plan;
}

Result<void> ServerBaselineStage::run(const StageContext& context, const pipeline::StagePlan& plan,
                                      pipeline::StageRun& run) const {
  // A server that runs already may be on another machine.
  const auto sampler = is_attached(context.setup) ? nullptr : pipeline::watch_gpu(context, run);
  auto session = run_session(context, plan, run, id(), nullptr);
  PL_TRY(pipeline::write_readings(sampler.get(), context.setup.stage_folder(id())));
  ServerRecord record = PL_TRY(std::move(session));
  explain_first_token(context.setup, record);
  return write_record(context.setup, record);
}

std::vector<Finding> ServerBaselineStage::verify(const StageContext& context,
                                                 const run::Run& files) const {
  if (workload_of(context.setup).load.command) return {};
  std::error_code failure;
  const bool was_loaded = fs::exists(load_folder(context.setup, id()), failure);
  if (!was_loaded) return {};  // why not was reported
  const run::Artifact<LoadRecord>& load = files.get(run::kLoad);
  if (!load) {
    return {{Severity::Problem, "no_result", load.file + " " + load.why_not,
             "see " + (load_folder(context.setup, id()) / run::files::kLog).string()}};
  }
  std::vector<Finding> findings = load->findings;
  if (load->counts.succeeded == 0) {
    findings.push_back({Severity::Problem, "nothing_succeeded", "no request succeeded"});
  }
  return findings;
}

Result<void> ServerBaselineStage::summarise(const StageContext& /*context*/,
                                            const run::Run& /*files*/,
                                            pipeline::StageRun& /*run*/) const {
  return {};
}

// libtorch's profiler.

namespace {

bool uses_http(const RunSetup& setup) {
  return gate_of(setup) == ServerGate::Http;
}

std::string why_no_kineto(const RunSetup& setup) {
  const std::vector<std::string> given = kineto::given_variables();
  if (!given.empty()) return "your environment already configures Kineto (" + given.front() + ")";
  return kineto::unusable_trace_folder(setup.stage_folder(run::stages::kTorchProfiler))
      .value_or("");
}

}  // namespace

std::vector<Finding> ServerTorchStage::preflight(const StageContext& context) const {
  const RunSetup& setup = context.setup;
  std::vector<Finding> findings = server_preflight(context);
  if (gate_of(setup) == ServerGate::None) {
    findings.push_back(
        {Severity::Problem, "no_gate",
         "pipeline.workload.server.gate=none opens no window, which libtorch's profiler "
         "needs",
         "gate=kineto or http", ErrorKind::Config});
  } else if (!uses_http(setup) && is_attached(setup)) {
    if (const auto given = kineto_of_attached(setup); !given) {
      Finding finding = not_for_attached(
          id(), "its libtorch cannot be asked for a trace: " + given.error().message());
      finding.fix += "; or start it with KINETO_USE_DAEMON=1 and KINETO_IPC_SOCKET_DIR=FOLDER";
      findings.push_back(std::move(finding));
    }
  }
  if (!uses_http(setup) && !is_attached(setup)) {
    if (const std::string why = why_no_kineto(setup); !why.empty()) {
      findings.push_back({Severity::Problem, "nothing_traces",
                          "no process can be traced on demand: " + why, "unset the variables"});
    }
  }
  return findings;
}

pipeline::StagePlan ServerTorchStage::plan(const StageContext& context) const {
  const RunSetup& setup = context.setup;
  Command server = plain_server(setup, id());
  pipeline::StagePlan plan;
  if (uses_http(setup)) {
    const settings::ServerHttp& http = workload_of(setup).server.http;
    plan.notes.push_back("the window is opened by " + http.start + " and closed by " + http.stop);
  } else {
    const fs::path folder = setup.stage_folder(id());
    server.env.merge(kineto::environment(kineto::socket_folder(setup.folder), folder,
                                         folder / run::files::kKinetoConfig));
    plan.notes.emplace_back("the window is opened by Kineto on demand");
  }
  add_session(context, id(), std::move(server), true, plan);
  plan.artifacts.insert(plan.artifacts.end(),
                        {run::files::kTrace, run::files::kOperators, run::files::kOperatorsPage,
                         run::files::kKernels, run::files::kKernelsPage});
  return plan;
}

Result<void> ServerTorchStage::run(const StageContext& context, const pipeline::StagePlan& plan,
                                   pipeline::StageRun& run) const {
  const RunSetup& setup = context.setup;
  const bool may_skip = setup.settings.pipeline.torch_profiler.enable == settings::Enable::Auto;
  const auto baseline = read_record(setup, run::stages::kBaseline);
  if (may_skip && !uses_http(setup) && baseline && baseline->libtorch == false) {
    run.skip({Severity::Problem, "no_libtorch",
              "no process of the server loaded libtorch in the baseline",
              "if it does use libtorch: pipeline.torch_profiler.enable=true"});
    return {};
  }
  const auto gate = uses_http(setup) ? http_gate(context, run) : kineto_gate(context, run);
  ServerRecord record = PL_TRY(run_session(context, plan, run, id(), gate.get()));
  const bool was_open = record.window.has_value();
  if (was_open && uses_http(setup)) PL_TRY(adopt_traces(setup, survived_window(record), run));
  return write_record(setup, record);  // judged once its trace says when the window was
}

std::vector<Finding> ServerTorchStage::verify(const StageContext& context,
                                              const run::Run& /*files*/) const {
  const auto record = read_record(context.setup, id());
  if (record && record->window) return {};
  return {{Severity::Problem, "nothing_traced", "the window was never open, so nothing was traced",
           "see the findings before this one"}};
}

Result<void> ServerTorchStage::summarise(const StageContext& context, const run::Run& files,
                                         pipeline::StageRun& run) const {
  const RunSetup& setup = context.setup;
  const auto tables = TorchProfilerStage{}.summarise(context, files, run);
  auto record = read_record(setup, id());
  if (!record || !record->window) return tables;
  const run::Artifact<Timeline>& trace = files.get(run::kTorchTrace);
  // What is recorded is the window: an engine's own profiler, too, begins and ends when it likes.
  if (trace && trace->unix_origin_ns > 0) {
    use_edges(trace->unix_origin_ns + trace->begin_ns, trace->unix_origin_ns + trace->end_ns,
              *record->window);
  }
  judge(setup, *record, run);
  if (trace) {
    CaptureCounts counts;
    counts.by_process = uses_http(setup) ? work_of_engine(setup, *record, *trace)
                                         : kernels_by_process(setup.stage_folder(id()));
    counts.is_one_of_many = uses_http(setup);
    counts.has_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
    use_capture(*trace, trace.file, counts, *record, run);
    add_proof(
        *record, run,
        {kWhole, ProofState::Passed,
         trace.file + " was written to its end: " + counted(trace->operators.size(), "operator") +
             ", " + counted(trace->work.size(), "kernel or copy", "kernels and copies")});
  } else {
    add_proof(*record, run, {kWhole, ProofState::Failed, trace.file + " " + trace.why_not},
              "trace_unreadable",
              "give the profiler less to write: a shorter window "
              "(pipeline.workload.window.seconds), or record_shapes and with_stack off; the "
              "server's output: " +
                  server_log(setup, id()).string());
  }
  PL_TRY(write_record(setup, *record));
  return tables;
}

// nsys.

std::vector<Finding> ServerNsysStage::preflight(const StageContext& context) const {
  const RunSetup& setup = context.setup;
  std::vector<Finding> findings = server_preflight(context);
  if (is_attached(setup)) {
    findings.push_back(not_for_attached(id(), "nsys cannot record it"));
    return findings;
  }
  for (Finding& finding : NsysStage{}.preflight(context)) {
    if (std::find(findings.begin(), findings.end(), finding) == findings.end()) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

pipeline::StagePlan ServerNsysStage::plan(const StageContext& context) const {
  const RunSetup& setup = context.setup;
  const nsys::Installation nsys = installed_nsys(context.tools);
  const std::string session = nsys_session_id(setup);
  const fs::path output = nsys_output(setup);
  const settings::Nsys& own = setup.settings.pipeline.nsys;
  const Command server = plain_server(setup, id());
  const ServerGate gate = gate_of(setup);
  pipeline::StagePlan plan;
  const bool by_session = gate != ServerGate::Cuda && gate != ServerGate::None;
  if (by_session) {
    add_session(context, id(), nsys::launch_command(nsys, own, session, server), true, plan);
    plan.commands.push_back(
        {kStart, nsys::start_command(nsys, own, session, output), "when the window opens"});
    Command stop = nsys::stop_command(nsys.program, session);
    stop.timeout = kLongImport;
    plan.commands.push_back({kStop, std::move(stop), "when it closes"});
  } else {
    settings::Nsys options = own;
    if (gate == ServerGate::Cuda) {
      options.capture_range = settings::CaptureRange::CudaProfilerApi;
      options.capture_range_end =
          settings::CaptureRangeEnd{.action = settings::CaptureRangeEnd::Action::Stop, .count = {}};
    } else {
      options.capture_range = settings::CaptureRange::None;
    }
    const nsys::Capture capture{.session = session, .output = output};
    add_session(context, id(), nsys::profile_server_command(nsys, options, capture, server),
                gate == ServerGate::Cuda, plan);
  }
  const std::string report = output.string() + ".nsys-rep";
  const fs::path sqlite = setup.stage_folder(id()) / run::files::kNsysSqlite;
  plan.commands.push_back({kExport, nsys::export_command(nsys.program, report, sqlite)});
  plan.artifacts.insert(plan.artifacts.end(),
                        {run::files::kNsysReport, run::files::kNsysSqlite, run::files::kKernels,
                         run::files::kKernelsPage, run::files::kRanges});
  return plan;
}

namespace {

/// Exports and reads the report: the window's edges, and what is in it.
Result<void> read_report(const StageContext& context, const pipeline::StagePlan& plan,
                         pipeline::StageRun& run, const WindowGate* gate, ServerRecord& record) {
  const RunSetup& setup = context.setup;
  const fs::path report = nsys_output(setup).string() + ".nsys-rep";
  const fs::path sqlite = setup.stage_folder(run::stages::kNsys) / run::files::kNsysSqlite;
  std::error_code failure;
  if (!fs::exists(report, failure)) return {};
  const Exit exported = PL_TRY(run.execute(plan.command(kExport)));
  if (exported.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  std::optional<Result<nsys::Export>> made;
  run.read([&] { made = nsys::read_export(sqlite, ""); });
  if (!*made) {
    const std::string disk = full_disk_of(sqlite.parent_path());
    add_proof(record, run,
              {kWhole, ProofState::Failed,
               disk.empty() ? (*made).error().to_string() + "; nsys export " + exported.describe()
                            : disk},
              disk.empty() ? "export_failed" : "disk_full", "the report itself is kept");
    return {};
  }
  nsys::Export content = std::move(*made).value();
  const auto edges = nsys::capture_edges(sqlite);
  if (edges && *edges && record.window) {
    use_edges((*edges)->begin_unix_ns, (*edges)->end_unix_ns, *record.window);
  }
  const auto pids = nsys::captured_processes(sqlite);
  if (pids) {
    for (ServerProcess& process : record.processes) {
      const bool is_there = std::find(pids->begin(), pids->end(), process.pid) != pids->end();
      if (is_there) process.traced = true;
    }
  }
  if (edges && *edges) {
    // The window counts, not only the time between the first and the last event.
    const std::int64_t length = (*edges)->end_unix_ns - (*edges)->begin_unix_ns;
    content.timeline.begin_ns = std::min<std::int64_t>(content.timeline.begin_ns, 0);
    content.timeline.end_ns = std::max(content.timeline.end_ns, length);
  }
  const bool is_gpu = setup.settings.device.kind == settings::Device::Kind::Cuda;
  add_proof(record, run,
            {kWhole, ProofState::Passed,
             "the report was finalised and exported: " + counted(content.contents.rows, "event")});
  const bool should_have_samples =
      setup.settings.pipeline.nsys.gpu_metrics && (gate == nullptr || !gate->lacks_metrics());
  if (should_have_samples && content.timeline.gpu_samples.empty()) {
    const fs::path log = server_log(setup, run::stages::kNsys);
    run.report(
        nsys::missing_samples("the capture", read_file(log).value_or(""), "see " + log.string()));
  }
  const std::string name = (fs::path(run::stages::kNsys) / run::files::kNsysSqlite).string();
  use_capture(content.timeline, name, {.has_gpu = is_gpu}, record, run);
  if (content.contents.rows == 0) {
    run.report({is_gpu ? Severity::Problem : Severity::Note, "capture_empty",
                "the capture holds no events" +
                    std::string(is_gpu ? ""
                                       : ": the server computes on the CPU and opens no NVTX "
                                         "ranges"),
                is_gpu ? "pipeline.nsys.trace must name cuda"
                       : "pipeline.nsys.trace=cuda,nvtx,osrt records its calls of the operating "
                         "system"});
  }
  run.keep_capture(run::files::kNsysSqlite, std::move(content.timeline));
  return {};
}

}  // namespace

Result<void> ServerNsysStage::run(const StageContext& context, const pipeline::StagePlan& plan,
                                  pipeline::StageRun& run) const {
  const RunSetup& setup = context.setup;
  std::unique_ptr<WindowGate> gate;
  switch (gate_of(setup)) {
    case ServerGate::Cuda:
      gate = cuda_gate(context, run);
      break;
    case ServerGate::None:
      gate = whole_life_gate(context, run);
      break;
    default:
      gate = nsys_gate(context, plan, run);
  }
  ServerRecord record = PL_TRY(run_session(context, plan, run, id(), gate.get()));
  PL_TRY(read_report(context, plan, run, gate.get(), record));
  judge(setup, record, run);
  return write_record(setup, record);
}

std::vector<Finding> ServerNsysStage::verify(const StageContext& context,
                                             const run::Run& /*files*/) const {
  const fs::path report = nsys_output(context.setup).string() + ".nsys-rep";
  std::error_code failure;
  if (fs::exists(report, failure)) return {};
  const std::string disk = full_disk_of(report.parent_path());
  return {{Severity::Problem, disk.empty() ? "no_report" : "disk_full",
           "nsys left no report" + (disk.empty() ? "" : ": " + disk),
           "see the findings before this one, and " +
               server_log(context.setup, run::stages::kNsys).string()}};
}

Result<void> ServerNsysStage::summarise(const StageContext& context, const run::Run& files,
                                        pipeline::StageRun& run) const {
  return NsysStage{}.summarise(context, files, run);
}

}  // namespace profline::stages
