#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

namespace profline {

/// How often one kernel ran in one place and how long that took, whichever tool captured it: a row
/// of a table of kernels. A field by which a table does not distinguish kernels is empty.
struct KernelUse {
  std::string name;                  ///< canonical: the same for every tool
  std::string short_name;            ///< for display
  std::string printed_name;          ///< as the tool wrote it
  std::string kernel_class;          ///< `gemm`, `attention`, ...; `other`
  std::vector<std::uint32_t> grid;   ///< three numbers; empty: not recorded
  std::vector<std::uint32_t> block;  ///< likewise
  /// The ranges that were open at the launch, outermost first, as RangeUse::label; empty: no range
  /// was, or there is no record of the launch.
  std::vector<std::string> ranges;
  bool launch_recorded = true;  ///< false: its ranges are unknown
  std::string capture;          ///< NsysCapture::name
  std::int32_t device = 0;
  std::uint64_t launches = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  double median_ns = 0;  ///< for an even number, the mean of the middle two
  /// Its part of the time in which its device was busy: over all work of a device these sum to that
  /// time, however much of it overlapped. Zero in files of 0.1.
  std::int64_t exclusive_ns = 0;
  std::int64_t alone_ns = 0;  ///< of that, nothing else ran on the device

  /// Not in any file: other launch parameters, if kernels are distinguished by them, and the
  /// innermost operator at the launch.
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;
  std::string op;

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(launches); }
  bool operator==(const KernelUse&) const = default;
};
constexpr auto fields(std::type_identity<KernelUse>) {
  using schema::field;
  return field_list(
      field("name", &KernelUse::name, "canonical, the same whichever tool saw it").required(),
      field("short_name", &KernelUse::short_name, "for display").required(),
      field("printed_name", &KernelUse::printed_name, "as nsys wrote it").required(),
      field("class", &KernelUse::kernel_class, "by conf/kernels/classes.yaml").required(),
      field("grid", &KernelUse::grid, "x, y, z; empty: not recorded").required(),
      field("block", &KernelUse::block, "x, y, z; empty: not recorded").required(),
      field("ranges", &KernelUse::ranges, "NVTX ranges around its launch, outermost first")
          .required(),
      field("launch_recorded", &KernelUse::launch_recorded,
            "false: no record of the launch, so its ranges are not known")
          .required(),
      field("capture", &KernelUse::capture, "the capture it belongs to").required(),
      field("device", &KernelUse::device, "as CUDA counts them").required(),
      field("calls", &KernelUse::launches, "launches").required(),
      field("total_ns", &KernelUse::total_ns, "of all launches").required(),
      field("min_ns", &KernelUse::min_ns, "of one launch").required(),
      field("max_ns", &KernelUse::max_ns, "of one launch").required(),
      field("median_ns", &KernelUse::median_ns, "of one launch").required(),
      field("exclusive_ns", &KernelUse::exclusive_ns, "its part of the time the device was busy"),
      field("alone_ns", &KernelUse::alone_ns, "of that, nothing else ran on the device"));
}

/// The time by which kernels are ranked and from which their shares are computed.
struct KernelRanking {
  bool by_exclusive = false;  ///< else by the sum of durations

  /// For a kernel, a part of one, or a table of them: anything with both times.
  template <typename Times>
  auto ns(const Times& times) const {
    return by_exclusive ? times.exclusive_ns : times.total_ns;
  }
};

/// The ranking of kernels that together have these times: by exclusive time if the durations add up
/// to clearly more than the time that the kernels took together.
template <typename Times>
KernelRanking ranking_of(const Times& all) {
  constexpr double kConcurrent = 1.05;
  const auto exclusive_ns = static_cast<double>(all.exclusive_ns);
  return {exclusive_ns > 0 && static_cast<double>(all.total_ns) > kConcurrent * exclusive_ns};
}

/// `nsys/kernels.json`: every kernel of every capture, most time first.
struct NsysKernels {
  static constexpr DocumentKind kKind{"nsys_kernels", 1};

  std::string tool;  ///< `nsys 2023.4.4`
  std::uint64_t launches = 0;
  std::int64_t total_ns = 0;
  std::int64_t exclusive_ns = 0;        ///< zero in files of 0.1
  std::optional<std::string> why_none;  ///< when there are no kernels
  std::vector<KernelUse> kernels;

  bool operator==(const NsysKernels&) const = default;
};
constexpr auto fields(std::type_identity<NsysKernels>) {
  using schema::field;
  return field_list(field("tool", &NsysKernels::tool, "the profiler and its version").required(),
                    field("launches", &NsysKernels::launches, "of all rows").required(),
                    field("total_ns", &NsysKernels::total_ns, "of all rows").required(),
                    field("exclusive_ns", &NsysKernels::exclusive_ns, "of all rows"),
                    field("why_none", &NsysKernels::why_none, "why there are no rows"),
                    field("kernels", &NsysKernels::kernels, "most time first").required());
}

}  // namespace profline
