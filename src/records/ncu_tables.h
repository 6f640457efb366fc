#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

namespace profline {

/// An ncu counter in base units: ns, byte, byte/s, %.
struct NcuCounter {
  std::string name;  ///< `dram__bytes_read.sum`; flop_count_* under its old name
  std::string unit;  ///< empty: a plain number
  double value = 0;

  bool operator==(const NcuCounter&) const = default;
};
constexpr auto fields(std::type_identity<NcuCounter>) {
  using schema::field;
  return field_list(field("name", &NcuCounter::name, "as requested").required(),
                    field("unit", &NcuCounter::unit, "empty: a plain number").required(),
                    field("value", &NcuCounter::value, "mean over the launches").required());
}

/// Operations of one kind; a multiply-add is two.
struct NcuWork {
  std::string cores;      ///< `tensor`, `vector`
  std::string precision;  ///< `bf16`
  double operations = 0;
  std::string counters;  ///< the formula it was computed with

  bool operator==(const NcuWork&) const = default;
};
constexpr auto fields(std::type_identity<NcuWork>) {
  using schema::field;
  return field_list(field("cores", &NcuWork::cores, "tensor or vector").required(),
                    field("precision", &NcuWork::precision, "of the operands").required(),
                    field("operations", &NcuWork::operations, "a launch").required(),
                    field("counters", &NcuWork::counters, "what it was computed from").required());
}

/// A kernel in the roofline model. Shares are 0 to 1.
struct NcuRoofline {
  std::optional<double> operations;
  std::optional<double> dram_bytes;
  std::optional<double> l2_bytes;
  std::optional<double> intensity;
  std::optional<double> operations_per_second;
  std::optional<double> bytes_per_second;
  std::optional<double> peak_operations_per_second;
  std::optional<double> attainable_operations_per_second;
  std::optional<double> floor_ns;
  std::optional<double> compute_share;
  std::optional<double> memory_share;

  bool operator==(const NcuRoofline&) const = default;
};
constexpr auto fields(std::type_identity<NcuRoofline>) {
  using schema::field;
  return field_list(
      field("operations", &NcuRoofline::operations, "per launch; a multiply-add is two"),
      field("dram_bytes", &NcuRoofline::dram_bytes, "read and written, per launch"),
      field("l2_bytes", &NcuRoofline::l2_bytes, "requested from the L2 cache, per launch"),
      field("intensity", &NcuRoofline::intensity, "operations per byte of DRAM traffic"),
      field("operations_per_second", &NcuRoofline::operations_per_second, "reached"),
      field("bytes_per_second", &NcuRoofline::bytes_per_second, "of DRAM, achieved"),
      field("peak_operations_per_second", &NcuRoofline::peak_operations_per_second,
            "of this mixture of precisions"),
      field("attainable_operations_per_second", &NcuRoofline::attainable_operations_per_second,
            "the roof above the point"),
      field("floor_ns", &NcuRoofline::floor_ns, "the shortest time under the roof"),
      field("compute_share", &NcuRoofline::compute_share, "of the compute ceiling, 0 to 1"),
      field("memory_share", &NcuRoofline::memory_share, "of the memory ceiling, 0 to 1"));
}

/// A kernel of one shape in one place of the program, over the launches that ncu profiled; with
/// range replay, a range.
struct NcuKernel {
  std::string name;          ///< canonical: the same for every tool; a range's label
  std::string short_name;    ///< for display
  std::string printed_name;  ///< as ncu wrote it
  bool is_range = false;
  std::string kernel_class;          ///< `gemm`, ...; `range`
  std::vector<std::uint32_t> grid;   ///< three numbers; empty: not reported
  std::vector<std::uint32_t> block;  ///< likewise
  std::vector<std::string> ranges;   ///< open at the launch, outermost first, as RangeUse::label
  std::int32_t device = 0;
  std::string device_name;            ///< empty: not reported
  std::uint64_t launches = 0;         ///< profiled
  std::optional<double> duration_ns;  ///< mean of a launch, under ncu's clocks
  std::vector<NcuCounter> counters;
  std::vector<NcuWork> work;
  NcuRoofline roofline;
  std::string bound;         ///< `compute`, `memory`, `mixed`, `latency`, `unknown`
  std::string margin_class;  ///< by the predecessor's rule: `compute_bound`, ...
  std::vector<std::string> evidence;

