#include "summary/server.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "summary/load.h"

namespace profline::summary {
namespace {

constexpr std::string_view kDash = "–";
constexpr double kSecond = 1e9;
constexpr double kMilli = 1e6;

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? duration(*seconds * kSecond) : std::string(kDash);
}

std::string factor_text(const std::optional<double>& ratio) {
  return ratio ? factor(*ratio) : std::string(kDash);
}

/// `decode at batch 8`
std::string kind_text(const ServerStepKind& kind) {
  return kind.kind + (kind.batch ? fmt::format(" at batch {}", *kind.batch) : "");
}

const ServerStepKind* kind_named(const ServerSteps& steps, std::string_view name) {
  for (const ServerStepKind& kind : steps.kinds) {
    if (kind.kind == name) return &kind;
  }
  return nullptr;
}

const ServerFirstToken* first_token_of(const RunSummary& summary) {
  for (const ServerRecord& server : summary.server) {
    if (server.first_token) return &*server.first_token;
  }
  return nullptr;
}

/// `Decode at batch 8 is memory-bound: its steps use 71 % of the peak DRAM bandwidth`; empty: what
/// was sampled does not show it.
std::string bound_words(const ServerStepKind& kind) {
  constexpr double kMostOfIt = 0.5;
  const double dram = kind.dram.value_or(0);
  const double matrix = kind.tensor_active.value_or(0);
  if (kind.kind == "idle" || std::max(dram, matrix) < kMostOfIt) return "";
  const std::string name = capitalised(kind_text(kind));
  return dram >= matrix ? name + " is memory-bound: its steps use " + percent(dram) +
                              " of the peak DRAM bandwidth"
                        : name + " is compute-bound: the matrix units are active in " +
                              percent(matrix) + " of the cycles of its steps";
}

/// What the GPU does between steps; empty: not known.
std::string between_words(const ServerStepKind& idle) {
  constexpr double kHardly = 0.1;
  if (!idle.busy_share) return "";
  if (*idle.busy_share < kHardly) return ", and the GPU idles";
  return ", in which the GPU is busy for " + percent(*idle.busy_share);
}

std::string window_text(const ServerRecord& server) {
  if (!server.window) return std::string(kDash);
  const std::int64_t start = server.load.start_ns;
  return duration(server.window->open_ns - start) + " to " +
         duration(server.window->close_ns - start);
}

/// `53 % decode at batch 8 (12.1 ms per step), 20 % prefill, 27 % idle`
std::string shares_text(const ServerSteps& steps) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  for (const ServerStepKind& kind : steps.kinds) {
    if (parts.size() == kMost) break;
    std::string text = percent(kind.share) + " " + kind_text(kind);
    if (kind.kind != "idle") text += " (" + duration(kind.median_ns) + " per step)";
    parts.push_back(std::move(text));
  }
  return join(parts, ", ");
}

}  // namespace

std::vector<ServerRecord> servers_of(const run::Run& run) {
  std::vector<ServerRecord> servers;
  for (const auto* name : {&run::kBaselineServer, &run::kTorchServer, &run::kNsysServer}) {
    if (const auto& server = run.get(*name)) servers.push_back(*server);
  }
  return servers;
}

const ServerRecord* profiled_server(const RunSummary& summary) {
  const ServerRecord* best = nullptr;
  int most = 0;
  for (const ServerRecord& server : summary.server) {
    if (!server.window) continue;
    const bool has_steps = server.steps && server.steps->why_none.empty();
    // nsys disturbs the server less than libtorch's profiler does.
    const int shown = 1 + (has_steps ? 4 : 0) + (server.gpu_busy_share ? 2 : 0) +
                      (server.stage == run::stages::kNsys ? 1 : 0);
    if (shown <= most) continue;
    most = shown;
    best = &server;
  }
  return best;
}

