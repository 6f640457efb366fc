#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "records/ceilings.h"
#include "records/environment.h"
#include "records/gpu_reading.h"
#include "records/kernel_use.h"
#include "records/load.h"
#include "records/ncu_tables.h"
#include "records/range_use.h"
#include "records/rank_analysis.h"
#include "records/ranks.h"
#include "records/recorded_program.h"
#include "records/repeated_phase.h"
#include "records/server.h"
#include "records/timeline.h"
#include "records/torch_tables.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "settings/kernel_classes.h"
#include "settings/root.h"

/// The content of a run's files, by name: `run.get(run::kNsysRanges)`. A module that reads a file
/// into its own type defines its own ArtifactName.
namespace profline::run {

/// The size of an image in pixels.
struct InputSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};
using InputSizes = std::map<std::string, InputSize>;  ///< by the name that samples give it

using profline::GpuReading;
using GpuReadings = std::vector<GpuReading>;

/// The lines of gpu.jsonl.
Result<GpuReadings> parse_gpu_readings(std::string_view text, const std::string& source);

namespace internal {
using Path = std::filesystem::path;
Result<Node> read_json_tree(const Run& run, const Path& file);
Result<Node> read_yaml_tree(const Run& run, const Path& file);
Result<settings::Root> read_settings(const Run& run, const Path& file);
Result<Environment> read_environment(const Run& run, const Path& file);
Result<RunCeilings> read_run_ceilings(const Run& run, const Path& file);
Result<RepeatedPhases> read_repeated_phases(const Run& run, const Path& file);
Result<settings::KernelClasses> read_kernel_classes(const Run& run, const Path& file);
Result<Node> read_metrics(const Run& run, const Path& file);
Result<Node> read_process(const Run& run, const Path& file);
Result<RecordedModels> read_recorded_models(const Run& run, const Path& file);
Result<ProgramRanges> read_recorded_ranges(const Run& run, const Path& file);
Result<SteadyWindow> read_steady_window(const Run& run, const Path& file);
Result<LoadRecord> read_load(const Run& run, const Path& file);
Result<ServerRecord> read_server(const Run& run, const Path& file);
Result<InputSizes> read_input_sizes(const Run& run, const Path& file);
Result<GpuReadings> read_gpu_readings(const Run& run, const Path& file);
Result<TorchOperators> read_torch_operators(const Run& run, const Path& file);
Result<Timeline> read_torch_trace(const Run& run, const Path& file);
Result<NsysRanges> read_nsys_ranges(const Run& run, const Path& file);
Result<NsysKernels> read_nsys_kernels(const Run& run, const Path& file);
Result<NcuKernels> read_ncu_kernels(const Run& run, const Path& file);
Result<Ranks> read_ranks(const Run& run, const Path& file);
Result<RankAnalysis> read_rank_analysis(const Run& run, const Path& file);
}  // namespace internal

/// Keys of the config that decide what the workload does, and so what a run measures.
inline constexpr std::array<const char*, 6> kWorkloadKeys = {
    "device", "use_flash_attn", "model", "infer", "dataset", "pipeline.workload"};

/// The text at a path of a tree, `cpu.model`; empty: there is no text.
std::string text_at(const Node& tree, std::string_view path);

/// What env.json has on the GPU of a run on `cuda:N`; null: another device, or not recorded.
const Node* gpu_facts(const Run& run);

/// The name of the run's device in env.json: the GPU of `cuda:N`, else the processor. Empty: not
/// recorded.
std::string device_name(const Run& run);

/// The inputs that the built-in workload of a stage reports it read.
const Artifact<Node>& workload_inputs(const Run& run, std::string_view stage);

// The run. Trees are as they are on disk: redact them before showing them, because runs of older
// versions contain secrets.
inline constexpr ArtifactName<Node> kConfig{files::kResolvedConfig, internal::read_json_tree};
inline constexpr ArtifactName<settings::Root> kSettings{files::kResolvedConfig,
                                                        internal::read_settings};