  bool operator==(const NcuKernel&) const = default;
};
constexpr auto fields(std::type_identity<NcuKernel>) {
  using schema::field;
  return field_list(
      field("name", &NcuKernel::name, "canonical, the same whichever tool saw it").required(),
      field("short_name", &NcuKernel::short_name, "for display").required(),
      field("printed_name", &NcuKernel::printed_name, "as ncu wrote it").required(),
      field("is_range", &NcuKernel::is_range, "of range replay: all kernels of a range").required(),
      field("class", &NcuKernel::kernel_class, "by conf/kernels/classes.yaml").required(),
      field("grid", &NcuKernel::grid, "x, y, z; empty: not reported").required(),
      field("block", &NcuKernel::block, "x, y, z; empty: not reported").required(),
      field("ranges", &NcuKernel::ranges, "NVTX ranges around its launch, outermost first")
          .required(),
      field("device", &NcuKernel::device, "as CUDA counts them").required(),
      field("device_name", &NcuKernel::device_name, "empty: not reported").required(),
      field("launches", &NcuKernel::launches, "profiled").required(),
      field("duration_ns", &NcuKernel::duration_ns, "mean of a launch, under ncu's clocks"),
      field("counters", &NcuKernel::counters, "means, in base units").required(),
      field("work", &NcuKernel::work, "operations by kind").required(),
      field("roofline", &NcuKernel::roofline, "its position under the device's ceilings")
          .required(),
      field("bound", &NcuKernel::bound, "compute, memory, mixed, latency or unknown").required(),
      field("classification", &NcuKernel::margin_class, "by SM and DRAM shares 5 points apart")
          .required(),
      field("evidence", &NcuKernel::evidence, "the numbers that support the bound").required());
}

/// `ncu/kernels.json`: every profiled kernel, ordered by launches times duration.
struct NcuKernels {
  static constexpr DocumentKind kKind{"ncu_kernels", 1};

  std::string tool;             ///< `ncu 2024.1.1`
  std::string ceilings_source;  ///< source of the ceilings; empty: unknown
  bool gate_dropped = false;    ///< the rows are from the rerun without the gate
  std::uint64_t launches = 0;
  std::optional<std::string> why_none;  ///< when there are no rows
  std::vector<std::string> notes;
  std::vector<NcuKernel> kernels;

  bool operator==(const NcuKernels&) const = default;
};
constexpr auto fields(std::type_identity<NcuKernels>) {
  using schema::field;
  return field_list(
      field("tool", &NcuKernels::tool, "the profiler and its version").required(),
      field("ceilings_source", &NcuKernels::ceilings_source,
            "source of the ceilings; empty: unknown")
          .required(),
      field("gate_dropped", &NcuKernels::gate_dropped,
            "the rows are from the rerun without the gate")
          .required(),
      field("launches", &NcuKernels::launches, "of all rows").required(),
      field("why_none", &NcuKernels::why_none, "why there are no rows"),
      field("notes", &NcuKernels::notes, "what a reader must know").required(),
      field("kernels", &NcuKernels::kernels, "launches times duration, most first").required());
}

/// The counter that adds up over regions. Times do not if ranges are replayed as a whole: each
/// range waits for the device at both ends and for the host in between, and nested ranges are
/// measured in separate runs.
inline constexpr const char* kInstructions = "smsp__inst_executed.sum";

/// How a region's time was obtained.
enum class RegionSource {
  Range,     ///< ncu replayed it as a whole
  Kernels,   ///< the sum of the kernels that were profiled in it
  Children,  ///< not measured: the sum of the regions in it
};
constexpr auto names(std::type_identity<RegionSource>) {
  using schema::named;
  return std::array{named(RegionSource::Range, "range"), named(RegionSource::Kernels, "kernels"),
                    named(RegionSource::Children, "children")};
}

/// A kernel in a region, at any depth.
struct NcuRegionKernel {
  std::string name;  ///< short
  std::uint64_t launches = 0;
  double total_ns = 0;

