#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "records/range_use.h"
#include "schema/field.h"

/// What one run of a server under load showed: server.json in the folder of a stage.
/// docs/formats/server.md describes the file. Times are by the machine's monotonic clock.
namespace profline {

/// The part of the load that a profiler recorded.
struct ServerWindowRecord {
  std::string gate;
  double asked_s = 0;
  std::int64_t open_asked_ns = 0;
  std::int64_t open_acknowledged_ns = 0;
  std::int64_t close_asked_ns = 0;
  std::int64_t close_acknowledged_ns = 0;
  std::int64_t open_ns = 0;
  std::int64_t close_ns = 0;
  std::string edges_from;
  std::int64_t unix_minus_monotonic_ns = 0;

  bool operator==(const ServerWindowRecord&) const = default;
};
constexpr auto fields(std::type_identity<ServerWindowRecord>) {
  return field_list(
      field("gate", &ServerWindowRecord::gate, "what opened and closed it").required(),
      field("asked_s", &ServerWindowRecord::asked_s, "pipeline.workload.window.seconds"),
      field("open_asked_ns", &ServerWindowRecord::open_asked_ns, "when it was asked to open"),
      field("open_acknowledged_ns", &ServerWindowRecord::open_acknowledged_ns,
            "when that was confirmed"),
      field("close_asked_ns", &ServerWindowRecord::close_asked_ns, "when it was asked to close"),
      field("close_acknowledged_ns", &ServerWindowRecord::close_acknowledged_ns,
            "when that was confirmed; writing the capture is part of it"),
      field("open_ns", &ServerWindowRecord::open_ns, "its beginning"),
      field("close_ns", &ServerWindowRecord::close_ns, "its end"),
      field("edges_from", &ServerWindowRecord::edges_from,
            "capture: what the capture itself says; gate: when requests to it were made"),
      field("unix_minus_monotonic_ns", &ServerWindowRecord::unix_minus_monotonic_ns,
            "add it to a time to get nanoseconds since 1970"));
}

/// The load during one run of the server.
struct ServerLoadRecord {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> warm_ns;
  std::optional<std::int64_t> steady_ns;
  std::int64_t end_ns = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;
  std::uint64_t failed_from_window_on = 0;
  std::string command;

  bool operator==(const ServerLoadRecord&) const = default;
};
constexpr auto fields(std::type_identity<ServerLoadRecord>) {
  return field_list(
      field("start_ns", &ServerLoadRecord::start_ns, "the first request"),
      field("warm_ns", &ServerLoadRecord::warm_ns, "the warm-up had ended; null: it had not"),
      field("steady_ns", &ServerLoadRecord::steady_ns,
            "the load was found steady; null: it was not"),
      field("end_ns", &ServerLoadRecord::end_ns, "the last answer"),
      field("finished", &ServerLoadRecord::finished, "requests that succeeded"),
      field("failed", &ServerLoadRecord::failed, "requests that failed"),
      field("failed_from_window_on", &ServerLoadRecord::failed_from_window_on,
            "of these, since the window was asked to open"),
      field("command", &ServerLoadRecord::command,
            "the load generator, if it was not profline's own"));
}

/// A process of the server.
struct ServerProcess {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  bool gpu = false;
  double cpu_share = 0;
  std::optional<bool> traced;
  std::optional<std::uint64_t> kernels;

  bool operator==(const ServerProcess&) const = default;
};
constexpr auto fields(std::type_identity<ServerProcess>) {
  return field_list(
      field("pid", &ServerProcess::pid, "as the kernel numbers it").required(),
      field("parent", &ServerProcess::parent, "the process that made it"),
      field("name", &ServerProcess::name, "as the kernel has it: at most 15 bytes"),
      field("gpu", &ServerProcess::gpu, "it had a GPU open"),
      field("cpu_share", &ServerProcess::cpu_share, "CPUs that it used during the window"),
      field("traced", &ServerProcess::traced,
            "whether the profiler was in it; null: no profiler, or not known"),
      field("kernels", &ServerProcess::kernels, "of it in the capture; null: not counted"));
}

/// What a profiler cost, compared with the run without one.
struct ServerCost {
  std::optional<double> throughput;
  std::optional<double> ttft;
  std::optional<double> tpot;
  double stall_open_ms = 0;
  double stall_close_ms = 0;
  double usual_stall_ms = 0;

