#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/load.h"
#include "settings/nsight.h"
#include "settings/ranks.h"
#include "settings/stage.h"

namespace profline::settings {

enum class WorkloadKind { DeepseekOcr, DummyShallowResnet, Program, Server };
constexpr auto names(std::type_identity<WorkloadKind>) {
  return std::array{named(WorkloadKind::DeepseekOcr, "deepseek_ocr"),
                    named(WorkloadKind::DummyShallowResnet, "dummy_shallow_resnet"),
                    named(WorkloadKind::Program, "program"), named(WorkloadKind::Server, "server")};
}

enum class Engine { Auto, Eager, Fast };
constexpr auto names(std::type_identity<Engine>) {
  return std::array{named(Engine::Auto, "auto"), named(Engine::Eager, "eager"),
                    named(Engine::Fast, "fast")};
}

/// Whether Python programs load profline's adapter, which records their requests.
enum class PythonAdapter { Auto, Off };
constexpr auto names(std::type_identity<PythonAdapter>) {
  // YAML reads a plain `off` as false.
  return std::array{named(PythonAdapter::Auto, "auto"), named(PythonAdapter::Off, "off"),
                    named(PythonAdapter::Off, false)};
}

/// `pipeline.workload`: the program that is profiled.
struct Workload {
  WorkloadKind kind = WorkloadKind::DeepseekOcr;
  std::optional<std::vector<std::string>> command;
  std::optional<std::string> module;
  std::filesystem::path cwd = ".";
  std::string request_range = "request";
  PythonAdapter python = PythonAdapter::Auto;
  Engine engine = Engine::Auto;
  std::optional<std::uint32_t> threads;
  bool nvtx_steps = false;
  Ranks ranks;
  Server server;
  Load load;
  ServerWindow window;

  bool operator==(const Workload&) const = default;

  /// The user's program with its arguments; nothing for the built-in workload.
  std::optional<std::vector<std::string>> user_command() const;
};
constexpr auto fields(std::type_identity<Workload>) {
  return field_list(
      field("kind", &Workload::kind,
            "what is profiled, which determines the keys of model and infer: a built-in model, a "
            "program of your own, or a server"),
      field(
          "command", &Workload::command,
          "program and arguments to profile instead; 'profline run -- PROGRAM' sets it; null: the "
          "built-in workload"),
      field("module", &Workload::module,
            "Python module with a Hydra config to profile instead, started as python3 -m MODULE "
            "with overrides for device, paths, tokens, sampling and run folder; null or blank: no "
            "module"),
      field("cwd", &Workload::cwd, "working directory of command or module"),
      field("request_range", &Workload::request_range,
            "NVTX range that is one request of your program; ranges inside it are its phases"),
      field("python", &Workload::python,
            "record the requests of Python programs: each generate() of transformers, and what the "
            "module profline marks; off: leave Python programs alone"),
      field(
          "engine", &Workload::engine,
          "how to run the model; eager: libtorch's operators one by one; fast: our CUDA kernels as "
          "CUDA graphs (an error if they cannot run); auto: fast if it can run, otherwise eager"),
      field("threads", &Workload::threads, "CPU threads; null: all cores").range(1, kMostThreads),
      field("nvtx_steps", &Workload::nvtx_steps, "open an NVTX range decode_step for each token"),
      field("ranks", &Workload::ranks,
            "a program of several processes: the launcher starts it once per rank"),
      field("server", &Workload::server, "with kind server: its address and how it is started"),
      field("load", &Workload::load, "with kind server: the requests to send"),
      field("window", &Workload::window, "with kind server: the part of the load to profile"));
}
Checks validate(const Workload& workload);

/// What people call a command: `train.py` for `python3 -u train.py --x`, `pkg.train` for `python3
/// -m pkg.train`.
std::string program_name(std::span<const std::string> command);

enum class Activity { Cpu, Cuda };
constexpr auto names(std::type_identity<Activity>) {
  return std::array{named(Activity::Cpu, "cpu"), named(Activity::Cuda, "cuda")};
}

/// `pipeline.torch_profiler`: one image under libtorch's profiler.
struct TorchProfiler : Stage {
  TorchProfiler() { enable = Enable::Yes; }

  Enable enabled = Enable::Yes;
  std::vector<Activity> activities{Activity::Cpu, Activity::Cuda};
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool group_by_input_shape = false;
  std::uint32_t warmup_rounds = 2;
  bool warmup_synthetic = true;
  std::optional<std::uint32_t> decode_steps = 64;
  Output output;

