#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/field.h"
#include "schema/problems.h"
#include "settings/stage.h"

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
                    field("require_gpu", &Ncu::require_gpu, "false: run ncu even without a GPU"),
                    field("description", &Ncu::description, "what the preset is for"),
                    field("ncu_cli", &Ncu::ncu_cli, "ncu's own options"), timeout_field());
}
Checks validate(const Ncu& ncu);

}  // namespace profline::settings