inline constexpr ArtifactName<Node> kConfigOrigins{files::kConfigOrigins, internal::read_json_tree};
inline constexpr ArtifactName<Node> kEnvironmentTree{files::kEnvironment, internal::read_json_tree};
inline constexpr ArtifactName<Environment> kEnvironment{files::kEnvironment,
                                                        internal::read_environment};
inline constexpr ArtifactName<RunCeilings> kRunCeilings{files::kCeilings,
                                                        internal::read_run_ceilings};
inline constexpr ArtifactName<Node> kInputs{files::kInputs, internal::read_yaml_tree};
/// The ranks of a program with several.
inline constexpr ArtifactName<Ranks> kRanks{files::kRanks, internal::read_ranks};
/// Their comparison, as the reports of the run show it.
inline constexpr ArtifactName<RankAnalysis> kRankAnalysis{files::kRankAnalysis,
                                                          internal::read_rank_analysis};
/// The user's rules for classes of kernels, if there are any.
inline constexpr ArtifactName<settings::KernelClasses> kKernelClasses{
    files::kKernelClasses, internal::read_kernel_classes};

inline constexpr ArtifactName<Node> kStaticTrace{paths::kStaticTrace, internal::read_json_tree};

// The baseline.
inline constexpr ArtifactName<Node> kMetrics{paths::kBaselineMetrics, internal::read_metrics};
/// Of a user's own program.
inline constexpr ArtifactName<Node> kProcess{paths::kBaselineProcess, internal::read_process};
/// Of a user's own program, if it recorded them: its models, its ranges if it has no requests, and
/// the requests that profilers look at.
inline constexpr ArtifactName<RecordedModels> kRecordedModels{paths::kBaselineModels,
                                                              internal::read_recorded_models};
inline constexpr ArtifactName<ProgramRanges> kRecordedRanges{paths::kBaselineRanges,
                                                             internal::read_recorded_ranges};
inline constexpr ArtifactName<SteadyWindow> kSteadyWindow{paths::kBaselineSteady,
                                                          internal::read_steady_window};
inline constexpr ArtifactName<InputSizes> kInputSizes{paths::kBaselineInputs,
                                                      internal::read_input_sizes};
inline constexpr ArtifactName<RepeatedPhases> kRepeatedPhases{paths::kBaselineRepeats,
                                                              internal::read_repeated_phases};
inline constexpr ArtifactName<GpuReadings> kGpuReadings{paths::kBaselineGpu,
                                                        internal::read_gpu_readings};

/// Those of the measured run, which ends when the first phase is repeated alone.
GpuReadings measured_readings(const Run& run);

/// Of a load on a server; with runs under profilers, of the one without.
inline constexpr ArtifactName<LoadRecord> kLoad{files::kLoad, internal::read_load,
                                                paths::kBaselineLoad};
/// The requests of that load.
const Artifact<Requests>& load_requests(const Run& run);

/// Of a server that profline started: each of its runs.
inline constexpr ArtifactName<ServerRecord> kBaselineServer{paths::kBaselineServer,
                                                            internal::read_server};
inline constexpr ArtifactName<ServerRecord> kTorchServer{paths::kTorchServer,
                                                         internal::read_server};
inline constexpr ArtifactName<ServerRecord> kNsysServer{paths::kNsysServer, internal::read_server};

// The profilers.
inline constexpr ArtifactName<TorchOperators> kTorchOperators{paths::kTorchOperators,
                                                              internal::read_torch_operators};
inline constexpr ArtifactName<Node> kTorchKernels{paths::kTorchKernels, internal::read_json_tree};
inline constexpr ArtifactName<Timeline> kTorchTrace{paths::kTorchTrace, internal::read_torch_trace,
                                                    paths::kCompressedTorchTrace};
inline constexpr ArtifactName<NsysRanges> kNsysRanges{paths::kNsysRanges,
                                                      internal::read_nsys_ranges};
inline constexpr ArtifactName<NsysKernels> kNsysKernels{paths::kNsysKernels,
                                                        internal::read_nsys_kernels};
inline constexpr ArtifactName<NcuKernels> kNcuKernels{paths::kNcuKernels,
                                                      internal::read_ncu_kernels};

}  // namespace profline::run
