
#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "records/recorded_program.h"
#include "run/names/artifact_names.h"
#include "stages/program_gate/program_gate.h"
#include "stages/ranks/ranked_stage.h"
#include "stages/torch_profiler/internal/traces.h"
#include "tools/kineto/environment.h"
#include "workloads/program/environment.h"
#include "workloads/program/python_record.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using kineto::Outcome;
using kineto::ProcessTrace;
using pipeline::Finding;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;
using std::chrono::milliseconds;

fs::path stage_folder(const RunSetup& setup) {
  return setup.stage_folder(run::stages::kTorchProfiler);
}

/// Of a rank, its own: its process answers on its own node.
fs::path socket_folder(const RunSetup& setup) {
  return kineto::socket_folder(setup.rank ? stage_folder(setup) : setup.folder);
}

bool asks_for(const settings::TorchProfiler& own, settings::Activity activity) {
  return std::find(own.activities.begin(), own.activities.end(), activity) != own.activities.end();
}

/// The options of torch.profiler, as the adapter reads them.
std::string torch_options(const settings::TorchProfiler& own) {
  Node activities = Node::list();
  for (const settings::Activity activity : own.activities) {
    activities.as_list().push_back(
        Node::string(activity == settings::Activity::Cpu ? "cpu" : "cuda"));
  }
  NodeMap options;
  options.set("activities", std::move(activities));
  options.set("record_shapes", Node::boolean(own.record_shapes));
  options.set("profile_memory", Node::boolean(own.profile_memory));
  options.set("with_stack", Node::boolean(own.with_stack));
  return write_json(Node::map(std::move(options)), {.indent = 0}).value_or("{}");
}

std::string json_of(const std::map<std::string, std::string>& variables) {
  NodeMap map;
  for (const auto& [name, value] : variables) map.set(name, Node::string(value));
  return write_json(Node::map(std::move(map)), {.indent = 0}).value_or("{}");
}

Command program_command(const StageContext& context) {
  const RunSetup& setup = context.setup;
  const fs::path folder = stage_folder(setup);
  program::ProgramRun program;
  program.gate = program::GateKind::Torch;
  program.gate_plan = folder / run::files::kSteady;
  program.traces = folder;
  program.torch_options = torch_options(setup.settings.pipeline.torch_profiler);
  Command command = workload_command(
      context, {.stage = run::stages::kTorchProfiler,
                .mode = "torch_profiler",
                .config = handed_config_file(setup, run::stages::kTorchProfiler, {}),
                .out = folder,
                .program = program});
  if (!why_no_kineto(setup).empty()) return command;
  auto variables =
      kineto::environment(socket_folder(setup), folder, folder / run::files::kKinetoConfig);
  if (uses_adapter(context)) command.env[program::kForAdapter] = json_of(variables);
  command.env.merge(std::move(variables));
  return command;
}

/// The records of Python processes in a folder of recordings.
std::vector<program::PythonRecord> python_records(const fs::path& folder) {
  std::vector<program::PythonRecord> records;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("python-")) continue;
    records.push_back(program::parse_python_record(read_file(at->path()).value_or(""), name));
  }
  return records;
}

/// How the Python processes were started that made requests in the baseline; empty: that is not
/// known of each of them.
std::vector<std::string> makers_of_requests(const RunSetup& setup) {
  std::set<std::string> found;
  for (const program::PythonRecord& record :
       python_records(recorded_folder(setup.stage_folder(run::stages::kBaseline)))) {
    if (!record.requests.empty()) found.insert(record.started);
  }
  if (found.contains("")) return {};
  return {found.begin(), found.end()};
}

/// Chooses one steady request, up to `decode_steps` of its steps, as for the built-in workload.
Result<void> write_gate_plan(const StageContext& context, std::vector<std::string> processes) {
  const ProgramGate gate = choose_gate(context);
  const bool is_known = gate.count > 0;
  SteadyWindow window;
  window.first = is_known ? gate.first : 1;
  window.count = 1;
  window.requests = is_known ? gate.first + gate.count : 0;
  window.reason = is_known ? "the first steady request of the baseline"
                           : "the second request, because the baseline recorded none";
  window.steps = context.setup.settings.pipeline.torch_profiler.decode_steps;
  window.processes = std::move(processes);
  return write_file_atomic(stage_folder(context.setup) / run::files::kSteady,
                           PL_TRY(to_document(window)));
}

