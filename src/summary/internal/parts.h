#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/judgement/judge.h"
#include "analysis/kernels/classify.h"
#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "analysis/static_model/cost.h"
#include "base/result.h"
#include "formats/node.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "settings/hardware.h"
#include "summary/verdict.h"

namespace profline::summary {

/// The parts of `static_compute.json` that measured times are compared with.
struct StaticCosts {
  static_model::NumberFormat format;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  std::uint64_t batch = 1;
  std::uint64_t context = 0;    ///< of the phase Decode
  std::string shapes_from;      ///< `model.preprocess`, or a picture's name
  settings::Ceilings ceilings;  ///< of the device, only for this format; empty: not known
  std::vector<static_model::PhaseCost> phases;  ///< Decode covers one step
};

/// Ignores keys that are not needed here. An Error names the key that is missing or has the wrong
/// type.
Result<StaticCosts> read_static_costs(const Node& document);

namespace internal {
Result<StaticCosts> read_static_costs_file(const run::Run& run, const std::filesystem::path& file);
}  // namespace internal

inline constexpr run::ArtifactName<StaticCosts> kStaticCosts{run::paths::kStaticCompute,
                                                             internal::read_static_costs_file};

/// The bandwidth that the run's floors were computed with (from the device table, measured, or from
/// MEM_BANDWIDTH_GBS), else the one that ncu's DRAM throughput implies for 100 %. Shares that
/// include caches are never used: they would make the roof too low. Nothing: neither is known.
std::optional<SummaryMemoryRoof> memory_roof(const run::Run& run,
                                             const std::vector<PhaseSummary>& phases);

/// The clock of the GPU's memory while the baseline ran.
struct MemoryClock {
  double mhz = 0;  ///< median
  double highest_mhz = 0;

  double share() const { return mhz / highest_mhz; }
};

/// Nothing: the baseline recorded no clocks, or the highest one is not known.
std::optional<MemoryClock> memory_clock(const run::Run& run);

/// The theoretical cost, for the model's shapes, of the work that was measured in one phase, summed
/// over the steady part of all requests.
struct WorkCost {
  double units = 0;        ///< steady requests, or steps
  double measured_ns = 0;  ///< measured time of all units
  double flops = 0;
  double bytes = 0;        ///< of weights and KV cache
  double cache_bytes = 0;  ///< of these, the KV cache's
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  std::optional<double> floor_ns;
};

/// The costs of what the baseline measured, per phase.
struct MeasuredCosts {
  std::string words;     ///< `measured ceilings of NVIDIA H200`; empty: not known
  std::string ceilings;  ///< their device and source
  std::string peak;      ///< what shares of them are shares of: `measured peak`
  std::string
      shapes;  ///< `each image's own`, `each request's own`, or what static analysis took instead
  std::string source;  ///< files
  std::optional<double> peak_operations_per_second;
  std::vector<std::string> notes;

  /// The cost of a phase by name. Null: not known, and `why_not` has the reason.
  const WorkCost* find(std::string_view phase) const;
  std::string why_not;

  struct Entry {
    std::string phase;
    WorkCost cost;
  };
  std::vector<Entry> entries;
};

/// Uses the closed forms of static analysis with the shapes of each request: pages of different
/// sizes have different tiles, and prompts different lengths. If shapes are not known, the figures
/// of static_compute.json are used for requests that have as many prompt tokens as it assumes, if
/// any. Ceilings come from static_compute.json; on a CPU, from the measured ones in metrics.json.
MeasuredCosts measured_costs(const run::Run& run, const requests::PhaseTree& tree,
                             const requests::SteadyPart& steady);

/// How well a capture with this gate shows a phase, best first: gated on the phase itself, ungated,
/// gated on an enclosing phase. Of several captures only the best is used, because the same work
/// may be in more than one.
int gate_rank(const requests::PhaseTree& tree, const std::string& gate, const std::string& phase);

/// The gate of the capture of this name; empty: not gated, or not known.
std::string gate_of(const run::Run& run, const std::string& capture);

/// Device activity per phase: from nsys where it captured the phase, else from the torch profiler.
class DeviceActivities {
 public:
  /// All three must outlive it. `steady` is the steady part of the baseline.
  DeviceActivities(const run::Run& run, const requests::PhaseTree& tree,
                   const requests::SteadyPart& steady);

