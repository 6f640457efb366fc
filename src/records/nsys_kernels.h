#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

namespace profline {

/// A kernel of one shape in one place of the program, over its launches in one nsys capture.
struct NsysKernel {
  std::string name;                  ///< canonical: one spelling whichever tool saw it
  std::string short_name;            ///< what people call it
  std::string printed_name;          ///< as nsys wrote it
  std::string kernel_class;          ///< `gemm`, `attention`, ...; `other`
  std::vector<std::uint32_t> grid;   ///< three numbers; empty: not recorded
  std::vector<std::uint32_t> block;  ///< likewise
  /// The NVTX ranges that were open where it was launched, outermost first, as
  /// NsysRange::label; empty: none was, or there is no record of the launch.
  std::vector<std::string> ranges;
  bool launch_recorded = true;  ///< false: nobody can say which ranges it belongs to
  std::string capture;          ///< NsysCapture::name
  std::int32_t device = 0;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  double median_ns = 0;

  bool operator==(const NsysKernel&) const = default;
};
constexpr auto fields(std::type_identity<NsysKernel>) {
  using schema::field;
  return field_list(
      field("name", &NsysKernel::name, "canonical, the same whichever tool saw it").required(),
      field("short_name", &NsysKernel::short_name, "what people call it").required(),
      field("printed_name", &NsysKernel::printed_name, "as nsys wrote it").required(),
      field("class", &NsysKernel::kernel_class, "by conf/kernels/classes.yaml").required(),
      field("grid", &NsysKernel::grid, "x, y, z; empty: not recorded").required(),
      field("block", &NsysKernel::block, "x, y, z; empty: not recorded").required(),
      field("ranges", &NsysKernel::ranges, "NVTX ranges around its launch, outermost first")
          .required(),
      field("launch_recorded", &NsysKernel::launch_recorded,
            "false: no record of the launch, so its ranges are not known")
          .required(),
      field("capture", &NsysKernel::capture, "which capture it is of").required(),
      field("device", &NsysKernel::device, "as CUDA counts them").required(),
      field("calls", &NsysKernel::calls, "launches").required(),
      field("total_ns", &NsysKernel::total_ns, "of all launches").required(),
      field("min_ns", &NsysKernel::min_ns, "of one launch").required(),
      field("max_ns", &NsysKernel::max_ns, "of one launch").required(),
      field("median_ns", &NsysKernel::median_ns, "of one launch").required());
}

/// `nsys/kernels.json`: every kernel of every capture, most time first.
struct NsysKernels {
  static constexpr DocumentKind kKind{"nsys_kernels", 1};

  std::string tool;  ///< `nsys 2023.4.4`
  std::uint64_t launches = 0;
  std::int64_t total_ns = 0;
  std::optional<std::string> why_none;  ///< when there are no kernels
  std::vector<NsysKernel> kernels;

  bool operator==(const NsysKernels&) const = default;
};
constexpr auto fields(std::type_identity<NsysKernels>) {
  using schema::field;
  return field_list(field("tool", &NsysKernels::tool, "what captured").required(),
                    field("launches", &NsysKernels::launches, "of all rows").required(),
                    field("total_ns", &NsysKernels::total_ns, "of all rows").required(),
                    field("why_none", &NsysKernels::why_none, "why there are no rows"),
                    field("kernels", &NsysKernels::kernels, "most time first").required());
}

}  // namespace profline