/// What the baseline noted about the program's processes.
struct BaselineProcess {
  std::optional<std::chrono::nanoseconds> wall{};
  std::optional<bool> torch{};  ///< whether one of them had libtorch loaded
};

BaselineProcess baseline_process(const RunSetup& setup) {
  const fs::path file = setup.folder / run::paths::kBaselineProcess;
  const auto text = read_file(file);
  const auto tree = text ? parse_json(*text, file.string()) : Result<Node>(Node());
  if (!tree || !tree->is_map()) return {};
  BaselineProcess process;
  const Node* wall = tree->find("wall_ns");
  if (wall != nullptr && wall->is_int()) process.wall = std::chrono::nanoseconds(wall->as_int());
  const Node* list = tree->find("processes");
  if (list == nullptr || !list->is_list()) return process;
  for (const Node& one : list->as_list()) {
    const Node* torch = one.find("torch");
    if (torch == nullptr || !torch->is_bool()) continue;
    process.torch = process.torch.value_or(false) || torch->as_bool();
  }
  return process;
}

/// Whether a process of the program had libtorch loaded in the baseline; true if that is not known.
bool used_torch(const RunSetup& setup) {
  constexpr std::chrono::milliseconds kLoadingTakes{300};
  const BaselineProcess baseline = baseline_process(setup);
  const bool is_short = baseline.wall && *baseline.wall < kLoadingTakes;
  if (baseline.torch.value_or(!is_short)) return true;
  // A process may be too short-lived to be seen.
  const RunSetup lead = has_ranks(setup) ? for_rank(setup, 0) : setup;
  const auto records = python_records(recorded_folder(lead.stage_folder(run::stages::kBaseline)));
  return std::any_of(records.begin(), records.end(),
                     [](const program::PythonRecord& record) { return record.torch.has_value(); });
}

/// With enable=auto, a program without libtorch is not run again.
bool is_left_out(const RunSetup& setup, pipeline::StageRun& run) {
  const bool is_auto = setup.settings.pipeline.torch_profiler.enable == settings::Enable::Auto;
  if (!is_auto || used_torch(setup)) return false;
  run.skip({Severity::Problem, "no_libtorch",
            "no process of the program loaded libtorch in the baseline",
            "if libtorch is linked into the program: pipeline.torch_profiler.enable=true"});
  return true;
}

kineto::TraceRequest trace_request(const RunSetup& setup, const OnDemandWindow& window) {
  const settings::TorchProfiler& own = setup.settings.pipeline.torch_profiler;
  return {.file = on_demand_file(stage_folder(setup)),
          .duration = window.duration,
          .cpu = asks_for(own, settings::Activity::Cpu),
          .cuda = asks_for(own, settings::Activity::Cuda),
          .shapes = own.record_shapes,
          .memory = own.profile_memory,
          .stacks = own.with_stack};
}

/// Who traces which processes of the program.
struct Tracing {
  bool by_adapter = false;
  bool on_demand = false;
  std::vector<std::string> makers{};  ///< how the processes that the adapter traces were started
};
Tracing tracing_of(const StageContext& context);

bool expects_requests(const RunSetup& setup) {
  const fs::path file = setup.stage_folder(run::stages::kBaseline) / run::files::kRequests;
  const auto text = read_file(file);
  if (!text) return false;
  const auto requests = parse_requests(*text, file.string());
  return requests && std::any_of(requests->begin(), requests->end(), [](const Request& request) {
           return request.source == RequestSource::Python;
         });
}

/// The command for a program whose Python processes all open torch.profiler themselves.
pipeline::PlannedCommand without_kineto(pipeline::PlannedCommand command) {
  for (const auto& [name, value] : kineto::environment({}, {}, {})) command.command.env.erase(name);
  command.command.env.erase(program::kForAdapter);
  return command;
}

Tracing tracing_of(const StageContext& context) {
  const RunSetup& setup = context.setup;
  Tracing tracing;
  tracing.by_adapter = uses_adapter(context) && expects_requests(setup);
  if (tracing.by_adapter) tracing.makers = makers_of_requests(setup);
  // The others are traced only if it is known which processes the adapter traces.
  tracing.on_demand =
      (!tracing.by_adapter || !tracing.makers.empty()) && why_no_kineto(setup).empty();
  return tracing;
}