  /// Nothing if no tool recorded device work in this phase.
  std::optional<judgement::DeviceActivity> find(const std::string& phase) const;
  /// A whole nsys capture, inside and outside ranges; nothing if it has no device work.
  static std::optional<judgement::DeviceActivity> of_capture(const NsysCapture& capture,
                                                             const std::string& file);
  /// The names of all ranges that nsys recorded, longest first.
  std::vector<std::string> range_names() const;

 private:
  struct Rows {
    RangeUse sum;  ///< over captures
    /// Instances, in the same captures, of the outermost phase that encloses this one.
    std::uint64_t requests = 0;
    std::string gate;
    /// By device: the units of work in rows with samples.
    std::map<std::int32_t, double> sampled_units{};
  };
  std::optional<Rows> nsys_rows(const std::string& phase) const;
  std::optional<Rows> traced_rows(const std::string& phase) const;
  std::optional<judgement::DeviceActivity> activity(const std::string& phase, const Rows& rows,
                                                    const std::string& tool,
                                                    const std::string& file) const;
  const run::Requests* requests_of(const std::string& tool, const std::string& gate) const;

  /// The range of the outermost enclosing phase; empty: the phase is outermost itself.
  std::string range_around(const std::string& phase) const;

  const run::Run& run_;
  const run::Artifact<run::Requests>& baseline_ = run_.baseline();
  const run::Artifact<Timeline>& trace_ = run_.get(run::kTorchTrace);
  const run::Artifact<NsysRanges>& nsys_ranges_ = run_.get(run::kNsysRanges);
  const requests::PhaseTree& tree_;
  const requests::SteadyPart& steady_;
  std::vector<RangeUse> traced_;
};

namespace internal {
Result<kernels::Classifier> read_classifier(const run::Run& run, const std::filesystem::path& file);
}  // namespace internal

/// Tries the user's rules ahead of the shipped ones; not there if the user has none.
inline constexpr run::ArtifactName<kernels::Classifier> kClassifier{run::files::kKernelClasses,
                                                                    internal::read_classifier};

struct KernelRows {
  std::vector<SummaryKernel> kernels;  ///< most time first
  SummaryJoin join;
};

/// One row per kernel and launch shape, from whichever of nsys, ncu and the torch profiler recorded
/// it. Times come from nsys, else from the torch profiler. A kernel whose rows cannot be matched
/// unambiguously between tools is not joined, and its row says so.
KernelRows kernel_rows(const run::Run& run, const requests::PhaseTree& tree);

/// A phase's kernel time split by what bounds each kernel according to its counters; nothing
/// without counters.
std::optional<judgement::KernelBounds> bounds_of(const KernelRows& rows, std::string_view phase);

/// A whole request with the times of all its phases; nothing without a baseline, of which `steady`
/// is the steady part.
std::optional<SummaryRequest> request_of(const run::Run& run, const requests::PhaseTree& tree,
                                         const requests::SteadyPart& steady,
                                         const MeasuredCosts& costs);

/// Each phase of `request` without parts, with everything known about it and what bounds it;
/// without a request (a user's program), the ranges that nsys recorded.
std::vector<PhaseSummary> phase_summaries(const run::Run& run, const requests::PhaseTree& tree,
                                          const std::optional<SummaryRequest>& request,
                                          const MeasuredCosts& costs,
                                          const DeviceActivities& devices,
                                          const KernelRows& kernels);

/// The same inputs with and without a profiler.
struct PairedTime {
  double units = 0;
  double baseline_ns = 0;
  double profiled_ns = 0;
};

/// The time of a phase over the first `count` requests of a profiled run and over the same requests
/// of the baseline; for a phase with steps, over as many steps of each request as both have.
/// One-time costs of the baseline (`steady` is its steady part) are replaced by what is usual.
/// Nothing if the baseline lacks one of the requests, or what is usual for it.
std::optional<PairedTime> paired_time(const run::Requests& baseline,
                                      const requests::SteadyPart& steady,
                                      const run::Requests& profiled, std::size_t count,
                                      std::string_view path);

/// What a user's program took without a profiler; nothing for the built-in workload.
std::optional<SummaryProgram> program_of(const run::Run& run);

/// The slow-down by each profiler, from the workload's own times.
std::vector<SummaryOverhead> overheads(const run::Run& run, const requests::PhaseTree& tree,
                                       const requests::SteadyPart& steady);

}  // namespace profline::summary
