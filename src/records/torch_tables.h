#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/node.h"
#include "records/document.h"
#include "schema/field.h"

/// The tables of libtorch's profiler as files, whoever computed them: the built-in workload from
/// its own recording, the orchestrator from the trace of a user's program.
namespace profline {

/// An operator, or the program's own scope, over its calls under libtorch's profiler.
struct TorchOperator {
  std::string name;
  std::string shapes;  ///< of its inputs, if rows are grouped by them
  std::uint64_t calls = 0;
  std::int64_t self_cpu_ns = 0;
  std::int64_t total_cpu_ns = 0;
  std::int64_t self_device_ns = 0;
  std::int64_t total_device_ns = 0;

  bool operator==(const TorchOperator&) const = default;
};
constexpr auto fields(std::type_identity<TorchOperator>) {
  return field_list(
      field("name", &TorchOperator::name, "as libtorch calls it").required(),
      field("shapes", &TorchOperator::shapes, "of its inputs, with group_by_input_shape"),
      field("calls", &TorchOperator::calls, "how often").required(),
      field("self_cpu_ns", &TorchOperator::self_cpu_ns, "without operators inside it").required(),
      field("total_cpu_ns", &TorchOperator::total_cpu_ns, "including those").required(),
      field("self_device_ns", &TorchOperator::self_device_ns, "of work that it launched itself")
          .required(),
      field("total_device_ns", &TorchOperator::total_device_ns, "including operators inside it")
          .required());
}

/// `torch_profiler/operators.json`, which the workload writes.
struct TorchOperators {
  static constexpr DocumentKind kKind{"operators", 1};

  std::int64_t duration_ns = 0;
  std::int64_t resolution_ns = 1;
  std::vector<TorchOperator> operators;
  std::vector<TorchOperator> runtime_calls;
  std::vector<TorchOperator> ranges;

  bool operator==(const TorchOperators&) const = default;
};
constexpr auto fields(std::type_identity<TorchOperators>) {
  return field_list(
      field("duration_ns", &TorchOperators::duration_ns, "of the recording").required(),
      field("resolution_ns", &TorchOperators::resolution_ns, "resolution of the times"),
      field("operators", &TorchOperators::operators, "most self time first").required(),
      field("runtime_calls", &TorchOperators::runtime_calls,
            "calls of the CUDA runtime and driver, most self time first"),
      field("ranges", &TorchOperators::ranges, "the program's own scopes"));
}

/// All launches of one kernel, or copies of one kind, on one GPU.
struct TorchKernel {
  std::string name;
  int device = 0;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  bool operator==(const TorchKernel&) const = default;
};

/// Sorts rows by self time, on the device, then on the host: a run on a CPU has only the latter.
void sort_operators(std::vector<TorchOperator>& rows);

/// operators.json, `profline.operators/1`, and operators.md: the most important rows, with full
/// names.
Node operators_document(const TorchOperators& table);
std::string operators_markdown(const TorchOperators& table);

/// kernels.json, `profline.kernels/1`, and kernels.md. Both state `why_none` if there are no rows.
Node kernels_document(const std::vector<TorchKernel>& rows, const std::string& why_none);
std::string kernels_markdown(const std::vector<TorchKernel>& rows, const std::string& why_none);

}  // namespace profline
