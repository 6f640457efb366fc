#pragma once

#include <array>
#include <cstddef>
#include <string_view>

/// The name of everything in a run's folder, spelled once; docs/formats/run.md describes the
/// folder. tests/tree/check_artifact_names reports other places that spell one, unless the line
/// before it here exempts it with a reason: `unchecked: ...`.
///
///   folder / run::files::kRecord                 run.json
///   setup.stage_folder(id()) / run::files::kRequests
///   run::paths::kNsysKernels                     nsys/kernels.json
namespace profline::run {

/// The stages; their folders have the same names.
namespace stages {
inline constexpr const char* kStaticAnalysis = "static_analysis";
inline constexpr const char* kBaseline = "baseline";
inline constexpr const char* kTorchProfiler = "torch_profiler";
inline constexpr const char* kNsys = "nsys";
inline constexpr const char* kNcu = "ncu";
inline constexpr const char* kDirectInference = "direct_inference";
inline constexpr const char* kLoad = "load";
}  // namespace stages

/// Folders of a run besides those of its stages, and their subfolders.
namespace folders {
inline constexpr const char* kAttempts = "attempts";  ///< results of earlier attempts at a stage
inline constexpr const char* kWorkload = "workload";  ///< files written by a profiled workload
inline constexpr const char* kRecorded = "recorded";  ///< what a user's program recorded itself
inline constexpr const char* kRegions = "regions";    ///< ncu's regions
inline constexpr const char* kRanks = "ranks";        ///< of a stage: one folder per rank, below
inline constexpr const char* kLatest = "latest";      ///< next to the runs: a link to the newest
inline constexpr const char* kSweepTasks = ".sweep";  ///< in a sweep's folder: its jobs' records
}  // namespace folders

/// Names of files in the folder of the run or of a stage.
namespace files {
// The run itself.
inline constexpr const char* kRecord = "run.json";
inline constexpr const char* kRunLog = "run.log";
// unchecked: files on a config's search path also have this name
inline constexpr const char* kConfig = "config.yaml";
inline constexpr const char* kOverrides = "overrides.yaml";
inline constexpr const char* kHydra = "hydra.yaml";
inline constexpr const char* kResolvedConfig = "config.resolved.json";
inline constexpr const char* kConfigOrigins = "config.origins.json";
inline constexpr const char* kEnvironment = "env.json";
inline constexpr const char* kRanks = "ranks.json";  ///< the ranks of a program with several
inline constexpr const char* kInputs = "inputs.yaml";
/// What the device could reach, measured and as published.
inline constexpr const char* kCeilings = "ceilings.json";
inline constexpr const char* kKernelClasses = "kernel_classes.json";
inline constexpr const char* kSummary = "summary.json";
inline constexpr const char* kRankAnalysis = "rank_analysis.json";  ///< of a run with several ranks
inline constexpr const char* kReport = "report.md";
inline constexpr const char* kReportPage = "report.html";
inline constexpr const char* kStakeholderSummary = "stakeholder_summary.md";
inline constexpr const char* kOperatorsPage = "operators.md";
inline constexpr const char* kKernelsPage = "kernels.md";
inline constexpr const char* kIndex = "runs.sqlite";  ///< next to the runs
inline constexpr const char* kSweep = "sweep.json";   ///< in a sweep's folder, like the next two
inline constexpr const char* kSweepReport = "sweep.md";
inline constexpr const char* kSweepPage = "sweep.html";

// Any stage.
inline constexpr const char* kStatus = "status.json";
inline constexpr const char* kLog = "log";
inline constexpr const char* kCommand = "cmd.txt";
/// The config of a stage whose workload gets a different one than the baseline's.
// unchecked: a model's folder has a file of this name
inline constexpr const char* kHandedConfig = "config.json";

// The built-in workload.
inline constexpr const char* kWorkloadFacts = "workload.json";
inline constexpr const char* kRequests = "requests.jsonl";
inline constexpr const char* kSamples = "samples.jsonl";  ///< the same in runs of version 0.1
inline constexpr const char* kMetrics = "metrics.json";
inline constexpr const char* kTexts = "texts.jsonl";
inline constexpr const char* kReadInputs = "inputs.json";
inline constexpr const char* kGpuReadings = "gpu.jsonl";
inline constexpr const char* kRepeatedPhases = "repeated_phases.json";
inline constexpr const char* kPredictions = "predictions.jsonl";
inline constexpr const char* kPicturesFacts = "info.json";

// A user's own program.
inline constexpr const char* kProcess = "process.json";
inline constexpr const char* kModels = "models.json";
inline constexpr const char* kSteady = "steady.json";
inline constexpr const char* kLaunch = "launch.json";  ///< what each rank's process needs to know
inline constexpr const char* kRank = "rank.json";      ///< one rank in one stage
/// `ranges-<pid>-<time>.bin`: the ranges of one process, by libprofline-recorder.so.
inline constexpr const char* kRecordedRangesPrefix = "ranges-";
// unchecked: weights have this ending
inline constexpr const char* kRecordedRangesSuffix = ".bin";
/// Empty: the Python adapter started in some process, whether or not it recorded anything.
inline constexpr const char* kPythonStarted = "python-started";

// A server under load.
inline constexpr const char* kLoad = "load.json";
inline constexpr const char* kProgress = "progress.txt";
inline constexpr const char* kServerRecord = "server.json";
inline constexpr const char* kResponses = "responses.jsonl";  ///< only with load.save_responses

// Stages that have their own tables.
inline constexpr const char* kStaticCompute = "static_compute.json";
inline constexpr const char* kStaticComputePage = "static_compute.md";
inline constexpr const char* kStaticTrace = "static_trace.json";
inline constexpr const char* kTrace = "trace.json";
inline constexpr const char* kCompressedTrace = "trace.json.gz";
inline constexpr const char* kOperators = "operators.json";
inline constexpr const char* kMemory = "memory.json";
inline constexpr const char* kKernels = "kernels.json";
inline constexpr const char* kRanges = "ranges.json";
inline constexpr const char* kCounterPlan = "counter_plan.json";
inline constexpr const char* kGate = "gate.json";  ///< which requests of a program were captured
inline constexpr const char* kTraces = "traces.json";  ///< of the processes of a program
inline constexpr const char* kKinetoConfig = "kineto.conf";
inline constexpr const char* kRegions = "report.json";  ///< ncu's regions, all or one
inline constexpr const char* kRegionsPage = "report.md";
inline constexpr const char* kSections = "sections.txt";
inline constexpr const char* kSectionsReport = "sections_report.txt";
// unchecked: profline kernels profile has one in its folders
inline constexpr const char* kNcuLog = "ncu.log";
inline constexpr const char* kNcuReport = "run.ncu-rep";
inline constexpr const char* kNcuTable = "raw.csv";
// unchecked: profline kernels profile has one in its folders
inline constexpr const char* kNsysReport = "run.nsys-rep";
// unchecked: profline kernels profile has one in its folders
inline constexpr const char* kNsysSqlite = "run.sqlite";
inline constexpr const char* kNsysKernelSummary = "summary_cuda_gpu_kern_sum.csv";
}  // namespace files

namespace internal {

template <std::size_t N>
struct Text {
  std::array<char, N + 1> characters{};
};

constexpr std::size_t length(const char* text) {
  return std::string_view(text).size();
}

/// `folder/file`, concatenated at compile time.
template <const char* const& Folder, const char* const& File>
constexpr auto joined() {
  Text<length(Folder) + 1 + length(File)> text;
  std::size_t at = 0;
  for (const char c : std::string_view(Folder)) text.characters[at++] = c;
  text.characters[at++] = '/';
  for (const char c : std::string_view(File)) text.characters[at++] = c;
  return text;
}

template <const char* const& Folder, const char* const& File>
inline constexpr auto kJoined = joined<Folder, File>();

}  // namespace internal

/// The path of a file in a folder, relative to the parent of the folder.
template <const char* const& Folder, const char* const& File>
inline constexpr const char* kBelow = internal::kJoined<Folder, File>.characters.data();

/// Paths relative to the run's folder, as pages and messages show them.
namespace paths {
inline constexpr const char* kBaselineMetrics = kBelow<stages::kBaseline, files::kMetrics>;
inline constexpr const char* kBaselineProcess = kBelow<stages::kBaseline, files::kProcess>;
inline constexpr const char* kBaselineModels = kBelow<stages::kBaseline, files::kModels>;
inline constexpr const char* kBaselineRanges = kBelow<stages::kBaseline, files::kRanges>;
inline constexpr const char* kBaselineSteady = kBelow<stages::kBaseline, files::kSteady>;
inline constexpr const char* kBaselineInputs = kBelow<stages::kBaseline, files::kReadInputs>;
inline constexpr const char* kBaselineGpu = kBelow<stages::kBaseline, files::kGpuReadings>;
inline constexpr const char* kBaselineRepeats = kBelow<stages::kBaseline, files::kRepeatedPhases>;
inline constexpr const char* kStaticCompute =
    kBelow<stages::kStaticAnalysis, files::kStaticCompute>;
inline constexpr const char* kStaticTrace = kBelow<stages::kStaticAnalysis, files::kStaticTrace>;
inline constexpr const char* kTorchKernels = kBelow<stages::kTorchProfiler, files::kKernels>;
inline constexpr const char* kTorchOperators = kBelow<stages::kTorchProfiler, files::kOperators>;
inline constexpr const char* kTorchTrace = kBelow<stages::kTorchProfiler, files::kTrace>;
inline constexpr const char* kCompressedTorchTrace =
    kBelow<stages::kTorchProfiler, files::kCompressedTrace>;
inline constexpr const char* kNsysRanges = kBelow<stages::kNsys, files::kRanges>;
inline constexpr const char* kNsysKernels = kBelow<stages::kNsys, files::kKernels>;
inline constexpr const char* kNcuKernels = kBelow<stages::kNcu, files::kKernels>;
inline constexpr const char* kWorkloadRequests = kBelow<folders::kWorkload, files::kRequests>;
inline constexpr const char* kWorkloadLog = kBelow<folders::kWorkload, files::kLog>;
/// The load of a server's run without a profiler.
inline constexpr const char* kBaselineLoadFolder = kBelow<stages::kBaseline, stages::kLoad>;
inline constexpr const char* kBaselineLoad = kBelow<kBaselineLoadFolder, files::kLoad>;
inline constexpr const char* kBaselineServer = kBelow<stages::kBaseline, files::kServerRecord>;
inline constexpr const char* kTorchServer = kBelow<stages::kTorchProfiler, files::kServerRecord>;
inline constexpr const char* kNsysServer = kBelow<stages::kNsys, files::kServerRecord>;
inline constexpr const char* kNcuRegions = kBelow<folders::kRegions, files::kRegions>;
inline constexpr const char* kNcuRegionsPage = kBelow<folders::kRegions, files::kRegionsPage>;
}  // namespace paths

}  // namespace profline::run