  bool operator==(const ServerCost&) const = default;
};
constexpr auto fields(std::type_identity<ServerCost>) {
  return field_list(
      field("throughput", &ServerCost::throughput,
            "output tokens per second in the window, as a share of the run without a profiler"),
      field("ttft", &ServerCost::ttft,
            "median time to the first token in the window, divided by that without a profiler"),
      field("tpot", &ServerCost::tpot, "the same for the time per output token"),
      field("stall_open_ms", &ServerCost::stall_open_ms,
            "longest time without a token of any request around the opening of the window"),
      field("stall_close_ms", &ServerCost::stall_close_ms, "the same around its closing"),
      field("usual_stall_ms", &ServerCost::usual_stall_ms,
            "the longest such time in the run without a profiler"));
}

enum class ProofState { Passed, Failed, Unknown };
constexpr auto names(std::type_identity<ProofState>) {
  return std::array{named(ProofState::Passed, "passed"), named(ProofState::Failed, "failed"),
                    named(ProofState::Unknown, "unknown")};
}

/// Something that must be true of a capture of a server, checked afterwards.
struct ServerProof {
  std::string what;
  ProofState state = ProofState::Unknown;
  std::string text;

  bool operator==(const ServerProof&) const = default;
};
constexpr auto fields(std::type_identity<ServerProof>) {
  return field_list(field("what", &ServerProof::what, "what must be true").required(),
                    field("state", &ServerProof::state, "whether it is").required(),
                    field("text", &ServerProof::text, "how that is known"));
}

/// Steps of the engine of one kind in the window.
struct ServerStepKind {
  std::string kind;
  std::optional<std::uint64_t> batch;
  std::uint64_t count = 0;
  double share = 0;
  double median_ns = 0;
  double total_ns = 0;
  std::optional<double> tokens;
  std::optional<double> busy_share;
  std::optional<double> host_gap_ns;
  std::optional<double> sm_active;
  std::optional<double> tensor_active;
  std::optional<double> dram;

  bool operator==(const ServerStepKind&) const = default;
};
constexpr auto fields(std::type_identity<ServerStepKind>) {
  return field_list(
      field("kind", &ServerStepKind::kind, "prefill, decode, mixed, step or idle").required(),
      field("batch", &ServerStepKind::batch, "requests in each; null: not known, or idle"),
      field("count", &ServerStepKind::count, "how many"),
      field("share", &ServerStepKind::share, "of the window, 0 to 1"),
      field("median_ns", &ServerStepKind::median_ns, "of one"),
      field("total_ns", &ServerStepKind::total_ns, "of all of them"),
      field("tokens", &ServerStepKind::tokens, "that one computes, on average; null: not known"),
      field("busy_share", &ServerStepKind::busy_share,
            "of their time in which the GPU did something; null: no GPU in the capture"),
      field("host_gap_ns", &ServerStepKind::host_gap_ns,
            "mean time without GPU work in one; null: no GPU in the capture"),
      field("sm_active", &ServerStepKind::sm_active,
            "SMs with a warp, of their time; null: the GPU's metrics were not sampled"),
      field("tensor_active", &ServerStepKind::tensor_active, "cycles of the matrix units"),
      field("dram", &ServerStepKind::dram, "read and written, of the peak bandwidth"));
}

/// What the engine did in the window, step by step.
struct ServerSteps {
  std::string engine;
  std::string source;
  std::string why_none;
  std::vector<ServerStepKind> kinds;

