#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/steps/steps.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "records/request.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/engine_traces.h"
#include "stages/server/internal/session.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::RunSetup;
using pipeline::Severity;

constexpr double kMs = 1e6;
/// A window may be longer or shorter than asked by this before that is worth a warning.
constexpr double kLateNs = 0.5e9;

using Times = std::vector<std::int64_t>;

/// The requests of a load that succeeded; empty if its file is missing or unreadable.
std::vector<Request> requests_of(const RunSetup& setup, std::string_view stage) {
  const fs::path file = load_folder(setup, stage) / run::files::kRequests;
  const auto text = read_file(file);
  if (!text) return {};
  return parse_requests(*text, file.string()).value_or(std::vector<Request>());
}

/// When a request's tokens arrived.
Times tokens_of(const Request& request) {
  Times times;
  if (!request.start_ns || !request.ttft_ns) return times;
  times.push_back(*request.start_ns + *request.ttft_ns);
  for (const Phase& phase : request.phases) {
    if (!phase.steps_ns) continue;
    for (const std::int64_t step : *phase.steps_ns) times.push_back(times.back() + step);
  }
  return times;
}

/// What the client saw between two moments.
struct Seen {
  double tokens_per_s = 0;
  std::optional<double> ttft_ns;
  std::optional<double> tpot_ns;
};

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Seen seen_between(const std::vector<Request>& requests, std::int64_t begin, std::int64_t end) {
  Seen seen;
  std::uint64_t tokens = 0;
  std::vector<double> ttft;
  std::vector<double> gaps;
  const auto is_inside = [&](std::int64_t at) { return at >= begin && at < end; };
  for (const Request& request : requests) {
    const Times times = tokens_of(request);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!is_inside(times[i])) continue;
      ++tokens;
      if (i == 0) ttft.push_back(static_cast<double>(*request.ttft_ns));
      if (i > 0) gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
    }
  }
  constexpr double kSecond = 1e9;
  if (end > begin) {
    seen.tokens_per_s = static_cast<double>(tokens) * kSecond / static_cast<double>(end - begin);
  }
  seen.ttft_ns = median(std::move(ttft));
  if (!gaps.empty()) {
    seen.tpot_ns =
        std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
  }
  return seen;
}

/// When tokens of any request arrived, in order.
Times all_tokens(const std::vector<Request>& requests) {
  Times all;
  for (const Request& request : requests) {
    const Times times = tokens_of(request);
    all.insert(all.end(), times.begin(), times.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The longest time without a token that touches [begin, end).
double longest_stall_ms(const Times& tokens, std::int64_t begin, std::int64_t end) {
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i] < begin || tokens[i - 1] > end) continue;
    longest = std::max(longest, tokens[i] - tokens[i - 1]);
  }
  return static_cast<double>(longest) / kMs;
}

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& base) {
  if (!value || !base || *base <= 0) return std::nullopt;
  return *value / *base;
}

/// Compares the window with the run without a profiler.
std::optional<ServerCost> cost_of(const RunSetup& setup, const ServerRecord& record) {
  const ServerWindowRecord& window = *record.window;
  const std::vector<Request> baseline = requests_of(setup, run::stages::kBaseline);
  const std::vector<Request> profiled = requests_of(setup, record.stage);
  if (baseline.empty() || profiled.empty()) return std::nullopt;
  const Times usual = all_tokens(baseline);
  const Times tokens = all_tokens(profiled);
  // Its ends are the load coming and going.
  constexpr std::int64_t kParts = 10;
  const std::int64_t tenth = (usual.back() - usual.front()) / kParts;
  const Seen before = seen_between(baseline, usual.front() + tenth, usual.back() - tenth);
  const Seen during = seen_between(profiled, window.open_ns, window.close_ns);
  ServerCost cost;
  cost.throughput = ratio(during.tokens_per_s, before.tokens_per_s);
  cost.ttft = ratio(during.ttft_ns, before.ttft_ns);
  cost.tpot = ratio(during.tpot_ns, before.tpot_ns);
  cost.usual_stall_ms = longest_stall_ms(usual, usual.front() + tenth, usual.back() - tenth);
  // A profiler may begin after it has acknowledged, and end before it was asked to.
  cost.stall_open_ms = longest_stall_ms(tokens, window.open_asked_ns,
                                        std::max(window.open_acknowledged_ns, window.open_ns));
  cost.stall_close_ms = longest_stall_ms(tokens, std::min(window.close_asked_ns, window.close_ns),
                                         window.close_acknowledged_ns);
  return cost;
}