/// One rank, which is traced in its own process.
RankRun rank_run(const StageContext& context) {
  RankRun own{.command = program_command(context)};
  own.command.log = stage_folder(context.setup) / run::files::kLog;
  if (why_no_kineto(context.setup).empty()) own.sockets = socket_folder(context.setup).string();
  return own;
}

/// The same once the baseline has shown who traces which processes.
RankRun rank_run_after_baseline(const StageContext& context) {
  RankRun own = rank_run(context);
  const Tracing tracing = tracing_of(context);
  own.makers = tracing.makers;
  if (tracing.on_demand) return own;
  own.sockets.clear();
  own.command = without_kineto({"", std::move(own.command)}).command;
  return own;
}

/// What each rank needs before it starts.
Result<void> write_inputs(const StageContext& context, std::vector<std::string> makers) {
  PL_TRY(create_folders(stage_folder(context.setup)));
  PL_TRY(write_gate_plan(context, std::move(makers)));
  return write_file_atomic(stage_folder(context.setup) / run::files::kKinetoConfig,
                           kineto::config_text());
}

/// Runs the program with a responder, so that its processes can be traced on demand, except those
/// that were started like `makers`: the adapter opens torch.profiler in them.
Result<Exit> run_traced(const StageContext& context, pipeline::PlannedCommand command,
                        const std::vector<std::string>& makers, pipeline::StageRun& run) {
  const RunSetup& setup = context.setup;
  const OnDemandWindow window = on_demand_window(baseline_process(setup).wall);
  const OnDemandRun traced{.sockets = socket_folder(setup),
                           .trace = trace_request(setup, window),
                           .window = window,
                           .recorded = recorded_folder(stage_folder(setup)),
                           .makers = makers};
  const auto execute = [&](RunObserver* observer) {
    return run.execute(observer == nullptr ? without_kineto(command) : command, observer);
  };
  return run_on_demand(traced, execute, [&](Finding finding) { run.report(std::move(finding)); });
}

/// `process 77 (python3)`
std::string process_text(const ProcessTrace& trace) {
  const std::string number = "process " + std::to_string(trace.pid);
  return trace.name.empty() ? number : number + " (" + trace.name + ")";
}

std::string seconds_text(std::chrono::milliseconds time) {
  return duration(std::chrono::nanoseconds(time).count());
}

std::optional<Finding> finding_of(const ProcessTrace& trace, const OnDemandWindow& window) {
  const std::string who = process_text(trace);
  switch (trace.outcome) {
    case Outcome::Traced:
      return std::nullopt;
    case Outcome::Truncated:
      return Finding{Severity::Warning, "trace_truncated",
                     who + " ended while it wrote its trace, " + trace.file.filename().string(),
                     "let it run for longer; its trace begins after " + seconds_text(window.after)};
    case Outcome::EndedEarly:
      return Finding{
          Severity::Warning, "trace_lost",
          who + " ended before its trace of " + seconds_text(window.duration) + " was complete",
          "let it run for longer, or mark its requests with 'import profline'"};
    case Outcome::NotWritten:
      return Finding{Severity::Warning, "trace_not_written",
                     who + " was asked for a trace and did not write one",
                     "set KINETO_LOG_LEVEL=0 for the program; its output then says why"};
    case Outcome::NotAsked:
      return Finding{Severity::Note, "trace_not_due",
                     who + " could have been traced, but ended within " +
                         seconds_text(window.after) + ", before its trace was due",
                     ""};
    case Outcome::NeverPolled:
      return Finding{Severity::Warning, "kineto_absent",
                     who +
                         " uses libtorch but never asked for a trace: its libtorch has no Kineto, "
                         "or one without on-demand tracing",
                     "use a PyTorch from pip or conda, which has both, or mark the requests of a "
                     "Python program with 'import profline'"};
    case Outcome::Forked:
      return Finding{Severity::Warning, "process_forked",
                     who +
                         " was forked from a process that had libtorch loaded, and libkineto does "
                         "not work in such a copy, so it was not traced",
                     "start workers with the method 'spawn', or mark their requests with 'import "
                     "profline'"};
  }
  return std::nullopt;
}

/// The keys of the stage that have no effect on a program.
std::string unused_keys() {
  return "warmup_rounds, warmup_synthetic and output apply to the built-in workload only";
}

}  // namespace