  bool operator==(const TorchProfiler&) const = default;
};
constexpr auto fields(std::type_identity<TorchProfiler>) {
  return field_list(
      enable_field(),
      field("enabled", &TorchProfiler::enabled, "the preset's value; `enable` refers to it"),
      field("activities", &TorchProfiler::activities,
            "what to record; cuda is left out without a GPU"),
      field("record_shapes", &TorchProfiler::record_shapes, "record the input shapes of operators"),
      field("profile_memory", &TorchProfiler::profile_memory, "write memory.json"),
      field("with_stack", &TorchProfiler::with_stack,
            "record source lines of operators, if available"),
      field("group_by_input_shape", &TorchProfiler::group_by_input_shape,
            "one row per input shape in the operator table; needs record_shapes"),
      field("warmup_rounds", &TorchProfiler::warmup_rounds, "inferences before recording starts")
          .range(0, kMostRounds),
      field("warmup_synthetic", &TorchProfiler::warmup_synthetic,
            "warm up on a grey page instead of the first image"),
      field("decode_steps", &TorchProfiler::decode_steps,
            "tokens to record after prefill; null: all")
          .range(0, kMostTokens),
      field("output", &TorchProfiler::output,
            "outputs written from the baseline's texts, after timing"),
      timeout_field());
}
Checks validate(const TorchProfiler& profiler);

/// `pipeline.static_analysis`: the theoretical cost of the model.
struct StaticAnalysis : Stage {
  StaticAnalysis() { enable = Enable::Yes; }

  bool write_reports = true;
  bool use_analytic_fallback = true;
  bool use_synthetic_inputs = true;

  bool operator==(const StaticAnalysis&) const = default;
};
constexpr auto fields(std::type_identity<StaticAnalysis>) {
  return field_list(enable_field(),
                    field("write_reports", &StaticAnalysis::write_reports,
                          "write static_compute.json and static_compute.md"),
                    field("use_analytic_fallback", &StaticAnalysis::use_analytic_fallback,
                          "use closed forms if the module graph cannot be traced"),
                    field("use_synthetic_inputs", &StaticAnalysis::use_synthetic_inputs,
                          "take shapes from model.preprocess instead of the dataset's images"),
                    timeout_field());
}

/// `pipeline.baseline`: the run without a profiler that all timings come from.
struct Baseline : Stage {
  Baseline() { enable = Enable::Auto; }

  std::uint32_t warmup_rounds = 2;
  bool warmup_synthetic = true;

  bool operator==(const Baseline&) const = default;
};
constexpr auto fields(std::type_identity<Baseline>) {
  return field_list(
      field("enable", &Baseline::enable, "run this stage; auto: if any measuring stage runs"),
      field("warmup_rounds", &Baseline::warmup_rounds,
            "unmeasured inferences at the start; config.yaml takes the number from "
            "torch_profiler's preset")
          .range(0, kMostRounds),
      field("warmup_synthetic", &Baseline::warmup_synthetic,
            "warm up on a grey page instead of the first image; also taken from torch_profiler's "
            "preset"),
      timeout_field());
}

/// `pipeline.direct_inference`: runs the model over the dataset for its output, without a profiler.
struct DirectInference : Stage {
  Output output;

  bool operator==(const DirectInference&) const = default;
};
constexpr auto fields(std::type_identity<DirectInference>) {
  return field_list(enable_field(),
                    field("output", &DirectInference::output, "the outputs to write"),
                    timeout_field());
}

/// The stages in the order in which they run, and settings common to all of them.
struct Pipeline {
  StaticAnalysis static_analysis;
  Baseline baseline;
  TorchProfiler torch_profiler;
  Nsys nsys;
  Ncu ncu;
  DirectInference direct_inference;
  Workload workload;
  bool keep_going = true;

  bool operator==(const Pipeline&) const = default;
};
constexpr auto fields(std::type_identity<Pipeline>) {
  return field_list(
      field("static_analysis", &Pipeline::static_analysis,
            "theoretical FLOPs, bytes and minimum times of the model"),
      field("baseline", &Pipeline::baseline, "the unprofiled run that timings come from"),
      field("torch_profiler", &Pipeline::torch_profiler, "one image under libtorch's profiler"),
      field("nsys", &Pipeline::nsys, "the workload under Nsight Systems"),
      field("ncu", &Pipeline::ncu, "the workload under Nsight Compute"),
      field("direct_inference", &Pipeline::direct_inference,
            "inference over the dataset without a profiler"),
      field("workload", &Pipeline::workload, "the program to profile"),
      field("keep_going", &Pipeline::keep_going,
            "run the other stages even if one fails; the exit code still reports the failure"));
}

}  // namespace profline::settings
