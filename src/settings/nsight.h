#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/read.h"
#include "settings/stage.h"

namespace profline::settings {

enum class CpuSampling { None, ProcessTree, SystemWide, Cpu };
constexpr auto names(std::type_identity<CpuSampling>) {
  return std::array{named(CpuSampling::None, "none"),
                    named(CpuSampling::ProcessTree, "process-tree"),
                    named(CpuSampling::SystemWide, "system-wide"), named(CpuSampling::Cpu, "cpu")};
}

enum class CaptureRange { None, Nvtx, CudaProfilerApi, Hotkey };
constexpr auto names(std::type_identity<CaptureRange>) {
  return std::array{named(CaptureRange::None, "none"), named(CaptureRange::Nvtx, "nvtx"),
                    named(CaptureRange::CudaProfilerApi, "cudaProfilerApi"),
                    named(CaptureRange::Hotkey, "hotkey")};
}

/// What nsys does when the captured range ends.
struct CaptureRangeEnd {
  enum class Action { None, Stop, StopShutdown, Repeat, RepeatShutdown };
  Action action = Action::Stop;
  /// Number of captures for Repeat (absent: unlimited) and RepeatShutdown.
  std::optional<std::uint32_t> count;

  bool operator==(const CaptureRangeEnd&) const = default;
  /// In nsys' spelling: `stop`, `repeat:3`.
  std::string to_string() const;
};

std::optional<CaptureRangeEnd> parse_capture_range_end(std::string_view text);

enum class GraphTrace { Graph, Node };
constexpr auto names(std::type_identity<GraphTrace>) {
  return std::array{named(GraphTrace::Graph, "graph"), named(GraphTrace::Node, "node")};
}

/// `pipeline.nsys`: the workload under Nsight Systems. An option that a preset leaves out is not
/// passed, as if it were null; the values that profline ships are in conf/profiling/nsys.
struct Nsys : Stage {
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples;
  std::optional<schema::CommaList> trace;
  std::optional<CpuSampling> sample;
  CaptureRange capture_range = CaptureRange::None;
  std::optional<CaptureRangeEnd> capture_range_end;
  std::optional<schema::OneOrMore> nvtx_capture;
  std::optional<schema::CommaList> nvtx_domain_include;
  std::optional<schema::CommaList> nvtx_domain_exclude;
  std::optional<GraphTrace> cuda_graph_trace;
  bool gpu_metrics = false;
  std::optional<std::uint32_t> gpu_metrics_frequency;