ServerTable server_runs(const RunSummary& summary) {
  ServerTable table{{"run", "ready after", "requests", "failed", "window", "opened in", "tokens/s",
                     "time per token", "longest pause", "stopped in"},
                    {}};
  for (const ServerRecord& server : summary.server) {
    const auto& cost = server.cost;
    std::string pause(kDash);
    if (cost) {
      pause = duration(std::max(cost->stall_open_ms, cost->stall_close_ms) * kMilli) + " (" +
              duration(cost->usual_stall_ms * kMilli) + " without)";
    }
    table.rows.push_back(
        {server.stage, server.attached ? "was running" : seconds_text(server.ready_s),
         std::to_string(server.load.finished), std::to_string(server.load.failed),
         window_text(server),
         server.window
             ? duration(server.window->open_acknowledged_ns - server.window->open_asked_ns)
             : std::string(kDash),
         cost && cost->throughput ? percent(*cost->throughput) : std::string(kDash),
         cost ? factor_text(cost->tpot) : std::string(kDash), std::move(pause),
         seconds_text(server.stop_s)});
  }
  return table;
}

ServerTable server_processes(const ServerRecord& server) {
  ServerTable table{{"process", "pid", "parent", "GPU", "CPUs", "in the capture", "kernels"}, {}};
  for (const ServerProcess& process : server.processes) {
    table.rows.push_back({process.name, std::to_string(process.pid), std::to_string(process.parent),
                          process.gpu ? "yes" : "no", fmt::format("{:.2f}", process.cpu_share),
                          process.traced ? (*process.traced ? "yes" : "no") : std::string(kDash),
                          process.kernels ? std::to_string(*process.kernels) : std::string(kDash)});
  }
  return table;
}

ServerTable server_steps(const ServerSteps& steps) {
  ServerTable table{{"step", "batch", "count", "of the window", "median", "tokens", "GPU busy",
                     "GPU idle per step"},
                    {}};
  const bool is_sampled = std::any_of(steps.kinds.begin(), steps.kinds.end(),
                                      [](const auto& kind) { return kind.sm_active.has_value(); });
  if (is_sampled) {
    table.columns.insert(table.columns.end(), {"SM active", "tensor active", "DRAM"});
  }
  for (const ServerStepKind& kind : steps.kinds) {
    table.rows.push_back({kind.kind, kind.batch ? std::to_string(*kind.batch) : std::string(kDash),
                          std::to_string(kind.count), percent(kind.share), duration(kind.median_ns),
                          kind.tokens ? plain_number(*kind.tokens) : std::string(kDash),
                          percent(kind.busy_share), duration(kind.host_gap_ns)});
    if (!is_sampled) continue;
    for (const auto& share : {kind.sm_active, kind.tensor_active, kind.dram}) {
      table.rows.back().push_back(percent(share));
    }
  }
  return table;
}

ServerTable server_gpus(const ServerRecord& server) {
  ServerTable table{{"GPU", "", "busy"}, {}};
  const bool is_sampled = std::any_of(server.gpus.begin(), server.gpus.end(),
                                      [](const auto& gpu) { return gpu.metrics.has_value(); });
  if (is_sampled) {
    table.columns.insert(table.columns.end(),
                         {"SM active", "tensor active", "DRAM read", "DRAM write", "DRAM bytes",
                          "PCIe in", "PCIe out", "NVLink in", "NVLink out"});
  }
  for (const ServerGpu& gpu : server.gpus) {
    table.rows.push_back({std::to_string(gpu.device), gpu.name, percent(gpu.busy_share)});
    if (!is_sampled) continue;
    const DeviceMetrics at = gpu.metrics.value_or(DeviceMetrics());
    auto& row = table.rows.back();
    for (const auto& share : {at.sm_active, at.tensor_active, at.dram_read, at.dram_write}) {
      row.push_back(percent(share));
    }
    row.push_back(at.dram_bytes ? amount(*at.dram_bytes, "B") : std::string(kDash));
    for (const auto& share : {at.pcie_receive, at.pcie_send, at.nvlink_receive, at.nvlink_send}) {
      row.push_back(percent(share));
    }
  }
  return table;
}

