#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schema/problems.h"
#include "schema/text_list.h"
#include "settings/limits.h"
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
  return std::tuple(
      field("include", &NcuNvtx::include,
            "only kernels in these ranges: decode, decode*, A::A1, or ncu's own grammar; null: "
            "everywhere"));
}

struct NcuExport {
  bool csv = true;

  bool operator==(const NcuExport&) const = default;
};
constexpr auto fields(std::type_identity<NcuExport>) {
  return std::tuple(field("csv", &NcuExport::csv, "write raw.csv after the capture"));
}

/// What ncu itself is told; conf/profiling/README.md has the flag of each.
struct NcuCli {
  TargetProcesses target_processes = TargetProcesses::All;
  ReplayMode replay_mode = ReplayMode::Kernel;
  NcuNvtx nvtx;
  std::optional<std::string> set = "roofline";
  std::optional<schema::CommaList> metrics =
      schema::CommaList{{"flop_count_hp", "flop_count_sp", "gpu__time_duration.sum",
                         "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                         "dram__throughput.avg.pct_of_peak_sustained_elapsed"}};
  std::optional<schema::CommaList> sections =
      schema::CommaList{{"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"}};
  KernelNameBase kernel_name_base = KernelNameBase::Demangled;
  std::optional<std::string> kernel_name;
  std::optional<std::uint32_t> launch_skip;
  std::optional<std::uint32_t> launch_count;
  std::optional<ClockControl> clock_control;
  std::optional<CacheControl> cache_control;
  std::optional<GraphProfiling> graph_profiling;
  std::optional<bool> kill;
  NcuExport export_files;
  bool force_overwrite = true;

  bool operator==(const NcuCli&) const = default;
};
constexpr auto fields(std::type_identity<NcuCli>) {
  return std::tuple(
      field("target_processes", &NcuCli::target_processes, "also those that the workload starts"),
      field("replay_mode", &NcuCli::replay_mode, "what is run again for each pass"),
      field("nvtx", &NcuCli::nvtx, "gates by NVTX range"),
      field("set", &NcuCli::set, "set of sections, by ncu's names; null: none"),
      field("metrics", &NcuCli::metrics,
            "beside those of the set; flop_count_hp, _sp and _dp are translated; null: none"),
      field("sections", &NcuCli::sections, "beside those of the set; null: none"),
      field("kernel_name_base", &NcuCli::kernel_name_base, "what kernel_name is compared with"),
      field("kernel_name", &NcuCli::kernel_name,
            "only this kernel: a name or regex:EXPRESSION; null: every kernel"),
      field("launch_skip", &NcuCli::launch_skip, "launches to leave out first; null: none")
          .range(0, kMostLaunches),
      field("launch_count", &NcuCli::launch_count,
            "launches to profile; null: pipeline.ncu.max_launches may bound them")
          .range(1, kMostLaunches),
      field("clock_control", &NcuCli::clock_control, "of the GPU's clocks; null: left to ncu"),
      field("cache_control", &NcuCli::cache_control,
            "of the GPU's caches between passes; null: left to ncu"),
      field("graph_profiling", &NcuCli::graph_profiling,
            "CUDA graphs by node or as a whole; null: left to ncu"),
      field("kill", &NcuCli::kill,
            "end the workload once launch_count is reached; null: left to ncu"),
      field("export", &NcuCli::export_files, "files made from the report"),
      field("force_overwrite", &NcuCli::force_overwrite, "replace a report that exists"));
}

/// `pipeline.ncu`: the workload under Nsight Compute.
struct Ncu : Stage {
  bool gating_nvtx = true;
  std::optional<std::uint32_t> samples = 1;
  std::optional<std::uint32_t> max_launches = 2000;
  std::uint32_t rerun_launch_count = 200;
  bool require_gpu = true;
  std::string description = "standard kernel profile";
  NcuCli ncu_cli;

  bool operator==(const Ncu&) const = default;
};
constexpr auto fields(std::type_identity<Ncu>) {
  return std::tuple(
      enable_field(),
      field("gating_nvtx", &Ncu::gating_nvtx,
            "false: ncu_cli.nvtx.include does not limit the capture"),
      field("samples", &Ncu::samples, "first images of the baseline's list; null: all")
          .range(1, kMostImages),
      field("max_launches", &Ncu::max_launches,
            "bound where no include, kernel_name or launch_count is one; null: none")
          .range(1, kMostLaunches),
      field("rerun_launch_count", &Ncu::rerun_launch_count,
            "kernels of the second try, made without the gate that let nothing through")
          .range(1, kMostLaunches),
      field("require_gpu", &Ncu::require_gpu, "false: run ncu without a GPU as well"),
      field("description", &Ncu::description, "what the preset is for"),
      field("ncu_cli", &Ncu::ncu_cli, "what ncu itself is told"), timeout_field());
}
Checks validate(const Ncu& ncu);

}  // namespace profline::settings