std::string text_of(std::int64_t ns) {
  return duration(static_cast<double>(ns));
}

/// `load from 3.1 s to 12 s, window from 6.0 s to 8.0 s, asked 120 ms ahead`
ServerProof window_proof(const ServerRecord& record) {
  const ServerWindowRecord& window = *record.window;
  const ServerLoadRecord& load = record.load;
  // Of another generator's requests it is not known which ones warm the server up.
  const bool is_known = load.command.empty();
  const std::int64_t warm = is_known ? load.warm_ns.value_or(load.end_ns) : load.start_ns;
  const bool is_inside = load.start_ns > 0 && window.open_ns >= load.start_ns &&
                         window.open_ns >= warm && window.close_ns <= load.end_ns;
  const auto at = [&](std::int64_t ns) { return text_of(ns - load.start_ns); };
  return {"the window lies inside the load and after the warm-up",
          !is_inside ? ProofState::Failed
          : is_known ? ProofState::Passed
                     : ProofState::Unknown,
          "since the load began: " +
              (is_known ? "warm after " + at(warm)
                        : std::string("when it was warm is not known of another generator")) +
              ", window from " + at(window.open_ns) + " to " + at(window.close_ns) + ", " +
              (is_known ? "last answer at " : "the generator ended at ") + at(load.end_ns) +
              "; opening took " + text_of(window.open_acknowledged_ns - window.open_asked_ns) +
              "; by the system's clock the window began at " +
              std::to_string(window.open_ns + window.unix_minus_monotonic_ns) + " ns since 1970"};
}

ServerProof failure_proof(const RunSetup& setup, const ServerRecord& record) {
  // Without a window the profiler is on for as long as the server lives.
  const std::uint64_t failed =
      record.window ? record.load.failed_from_window_on : record.load.failed;
  ServerProof proof{"no request failed because of the profiler", ProofState::Passed, ""};
  if (!record.load.command.empty()) {
    proof.state = ProofState::Unknown;
    proof.text = "another load generator sent the requests";
    return proof;
  }
  proof.text = counted(record.load.finished, "request") + " succeeded, " +
               std::to_string(record.load.failed) + " failed";
  if (record.window) {
    proof.text += ", " + std::to_string(failed) + " of them since the window was opened";
  }
  if (failed == 0) return proof;
  const std::uint64_t before = record.load.failed - failed;
  const bool fails_anyway = before > 0 || requests_of(setup, run::stages::kBaseline).empty();
  proof.state = fails_anyway ? ProofState::Unknown : ProofState::Failed;
  return proof;
}

}  // namespace

bool survived_window(const ServerRecord& record) {
  return std::none_of(record.proofs.begin(), record.proofs.end(), [](const ServerProof& proof) {
    return proof.what == kSurvived && proof.state == ProofState::Failed;
  });
}

void add_proof(ServerRecord& record, pipeline::StageRun& run, ServerProof proof,
               const std::string& code, const std::string& fix) {
  if (proof.state == ProofState::Failed) {
    run.report({Severity::Problem, code, "not true: " + proof.what + ": " + proof.text, fix,
                ErrorKind::Tool});
  }
  record.proofs.push_back(std::move(proof));
}