  bool operator==(const NcuRegionKernel&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegionKernel>) {
  using schema::field;
  return field_list(
      field("name", &NcuRegionKernel::name, "for display").required(),
      field("launches", &NcuRegionKernel::launches, "profiled in the region").required(),
      field("total_ns", &NcuRegionKernel::total_ns, "of these launches").required());
}

/// A range of the program over its instances, as ncu measured it.
struct NcuRegion {
  std::string name;    ///< labels of the ranges around it and its own: `A::A1`
  std::string parent;  ///< `A`; empty at the top
  std::uint32_t depth = 0;
  std::string folder;  ///< below `ncu/regions`
  std::string process_name;
  std::int32_t device = 0;
  std::string device_name;
  std::uint64_t instances = 0;        ///< that were replayed
  std::optional<double> duration_ns;  ///< mean of an instance; null: not collected
  std::optional<double> total_ns;     ///< of all instances
  std::vector<NcuCounter> counters;   ///< means of an instance
  RegionSource source = RegionSource::Range;
  std::optional<double> inclusive_ns;  ///< including the regions in it
  std::optional<double> exclusive_ns;  ///< without the regions in it
  std::optional<double> children_ns;   ///< inclusive time of the regions in it; null: no regions
  std::optional<double> instructions;  ///< of all instances (kInstructions)
  std::optional<double> children_instructions;  ///< of the regions in it
  /// Whether the children add up to no more than the region itself, within one percent: in
  /// instructions if they were counted, else in time.
  std::optional<bool> reconciles;
  std::vector<NcuRegionKernel> kernels;  ///< most time first; of RegionSource::Kernels
  std::uint64_t launches_left_out = 0;   ///< by rules over kernels

  bool operator==(const NcuRegion&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegion>) {
  using schema::field;
  return field_list(
      field("name", &NcuRegion::name, "labels joined by ::, outermost first").required(),
      field("parent", &NcuRegion::parent, "name without the last label; empty at the top")
          .required(),
      field("depth", &NcuRegion::depth, "ranges around it").required(),
      field("folder", &NcuRegion::folder, "its own report, below ncu/regions").required(),
      field("process_name", &NcuRegion::process_name, "whose range it is").required(),
      field("device", &NcuRegion::device, "as CUDA counts them").required(),
      field("device_name", &NcuRegion::device_name, "empty: not reported").required(),
      field("instances", &NcuRegion::instances, "that were replayed").required(),
      field("duration_ns", &NcuRegion::duration_ns, "mean of an instance; null: not collected"),
      field("total_ns", &NcuRegion::total_ns, "of all instances; null: not collected"),
      field("counters", &NcuRegion::counters, "means of an instance, in base units").required(),
      field("source", &NcuRegion::source, "range: replayed as a whole; kernels, children: summed"),
      field("inclusive_ns", &NcuRegion::inclusive_ns, "including the regions in it"),
      field("exclusive_ns", &NcuRegion::exclusive_ns, "without the regions in it"),
      field("children_ns", &NcuRegion::children_ns, "of the regions in it; null: it has none"),
      field("instructions", &NcuRegion::instructions, "of all instances; null: not counted"),
      field("children_instructions", &NcuRegion::children_instructions, "of the regions in it"),
      field("reconciles", &NcuRegion::reconciles,
            "children add up to no more than the region, within one percent: in instructions if "
            "they were counted, else in time"),
      field("kernels", &NcuRegion::kernels, "if summed: its kernels, most time first"),
      field("launches_left_out", &NcuRegion::launches_left_out, "by rules over kernels"));
}

/// `ncu/regions/report.json`, with every region; `<folder>/report.json`, with one.
struct NcuRegions {
  static constexpr DocumentKind kKind{"ncu_regions", 1};

  std::string tool;         ///< `ncu 2024.1.1`
  std::string replay_mode;  ///< `range`, `app-range`
  std::vector<NcuRegion> regions;

  bool operator==(const NcuRegions&) const = default;
};
constexpr auto fields(std::type_identity<NcuRegions>) {
  using schema::field;
  return field_list(
      field("tool", &NcuRegions::tool, "the profiler and its version").required(),
      field("replay_mode", &NcuRegions::replay_mode, "range or app-range").required(),
      field("regions", &NcuRegions::regions, "in the order of first occurrence").required());
}

}  // namespace profline