  bool operator==(const ServerSteps&) const = default;
};
constexpr auto fields(std::type_identity<ServerSteps>) {
  return field_list(
      field("engine", &ServerSteps::engine, "whose annotations these are"),
      field("source", &ServerSteps::source, "file of the capture"),
      field("why_none", &ServerSteps::why_none, "why no steps are known; empty: they are"),
      field("kinds", &ServerSteps::kinds, "most time first; with idle they cover the window"));
}

/// A GPU in the window.
struct ServerGpu {
  std::int32_t device = 0;
  std::string name;
  double busy_share = 0;
  std::optional<DeviceMetrics> metrics;

  bool operator==(const ServerGpu&) const = default;
};
constexpr auto fields(std::type_identity<ServerGpu>) {
  return field_list(
      field("device", &ServerGpu::device, "CUDA's number").required(),
      field("name", &ServerGpu::name, "empty: not recorded"),
      field("busy_share", &ServerGpu::busy_share, "of the window in which it did something"),
      field("metrics", &ServerGpu::metrics,
            "what it sampled in the window; null: not sampled (pipeline.nsys.gpu_metrics)"));
}

/// Where the time to the first token went, on average over the load.
struct ServerFirstToken {
  double client_ns = 0;
  std::optional<double> queue_ns;
  std::optional<double> prefill_ns;
  double residual_ns = 0;
  std::string source;

  bool operator==(const ServerFirstToken&) const = default;
};
constexpr auto fields(std::type_identity<ServerFirstToken>) {
  return field_list(
      field("client_ns", &ServerFirstToken::client_ns, "mean TTFT as the client saw it").required(),
      field("queue_ns", &ServerFirstToken::queue_ns, "waiting in the server; null: not known"),
      field("prefill_ns", &ServerFirstToken::prefill_ns,
            "from then to the first token, with the step that computes it; null: not known"),
      field("residual_ns", &ServerFirstToken::residual_ns,
            "what the parts leave unexplained: network, tokenizer, streaming"),
      field("source", &ServerFirstToken::source, "where the parts come from"));
}

/// The content of server.json.
struct ServerRecord {
  static constexpr DocumentKind kKind{"server", 1};

  std::string stage;
  std::string url;
  bool attached = false;
  std::optional<double> ready_s;
  std::optional<double> stop_s;
  std::string end;
  std::optional<bool> libtorch;
  std::optional<ServerWindowRecord> window;
  ServerLoadRecord load;
  std::vector<ServerProcess> processes;
  std::optional<ServerCost> cost;
  std::optional<double> gpu_busy_share;
  std::vector<ServerGpu> gpus;
  std::vector<ServerProof> proofs;
  std::optional<ServerSteps> steps;
  std::optional<ServerFirstToken> first_token;

  bool operator==(const ServerRecord&) const = default;
};
constexpr auto fields(std::type_identity<ServerRecord>) {
  return field_list(
      field("stage", &ServerRecord::stage, "whose run of the server this is").required(),
      field("url", &ServerRecord::url, "where it answered").required(),
      field("attached", &ServerRecord::attached, "it was running already, and still is"),
      field("ready_s", &ServerRecord::ready_s, "from its start until it took requests"),
      field("stop_s", &ServerRecord::stop_s, "from the signal to its end; null: not stopped"),
      field("end", &ServerRecord::end, "how it ended, in words"),
      field("libtorch", &ServerRecord::libtorch,
            "whether a process of it had libtorch loaded; null: not known"),
      field("window", &ServerRecord::window, "null: nothing was profiled"),
      field("load", &ServerRecord::load, "the requests it was sent"),
      field("processes", &ServerRecord::processes, "in order of start"),
      field("cost", &ServerRecord::cost, "of the profiler; null: nothing was profiled"),
      field("gpu_busy_share", &ServerRecord::gpu_busy_share,
            "of the window in which a GPU did something; null: no GPU work was captured"),
      field("gpus", &ServerRecord::gpus, "those with work in the capture"),
      field("proofs", &ServerRecord::proofs, "what was checked afterwards"),
      field("steps", &ServerRecord::steps, "of the engine in the window; null: no capture"),
      field("first_token", &ServerRecord::first_token,
            "where the time to the first token went; null: the engine does not say"));
}

}  // namespace profline