namespace {

void judge_failures(const RunSetup& setup, ServerRecord& record, pipeline::StageRun& run) {
  add_proof(record, run, failure_proof(setup, record), "requests_failed",
            "see load/" + std::string(run::files::kLoad) +
                " for how they failed; a shorter window "
                "or fewer traced libraries disturb the server less");
}

}  // namespace

void judge(const RunSetup& setup, ServerRecord& record, pipeline::StageRun& run) {
  const bool was_traced_throughout = workload_of(setup).server.gate == settings::ServerGate::None;
  if (!record.window && was_traced_throughout && record.load.start_ns > 0) {
    judge_failures(setup, record, run);
  }
  if (!record.window) return;
  const ServerWindowRecord& window = *record.window;
  add_proof(record, run, window_proof(record), "window_outside_load",
            "load the server for longer, or open the window later");
  const auto length = static_cast<double>(window.close_ns - window.open_ns);
  constexpr double kSecond = 1e9;
  if (length > window.asked_s * kSecond + kLateNs) {
    run.report({Severity::Warning, "window_late",
                "the window was open for " + duration(length) + " instead of " +
                    duration(window.asked_s * kSecond) + ": the profiler stopped " +
                    duration(length - window.asked_s * kSecond) + " late",
                "figures per second refer to its real length; a shorter window leaves the profiler "
                "less to write"});
  }
  judge_failures(setup, record, run);
  record.cost = cost_of(setup, record);
  if (!record.cost) return;
  const ServerCost& cost = *record.cost;
  std::string text = "in the window the server generated " + percent(cost.throughput) +
                     " of the tokens per second that it does without a profiler";
  if (cost.tpot) text += "; time per token is " + factor(*cost.tpot) + " as long";
  text += "; its longest pause was " + duration(cost.stall_open_ms * kMs) +
          " when the window opened and " + duration(cost.stall_close_ms * kMs) +
          " when it closed, otherwise " + duration(cost.usual_stall_ms * kMs);
  run.progress().message(record.stage + ": " + text);
  run.report({Severity::Note, "profiler_cost", std::move(text)});
}

void explain_first_token(const RunSetup& setup, ServerRecord& record) {
  if (!record.first_token) return;
  ServerFirstToken& first = *record.first_token;
  double sum = 0;
  std::uint64_t count = 0;
  for (const Request& request : requests_of(setup, record.stage)) {
    if (!request.ttft_ns) continue;
    sum += static_cast<double>(*request.ttft_ns);
    ++count;
  }
  if (count == 0) {
    record.first_token.reset();
    return;
  }
  first.client_ns = sum / static_cast<double>(count);
  first.residual_ns = first.client_ns - first.queue_ns.value_or(0) - first.prefill_ns.value_or(0);
}

