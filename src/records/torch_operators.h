#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/document.h"
#include "schema/field.h"

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

}  // namespace profline
