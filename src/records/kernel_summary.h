#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/kernel_use.h"
#include "records/ncu_tables.h"
#include "schema/field.h"

/// Kernels, combined from all tools of a run: their part of `summary.json`.
namespace profline {

/// A part of a kernel's time.
struct SummaryKernelPart {
  std::string name;
  std::uint64_t launches = 0;
  double total_ns = 0;
  double exclusive_ns = 0;  ///< zero: not known

  bool operator==(const SummaryKernelPart&) const = default;
};
constexpr auto fields(std::type_identity<SummaryKernelPart>) {
  return field_list(field("name", &SummaryKernelPart::name, "of the phase or operator").required(),
                    field("launches", &SummaryKernelPart::launches, "there"),
                    field("total_ns", &SummaryKernelPart::total_ns, "of those"),
                    field("exclusive_ns", &SummaryKernelPart::exclusive_ns,
                          "of those, their part of the device's busy time; 0: not known"));
}

struct SummaryKernelTime {
  std::uint64_t launches = 0;
  double total_ns = 0;
  double exclusive_ns = 0;  ///< see KernelUse; zero: not known
  double alone_ns = 0;
  double share = 0;  ///< by SummaryJoin::ranking()
  double min_ns = 0;
  double max_ns = 0;
  std::string source;

  bool operator==(const SummaryKernelTime&) const = default;
};
constexpr auto fields(std::type_identity<SummaryKernelTime>) {
  return field_list(
      field("launches", &SummaryKernelTime::launches, "captured").required(),
      field("total_ns", &SummaryKernelTime::total_ns, "of these launches").required(),
      field("exclusive_ns", &SummaryKernelTime::exclusive_ns,
            "its part of the time the device was busy; 0: not known"),
      field("alone_ns", &SummaryKernelTime::alone_ns, "of that, nothing else ran on the device"),
      field("share", &SummaryKernelTime::share,
            "of all kernel time, 0 to 1; of exclusive time if kernels overlap"),
      field("min_ns", &SummaryKernelTime::min_ns, "of one launch"),
      field("max_ns", &SummaryKernelTime::max_ns, "of one launch"),
      field("source", &SummaryKernelTime::source, "file"));
}

struct SummaryKernelCounters {
  std::uint64_t launches = 0;
  std::optional<double> duration_ns;
  NcuRoofline roofline;
  std::string bound;
  std::string margin_class;
  std::vector<std::string> evidence;
  std::string source;

  bool operator==(const SummaryKernelCounters&) const = default;
};
constexpr auto fields(std::type_identity<SummaryKernelCounters>) {
  return field_list(
      field("launches", &SummaryKernelCounters::launches, "profiled").required(),
      field("duration_ns", &SummaryKernelCounters::duration_ns, "mean, under ncu's clocks"),
      field("roofline", &SummaryKernelCounters::roofline, "under the device's ceilings"),
      field("bound", &SummaryKernelCounters::bound, "compute, memory, mixed, latency or unknown"),
      field("classification", &SummaryKernelCounters::margin_class,
            "by SM and DRAM shares 5 points apart"),
      field("evidence", &SummaryKernelCounters::evidence, "the numbers that support the bound"),
      field("source", &SummaryKernelCounters::source, "file"));
}

/// One kernel with one launch shape, from whichever tools captured it.
struct SummaryKernel {
  std::string name;
  std::string short_name;
  std::string kernel_class;
  std::vector<std::uint32_t> grid;
  std::vector<std::uint32_t> block;
  std::optional<SummaryKernelTime> time;
  std::vector<SummaryKernelPart> phases;
  std::optional<SummaryKernelCounters> counters;
  std::vector<SummaryKernelPart> operators;
  std::optional<double> model_flops;
  std::string lacks;

  bool operator==(const SummaryKernel&) const = default;
};
constexpr auto fields(std::type_identity<SummaryKernel>) {
  return field_list(
      field("name", &SummaryKernel::name, "canonical, the same whichever tool saw it").required(),
      field("short_name", &SummaryKernel::short_name, "for display"),
      field("class", &SummaryKernel::kernel_class, "by conf/kernels/classes.yaml; may be empty"),
      field("grid", &SummaryKernel::grid, "x, y, z; empty: not known"),
      field("block", &SummaryKernel::block, "x, y, z; empty: not known"),
      field("time", &SummaryKernel::time, "from nsys, else from the torch profiler; null: neither"),
      field("phases", &SummaryKernel::phases, "in which it was launched"),
      field("counters", &SummaryKernel::counters, "from ncu; null: not profiled"),
      field("operators", &SummaryKernel::operators, "that launched it, most time first"),
      field("model_flops", &SummaryKernel::model_flops,
            "a launch, by the shapes of its operator; null: not known"),
      field("lacks", &SummaryKernel::lacks, "what could not be joined, and why"));
}

/// How well the tables of kernels match. Shares are of kernel time.
struct SummaryJoin {
  std::string time_source;
  double total_ns = 0;
  double exclusive_ns = 0;  ///< zero: not known
  std::uint64_t launches = 0;
  double outside_ns = 0;
  std::uint64_t outside_launches = 0;
  std::optional<double> with_counters;
  std::optional<double> with_operators;
  std::optional<double> with_flops;
  std::vector<std::string> apart;

  bool operator==(const SummaryJoin&) const = default;

  KernelRanking ranking() const { return ranking_of(*this); }
};
constexpr auto fields(std::type_identity<SummaryJoin>) {
  return field_list(
      field("time_source", &SummaryJoin::time_source, "file of the times; empty: no tool has any"),
      field("total_ns", &SummaryJoin::total_ns, "of all kernels"),
      field("exclusive_ns", &SummaryJoin::exclusive_ns,
            "of all kernels; shares refer to it if total_ns is more than 1.05 times as long"),
      field("launches", &SummaryJoin::launches, "of all kernels"),
      field("outside_ns", &SummaryJoin::outside_ns,
            "of kernels that are in no row: of the warm-up and of no range of the workload"),
      field("outside_launches", &SummaryJoin::outside_launches, "of those"),
      field("with_counters", &SummaryJoin::with_counters, "share that ncu profiled; null: no ncu"),
      field("with_operators", &SummaryJoin::with_operators,
            "share whose operator is known; null: no trace of the torch profiler"),
      field("with_flops", &SummaryJoin::with_flops, "share whose model FLOPs are known"),
      field("apart", &SummaryJoin::apart, "what could not be joined, and why"));
}

}  // namespace profline