std::string why_no_kineto(const RunSetup& setup) {
  const std::vector<std::string> given = kineto::given_variables();
  if (!given.empty()) {
    return "your environment already configures Kineto (" + join(given, ", ") + ")";
  }
  return kineto::unusable_trace_folder(stage_folder(setup)).value_or("");
}

OnDemandWindow on_demand_window(std::optional<std::chrono::nanoseconds> wall) {
  using std::chrono::duration_cast;
  constexpr milliseconds kUnknownStart{5000};
  constexpr milliseconds kShortest{250};
  constexpr milliseconds kLongest{500};  // a busy GPU fills 60 MB in that time
  if (!wall) return {.after = kUnknownStart, .duration = kLongest};
  const auto all = duration_cast<milliseconds>(*wall);
  return {.after = all / 2, .duration = std::clamp(all / 4, kShortest, kLongest)};
}

std::vector<Finding> take_out_adapted(const fs::path& recorded,
                                      const std::vector<std::string>& makers,
                                      std::vector<ProcessTrace>& traces) {
  std::vector<Finding> findings;
  for (const program::PythonRecord& record : python_records(recorded)) {
    if (std::find(makers.begin(), makers.end(), record.started) == makers.end()) continue;
    const std::size_t silent = std::erase_if(traces, [&](const ProcessTrace& trace) {
      return trace.pid == record.pid &&
             (trace.outcome == Outcome::NeverPolled || trace.outcome == Outcome::Forked);
    });
    if (silent == 0 || !record.requests.empty() || !record.gates.empty()) continue;
    findings.push_back({Severity::Warning, "process_without_requests",
                        "process " + std::to_string(record.pid) +
                            " made no requests and was not traced: it was started like those that "
                            "made requests in the baseline (" +
                            record.started + ")",
                        "pipeline.workload.python=off traces every process on demand"});
  }
  return findings;
}

void take_out_self_traced(const fs::path& folder, std::vector<ProcessTrace>& traces) {
  std::set<std::int64_t> self_traced;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const auto trace = trace_named(at->path().filename().string());
    const bool is_own = trace && trace->source == TraceSource::Adapter;
    if (is_own && kineto::is_complete_trace(at->path())) self_traced.insert(trace->pid);
  }
  std::erase_if(traces, [&](const ProcessTrace& trace) {
    const bool is_on_demand =
        trace.outcome == Outcome::Traced || trace.outcome == Outcome::Truncated;
    return !is_on_demand && self_traced.contains(trace.pid);
  });
}

std::vector<Finding> on_demand_findings(const std::vector<ProcessTrace>& traces,
                                        const kineto::Traffic& traffic,
                                        const OnDemandWindow& window) {
  std::vector<Finding> findings;
  for (const ProcessTrace& trace : traces) {
    if (auto finding = finding_of(trace, window)) findings.push_back(std::move(*finding));
  }
  if (!traffic.elsewhere.empty()) {
    findings.push_back(Finding{Severity::Warning, "kineto_elsewhere",
                               counted(traffic.elsewhere.size(), "process sees", "processes see") +
                                   " profline's sockets under another path (" +
                                   traffic.elsewhere.front() +
                                   ") and got no answer: libkineto ends a process that is answered "
                                   "from a path it does not expect",
                               "mount the folder at the same path in the container"});
  }
  if (traffic.garbage > 0) {
    findings.push_back({Severity::Note, "kineto_garbage",
                        counted(traffic.garbage, "message") +
                            " on the socket for traces did not come from a known libkineto",
                        ""});
  }
  return findings;
}