  bool operator==(const Nsys&) const = default;
  /// Whether `cuda`, `nvtx`, ... are recorded; without a list nsys records both of these.
  bool traces(std::string_view what) const;
};
constexpr auto fields(std::type_identity<Nsys>) {
  return field_list(
      enable_field(),
      field(
          "gating_nvtx", &Nsys::gating_nvtx,
          "false: neither capture_range=nvtx nor the steady requests of your own program limit the "
          "capture"),
      samples_field(&Nsys::samples),
      field("trace", &Nsys::trace, "what to record, by nsys's names; null: nsys's own default"),
      field("sample", &Nsys::sample, "how the CPU is sampled; null: nsys's own default"),
      field("capture_range", &Nsys::capture_range,
            "what starts the capture; none: capture the whole run"),
      field("capture_range_end", &Nsys::capture_range_end,
            "what happens when the range ends; null or empty: nsys's own default, which ends the "
            "workload"),
      field("nvtx_capture", &Nsys::nvtx_capture,
            "the range that capture_range=nvtx waits for (otherwise no effect): name, name@domain, "
            "name@*; a list: one capture each"),
      field("nvtx_domain_include", &Nsys::nvtx_domain_include,
            "record only these NVTX domains; null: all"),
      field("nvtx_domain_exclude", &Nsys::nvtx_domain_exclude,
            "record all but these NVTX domains; null: all"),
      field("cuda_graph_trace", &Nsys::cuda_graph_trace,
            "trace CUDA graphs as a whole or by node; null: nsys's own default"),
      field("gpu_metrics", &Nsys::gpu_metrics,
            "sample the GPU's counters while it runs (DRAM, SMs, matrix units, PCIe, NVLink), "
            "without replaying anything"),
      field("gpu_metrics_frequency", &Nsys::gpu_metrics_frequency,
            "samples per second; null: nsys's own default, 10000")
          .range(10, 200'000),
      timeout_field());
}
Checks validate(const Nsys& nsys);

}  // namespace profline::settings

namespace profline::schema {

/// An empty string means no value, like null: `capture_range_end=` on a command line.
template <>
struct Codec<std::optional<settings::CaptureRangeEnd>> {
  static constexpr Kinds kKinds{Node::Kind::String, Node::Kind::Null};
  static std::string text(const Limits&) {
    return "one of none, stop, stop-shutdown, repeat, repeat:N, repeat-shutdown:N (N up to " +
           std::to_string(settings::kMostCaptures) + ") or null";
  }
  static void read(const Node& node, std::optional<settings::CaptureRangeEnd>& value,
                   Reader& reader);
  static Node write(const std::optional<settings::CaptureRangeEnd>& value) {
    return value ? Node::string(value->to_string()) : Node();
  }
};

}  // namespace profline::schema

namespace profline::settings {

enum class TargetProcesses { All, ApplicationOnly };
constexpr auto names(std::type_identity<TargetProcesses>) {
  return std::array{named(TargetProcesses::All, "all"),
                    named(TargetProcesses::ApplicationOnly, "application-only")};
}

enum class ReplayMode { Kernel, Application, Range, AppRange };
constexpr auto names(std::type_identity<ReplayMode>) {
  return std::array{named(ReplayMode::Kernel, "kernel"),
                    named(ReplayMode::Application, "application"),
                    named(ReplayMode::Range, "range"), named(ReplayMode::AppRange, "app-range")};
}

enum class KernelNameBase { Function, Demangled, Mangled };
constexpr auto names(std::type_identity<KernelNameBase>) {
  return std::array{named(KernelNameBase::Function, "function"),
                    named(KernelNameBase::Demangled, "demangled"),
                    named(KernelNameBase::Mangled, "mangled")};
}

enum class ClockControl { Base, Boost, None, Reset };
constexpr auto names(std::type_identity<ClockControl>) {
  return std::array{named(ClockControl::Base, "base"), named(ClockControl::Boost, "boost"),
                    named(ClockControl::None, "none"), named(ClockControl::Reset, "reset")};
}

enum class CacheControl { All, None };
constexpr auto names(std::type_identity<CacheControl>) {
  return std::array{named(CacheControl::All, "all"), named(CacheControl::None, "none")};
}

enum class GraphProfiling { Node, Graph };
constexpr auto names(std::type_identity<GraphProfiling>) {
  return std::array{named(GraphProfiling::Node, "node"), named(GraphProfiling::Graph, "graph")};
}

struct NcuNvtx {
  std::optional<schema::SemicolonList> include;

  bool operator==(const NcuNvtx&) const = default;
};
constexpr auto fields(std::type_identity<NcuNvtx>) {
  return field_list(
      field("include", &NcuNvtx::include,
            "profile only kernels launched in these ranges: decode, decode*, A::A1, or ncu's own "
            "grammar; null: everywhere"));
}

struct NcuExport {
  bool csv = true;

  bool operator==(const NcuExport&) const = default;
};
constexpr auto fields(std::type_identity<NcuExport>) {
  return field_list(
      field("csv", &NcuExport::csv, "write raw.csv after the capture; if not set: true"));
}

/// ncu's own options; conf/profiling/README.md has the flag of each. An option that a preset leaves
/// out is not passed, as if it were null; the values that profline ships are in conf/profiling/ncu.
struct NcuCli {
  std::optional<TargetProcesses> target_processes;
  std::optional<ReplayMode> replay_mode;
  NcuNvtx nvtx;
  std::optional<std::string> set;
  std::optional<schema::CommaList> metrics;
  std::optional<schema::CommaList> sections;
  std::optional<KernelNameBase> kernel_name_base;
  std::optional<std::string> kernel_name;
  std::optional<std::uint32_t> launch_skip;
  std::optional<std::uint32_t> launch_count;
  std::optional<ClockControl> clock_control;
  std::optional<CacheControl> cache_control;
  std::optional<GraphProfiling> graph_profiling;
  std::optional<bool> kill;
  NcuExport export_files;
  bool force_overwrite = false;