namespace {

/// Fills in how much each process did; nothing where that is not known.
void count_kernels(const Timeline& timeline, const CaptureCounts& counts, ServerRecord& record) {
  std::map<std::int64_t, std::uint64_t> kernels = counts.by_process;
  const bool has_own_captures = !kernels.empty();
  if (!has_own_captures) count_work(timeline, kernels);
  for (ServerProcess& process : record.processes) {
    const auto found = kernels.find(process.pid);
    const bool is_counted = found != kernels.end();
    if (is_counted && (process.gpu || found->second > 0)) process.kernels = found->second;
    // In a capture of all processes, one without a row did nothing.
    const bool covers_all = !has_own_captures && !counts.is_one_of_many;
    if (!is_counted && process.gpu && covers_all) process.kernels = 0;
  }
}

ServerProof processes_proof(const Timeline& timeline, const CaptureCounts& counts,
                            const ServerRecord& record, std::string& code) {
  std::vector<std::string> missing;
  std::vector<std::string> empty;
  std::vector<std::string> uncounted;
  std::uint64_t gpu_processes = 0;
  for (const ServerProcess& process : record.processes) {
    if (!process.gpu) continue;
    ++gpu_processes;
    const std::string name = process.name + " (pid " + std::to_string(process.pid) + ")";
    if (process.traced == false) {
      missing.push_back(name);
    } else if (!process.kernels) {
      uncounted.push_back(name);
    } else if (*process.kernels == 0) {
      empty.push_back(name);
    }
  }
  ServerProof proof{"every GPU process of the server is in the capture, with kernels",
                    ProofState::Unknown, ""};
  if (gpu_processes == 0) {
    const std::uint64_t work = timeline.work.size();
    proof.text = work > 0 ? counted(work, "kernel or copy", "kernels and copies") +
                                ", but no process of the server is known to have had a GPU open"
                 : counts.has_gpu ? "no process of the server had a GPU open"
                                  : "no GPU in this machine is used by the run";
  } else if (!missing.empty()) {
    code = "worker_untraced";
    proof.state = ProofState::Failed;
    proof.text = "not in it: " + join(missing, ", ");
  } else if (!empty.empty()) {
    code = "no_kernels";
    proof.state = ProofState::Failed;
    proof.text = "without a kernel: " + join(empty, ", ");
  } else if (!uncounted.empty()) {
    proof.text = "not known of " + join(uncounted, ", ") + ": no readable trace of it";
  } else {
    proof.state = ProofState::Passed;
    proof.text = counted(gpu_processes, "GPU process", "GPU processes");
  }
  return proof;
}

std::string fix_of(std::string_view code) {
  if (code == "worker_untraced") {
    return "start its workers so that they inherit the environment: vLLM with "
           "VLLM_WORKER_MULTIPROC_METHOD=spawn; or the profiler was attached to a launcher only";
  }
  return "the process was idle in the window, or CUPTI was in use by another profiler; a longer "
         "window shows which: pipeline.workload.window.seconds";
}

ServerProof graphs_proof(const Timeline& timeline) {
  std::uint64_t whole = 0;
  std::uint64_t nodes = 0;
  for (const DeviceWork& work : timeline.work) {
    if (work.kind == WorkKind::Graph) ++whole;
    if (work.graph_node != 0) ++nodes;
  }
  ServerProof proof{"graph launches are resolved to nodes", ProofState::Unknown,
                    "the capture holds no GPU work"};
  if (timeline.work.empty()) return proof;
  proof.state = whole == 0 ? ProofState::Passed : ProofState::Failed;
  proof.text = whole == 0 ? counted(nodes, "node of a graph", "nodes of graphs")
                          : counted(whole, "graph was", "graphs were") + " recorded as a whole";
  return proof;
}

}  // namespace

void use_capture(const Timeline& timeline, const std::string& source, const CaptureCounts& counts,
                 ServerRecord& record, pipeline::StageRun& run) {
  count_kernels(timeline, counts, record);
  std::string code;
  ServerProof processes = processes_proof(timeline, counts, record, code);
  add_proof(record, run, std::move(processes), code, fix_of(code));
  for (const ServerProcess& process : record.processes) {
    if (process.gpu || process.traced != false) continue;
    run.report({Severity::Warning, "worker_untraced",
                process.name + " (pid " + std::to_string(process.pid) + ") used " +
                    percent(process.cpu_share) +
                    " of a CPU in the window and is not in the capture: the profiler is not loaded "
                    "in it",
                "it was started with an environment of its own; let it inherit the server's"});
  }
  add_proof(record, run, graphs_proof(timeline), "graphs_not_resolved",
            "pipeline.nsys.cuda_graph_trace=node");
  const std::int64_t begin = timeline.begin_ns;
  record.steps = steps::step_table(timeline, begin, std::max(begin, timeline.end_ns));
  record.steps->source = source;
  record.gpu_busy_share = steps::busy_share(timeline, begin, timeline.end_ns);
  record.gpus = steps::gpus_between(timeline, begin, timeline.end_ns);
}

Result<void> write_record(const RunSetup& setup, const ServerRecord& record) {
  return write_file_atomic(setup.stage_folder(record.stage) / run::files::kServerRecord,
                           PL_TRY(to_document(record)));
}

}  // namespace profline::stages::internal