std::vector<Finding> program_preflight(const StageContext& context) {
  const RunSetup& setup = context.setup;
  std::vector<Finding> findings = pipeline::workload_preflight(context);
  for (Finding& finding : launch_preflight(context)) findings.push_back(std::move(finding));
  const std::string off = why_no_kineto(setup);
  if (!off.empty() && !uses_adapter(context)) {
    findings.push_back({Severity::Problem, "nothing_traces",
                        "nothing can trace the program: its Python processes do not load the "
                        "adapter, and " +
                            off,
                        "unset the variables, or set pipeline.workload.python=auto"});
    return findings;
  }
  if (!off.empty()) {
    findings.push_back(Finding{Severity::Warning, "kineto_configured",
                               off + ", so only processes with the Python adapter are traced",
                               "unset the variables to trace other processes too"});
    return findings;
  }
  const fs::path cwd = (setup.cwd / setup.settings.pipeline.workload.cwd).lexically_normal();
  std::error_code failure;
  const bool can_start = fs::is_directory(cwd, failure);  // otherwise it is reported above
  const auto reached = can_start ? kineto::check_reach(socket_folder(setup), cwd) : Result<void>();
  if (!reached) {
    findings.push_back(Finding{Severity::Warning, "kineto_unreachable",
                               "no process can be traced on demand: " + reached.error().to_string(),
                               "processes with the Python adapter are still traced"});
  }
  const auto argv = setup.settings.pipeline.workload.user_command();
  const std::string isolating =
      kineto::isolating_program(argv.value_or(std::vector<std::string>()));
  if (!isolating.empty()) {
    findings.push_back({Severity::Note, "program_isolated",
                        "processes that " + isolating +
                            " starts may not get profline's variables "
                            "or see its folders, and then they are not traced",
                        "run profline where the program itself runs, as in " + isolating +
                            " … profline run -- PROGRAM"});
  }
  return findings;
}

pipeline::StagePlan program_plan(const StageContext& context) {
  const RunSetup& setup = context.setup;
  const settings::TorchProfiler& own = setup.settings.pipeline.torch_profiler;
  pipeline::StagePlan plan;
  if (has_ranks(setup)) {
    add_launch(context, run::stages::kTorchProfiler, rank_run, plan);
  } else {
    plan.commands.push_back({"workload", program_command(context)});
    plan.artifacts.emplace_back(run::folders::kRecorded);
  }
  plan.artifacts.insert(plan.artifacts.end(),
                        {run::files::kTrace, run::files::kTraces, run::files::kOperators,
                         run::files::kOperatorsPage, run::files::kKernels, run::files::kKernelsPage,
                         run::paths::kWorkloadRequests, run::files::kLog});
  if (uses_adapter(context)) {
    plan.limits.push_back("Python: 1 request, the first steady one of the baseline" +
                          (own.decode_steps ? ", up to " + counted(*own.decode_steps, "step") +
                                                  " of it (pipeline.torch_profiler.decode_steps)"
                                            : std::string()));
  }
  const std::string off = why_no_kineto(setup);
  if (off.empty()) {
    plan.limits.push_back("up to 0.5 s of each " +
                          std::string(uses_adapter(context) ? "other " : "") +
                          "process that uses libtorch, by Kineto on demand");
  } else {
    plan.notes.push_back("no Kineto on demand: " + off);
  }
  plan.notes.push_back(unused_keys());
  if (own.profile_memory) {
    plan.notes.emplace_back(
        "profile_memory: allocations are in trace.json; there is no memory.json");
  }
  return plan;
}

namespace {

/// Runs all ranks, and keeps the requests of each rank that was traced.
Result<void> trace_ranks(const StageContext& context, const pipeline::StagePlan& plan,
                         pipeline::StageRun& run) {
  const RunSetup& setup = context.setup;
  const char* stage = run::stages::kTorchProfiler;
  const settings::TorchProfiler& own = setup.settings.pipeline.torch_profiler;
  for (const std::uint32_t rank : observed_ranks(setup, stage)) {
    const RunSetup one = for_rank(setup, rank);
    const StageContext of_one{one, context.tools};
    PL_TRY(write_inputs(of_one, tracing_of(of_one).makers));
  }
  const OnDemandWindow window = on_demand_window(baseline_process(setup).wall);
  const kineto::TraceRequest trace = trace_request(setup, window);
  const ranks::OnDemandTask on_demand{.after_ms = window.after.count(),
                                      .duration_ms = window.duration.count(),
                                      .cpu = trace.cpu,
                                      .cuda = trace.cuda,
                                      .shapes = trace.shapes,
                                      .memory = trace.memory,
                                      .stacks = trace.stacks};
  PL_TRY(launch(context, stage, plan, rank_run_after_baseline, on_demand, run));
  for (const std::uint32_t rank : observed_ranks(setup, stage)) {
    const RunSetup one = for_rank(setup, rank);
    PL_TRY(write_profiled_requests(one, stage_folder(one),
                                   stage_folder(one) / run::folders::kWorkload,
                                   {.steps = own.decode_steps}));
  }
  return lift_file(setup, stage, lead_rank(setup, stage), run::paths::kWorkloadRequests);
}

}  // namespace