ServerTable server_proofs(const ServerRecord& server) {
  ServerTable table{{"what must be true", "", "how that is known"}, {}};
  for (const ServerProof& proof : server.proofs) {
    const char* state = proof.state == ProofState::Passed   ? "true"
                        : proof.state == ProofState::Failed ? "not true"
                                                            : "not known";
    table.rows.push_back({proof.what, state, proof.text});
  }
  return table;
}

std::string steps_words(const ServerSteps& steps) {
  if (!steps.why_none.empty()) return "Steps are not known: " + steps.why_none;
  return "Steps as " + steps.engine + " names them, from " + steps.source +
         "; with the time between them they cover the window";
}

std::string first_token_words(const RunSummary& summary) {
  const ServerFirstToken* first = first_token_of(summary);
  if (first == nullptr) return "";
  std::vector<std::string> parts;
  if (first->queue_ns) parts.push_back(duration(*first->queue_ns) + " in the server's queue");
  if (first->prefill_ns) parts.push_back(duration(*first->prefill_ns) + " of prefill");
  const bool is_explained = first->residual_ns < 0;
  if (!is_explained) parts.push_back(duration(first->residual_ns) + " that these do not explain");
  const std::string excess =
      is_explained ? ", which add up to " + duration(-first->residual_ns) + " more" : "";
  return "The time to the first token is " + duration(first->client_ns) +
         " on average, as the client sees it: " + join(parts, " + ") + excess + " (" +
         first->source + ")";
}

std::string gpu_words(const RunSummary& summary) {
  constexpr double kMostlyBusy = 0.85;
  constexpr double kNotable = 0.1;
  const ServerRecord* server = profiled_server(summary);
  if (server == nullptr) return "";
  const auto& steps = server->steps;
  const bool has_steps = steps && steps->why_none.empty();
  std::string text;
  if (server->gpu_busy_share) {
    text = "While requests waited, the GPU was busy for " + percent(*server->gpu_busy_share) +
           " of the window (" + server->stage + ")";
  }
  if (!has_steps) return text;
  text += std::string(text.empty() ? "In the window the engine's time was " : ": ") +
          shares_text(*steps);
  const ServerStepKind* idle = kind_named(*steps, "idle");
  const ServerStepKind& largest = steps->kinds.front();
  if (idle != nullptr && idle->share >= kNotable) {
    text += ". The engine is between steps for " + percent(idle->share) + " of the window" +
            between_words(*idle);
  }
  const bool has_gaps = largest.kind != "idle" && largest.busy_share &&
                        *largest.busy_share < kMostlyBusy && largest.host_gap_ns;
  if (has_gaps) {
    text += ". In a step of " + kind_text(largest) + " the GPU waits for the host for " +
            duration(*largest.host_gap_ns) + " of " + duration(largest.median_ns);
  }
  const std::string bound = bound_words(largest);
  return bound.empty() ? text : text + ". " + bound;
}

std::string server_verdict(const RunSummary& summary) {
  constexpr double kMostOfIt = 0.5;
  std::vector<std::string> sentences;
  if (summary.load) sentences.push_back(load_verdict(*summary.load));
  const ServerFirstToken* first = first_token_of(summary);
  if (first != nullptr && first->queue_ns && first->client_ns > 0 &&
      *first->queue_ns >= kMostOfIt * first->client_ns) {
    sentences.push_back("Queueing accounts for " + duration(*first->queue_ns) + " of the " +
                        duration(first->client_ns) + " to the first token");
  }
  sentences.push_back(gpu_words(summary));
  std::erase(sentences, "");
  if (sentences.empty()) return "No verdict: the server was not measured under load";
  return join(sentences, ". ");
}

}  // namespace profline::summary
