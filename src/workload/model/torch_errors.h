#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace profline::workload {

/// What libtorch threw, as an Error: the first line of its message, without its stack.
Error torch_error(const std::exception& thrown);

/// Runs `body`, which may return a Result or a plain value; what libtorch throws in it becomes an
/// Error. The only place where its exceptions end.
template <typename Body>
auto catch_torch(const Body& body) {
  using Value = std::invoke_result_t<Body>;
  constexpr bool kIsResult = requires(Value value) {
    value.error();
  };
  using Outcome = typename std::conditional_t<kIsResult, std::type_identity<Value>,
                                              std::type_identity<Result<Value>>>::type;
  try {
    return Outcome(body());
  } catch (const std::exception& thrown) {
    return Outcome(torch_error(thrown));
  }
}

}  // namespace profline::workload