Result<void> trace_program(const StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run) {
  const RunSetup& setup = context.setup;
  if (is_left_out(setup, run)) return {};
  if (has_ranks(setup)) return trace_ranks(context, plan, run);
  const fs::path folder = stage_folder(setup);
  const Tracing tracing = tracing_of(context);
  PL_TRY(write_inputs(context, tracing.makers));
  const pipeline::PlannedCommand& command = plan.command("workload");
  const Exit exit = PL_TRY(tracing.on_demand ? run_traced(context, command, tracing.makers, run)
                                             : run.execute(without_kineto(command)));
  const bool is_ours = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  if (!exit.succeeded() && !is_ours) run.report(child_problem(command, exit));
  return write_profiled_requests(setup, folder, folder / run::folders::kWorkload,
                                 {.steps = setup.settings.pipeline.torch_profiler.decode_steps});
}

std::vector<Finding> verify_program(const StageContext& context) {
  const RunSetup& setup = context.setup;
  if (has_ranks(setup) && !setup.rank) {
    std::vector<Finding> findings;
    for (const std::uint32_t rank : observed_ranks(setup, run::stages::kTorchProfiler)) {
      const RunSetup one = for_rank(setup, rank);
      for (Finding& finding : of_rank(verify_program({one, context.tools}), rank)) {
        findings.push_back(std::move(finding));
      }
    }
    return findings;
  }
  const auto traces = find_traces(setup, stage_folder(setup));
  std::vector<Finding> findings;
  for (const ProcessTraceFile& trace : traces) {
    if (trace.complete || trace.source == TraceSource::Kineto) continue;  // already reported
    findings.push_back(Finding{
        Severity::Warning, "trace_truncated",
        "the trace of process " + std::to_string(trace.pid) + " ends too early: " + trace.file,
        "the process was stopped while it wrote the trace"});
  }
  if (!traces.empty() && traces.front().main) return findings;
  const std::string cause = adapter_problem(setup, stage_folder(setup));
  // With enable=auto the stage runs whenever it might apply, so finding nothing is not a failure.
  const bool is_asked = setup.settings.pipeline.torch_profiler.enable == settings::Enable::Yes;
  findings.push_back(
      {is_asked ? Severity::Problem : Severity::Warning, "nothing_traced",
       "no process of the program left a complete trace of libtorch's profiler" +
           (cause.empty() ? "" : ": " + cause),
       "docs/troubleshooting.md lists the causes; pipeline.torch_profiler.enable=false turns the "
       "stage off",
       ErrorKind::Tool});
  return findings;
}

}  // namespace profline::stages::internal

namespace profline::stages {

Result<Exit> run_on_demand(const OnDemandRun& traced, const RunObserved& run_program,
                           const std::function<void(Finding)>& report) {
  constexpr std::chrono::milliseconds kLongestImport{3000};
  const SystemClock clock;
  const Clock::Steady start = clock.now();
  const OnDemandWindow window = traced.window;
  // A process asks as soon as libtorch is loaded, seconds before the rest of PyTorch is imported.
  const auto settles = std::min<std::chrono::milliseconds>(kLongestImport, window.after / 4);
  std::map<std::int32_t, Clock::Steady> first_asked;
  const auto may_trace = [&](const kineto::Client& client) {
    const Clock::Steady now = clock.now();
    const Clock::Steady asked = first_asked.try_emplace(client.pid, now).first->second;
    return now >= start + window.after && now >= asked + settles;
  };
  auto responder = kineto::Responder::open(traced.sockets, traced.trace, may_trace);
  if (!responder) {
    report(Finding{Severity::Warning, "kineto_unreachable",
                   "no process can be traced on demand: " + responder.error().to_string(),
                   "processes with the Python adapter are still traced"});
    return run_program(nullptr);
  }
  kineto::ProcessWatch watch(clock);
  const Exit exit = PL_TRY(run_program(&watch));
  const kineto::Traffic traffic = (*responder)->traffic();
  auto traces = kineto::outcomes(traffic, watch.processes(), (*responder)->trace());
  for (Finding& finding : internal::take_out_adapted(traced.recorded, traced.makers, traces)) {
    report(std::move(finding));
  }
  internal::take_out_self_traced(traced.trace.file.parent_path(), traces);
  for (Finding& finding : internal::on_demand_findings(traces, traffic, window)) {
    report(std::move(finding));
  }
  return exit;
}

}  // namespace profline::stages