  bool operator==(const NcuCli&) const = default;
  /// Whether set, sections or metrics are given; otherwise ncu collects its own default set.
  bool names_what_to_collect() const;
};
constexpr auto fields(std::type_identity<NcuCli>) {
  return field_list(
      field("target_processes", &NcuCli::target_processes,
            "processes to profile; all: also those that the workload starts; null: ncu's own "
            "default"),
      field("replay_mode", &NcuCli::replay_mode,
            "what is replayed for each pass; null: ncu's own default"),
      field("nvtx", &NcuCli::nvtx, "limits the capture to NVTX ranges"),
      field("set", &NcuCli::set, "set of sections, by ncu's name for it; null: not passed"),
      field("metrics", &NcuCli::metrics,
            "additional metrics to collect; flop_count_hp, _sp and _dp are translated; null: not "
            "passed"),
      field("sections", &NcuCli::sections, "additional sections to collect; null: not passed"),
      field(
          "kernel_name_base", &NcuCli::kernel_name_base,
          "the form of a kernel's name that kernel_name is compared with; null: ncu's own default"),
      field("kernel_name", &NcuCli::kernel_name,
            "profile only this kernel: a name or regex:EXPRESSION; null: every kernel"),
      field("launch_skip", &NcuCli::launch_skip, "launches to skip at the start; null: not passed")
          .range(0, kMostLaunches),
      field("launch_count", &NcuCli::launch_count,
            "launches to profile; null: limited by pipeline.ncu.max_launches")
          .range(1, kMostLaunches),
      field("clock_control", &NcuCli::clock_control,
            "how ncu controls the GPU's clocks; null: ncu's own default"),
      field("cache_control", &NcuCli::cache_control,
            "how ncu controls the GPU's caches between passes; null: ncu's own default"),
      field("graph_profiling", &NcuCli::graph_profiling,
            "profile CUDA graphs by node or as a whole; null: ncu's own default"),
      field("kill", &NcuCli::kill,
            "end the workload once launch_count is reached; null: ncu's own default"),
      field("export", &NcuCli::export_files, "files exported from the report"),
      field("force_overwrite", &NcuCli::force_overwrite,
            "replace an existing report; false: not passed"));
}

/// `pipeline.ncu`: the workload under Nsight Compute.
struct Ncu : Stage {
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples;
  std::optional<std::uint32_t> max_launches;
  std::uint32_t rerun_launch_count = 200;
  std::optional<std::uint32_t> budget_s;
  bool require_gpu = true;
  std::optional<std::string> description;
  NcuCli ncu_cli;

  bool operator==(const Ncu&) const = default;
};
constexpr auto fields(std::type_identity<Ncu>) {
  return field_list(enable_field(),
                    field("gating_nvtx", &Ncu::gating_nvtx,
                          "false: neither ncu_cli.nvtx.include nor the steady requests of your own "
                          "program limit the capture"),
                    samples_field(&Ncu::samples),
                    field("max_launches", &Ncu::max_launches,
                          "maximum number of launches to profile if neither ncu_cli.launch_count "
                          "nor ncu_cli.kernel_name limits them; null: no limit")
                        .range(1, kMostLaunches),
                    field("rerun_launch_count", &Ncu::rerun_launch_count,
                          "maximum number of launches in the second attempt, made without "
                          "nvtx.include if nothing ran in its ranges")
                        .range(1, kMostLaunches),
                    field("budget_s", &Ncu::budget_s,
                          "seconds for counting kernels: chooses the launches of the longest phase "
                          "that cover most kernel time within it, unless launch_count, launch_skip "
                          "or kernel_name choose; null: no choice, only max_launches")
                        .range(1, 1'000'000),
                    field("require_gpu", &Ncu::require_gpu, "false: run ncu even without a GPU"),
                    field("description", &Ncu::description, "what the preset is for"),
                    field("ncu_cli", &Ncu::ncu_cli, "ncu's own options"), timeout_field());
}
Checks validate(const Ncu& ncu);

}  // namespace profline::settings
