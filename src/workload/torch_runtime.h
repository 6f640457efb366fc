#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include <ATen/ATen.h>

#include "base/result.h"
#include "formats/node.h"

namespace profline::workload {

/// Makes libtorch and its BLAS use this many CPU threads from now on.
///
/// libtorch's own switch does not reach Debian's OpenBLAS, which then starts a thread per core for
/// every large product; on a busy machine those wait for each other (the tiny model's first tower
/// took 226 ms instead of 2.5 on two loaded cores).
void use_threads(int count);

/// The libtorch that this program runs with, as far as it determines what can be measured and how
/// fast.
struct TorchBuild {
  std::string version;   ///< "1.13.0"
  bool cuda = false;     ///< compiled with CUDA
  int cuda_devices = 0;  ///< devices it can use now
  std::string blas;      ///< "OpenBLAS 0.3.21 …", "MKL", "reference": what multiplies matrices
  int threads = 0;       ///< libtorch's default
};

TorchBuild torch_build();

/// As `profline.torch_build/1`.
Node to_node(const TorchBuild& build);

/// An exception of libtorch as an Error: the first line of its message, without its stack.
Error torch_error(const std::exception& thrown);

/// Runs `body`, which may return a Result or a plain value; an exception of libtorch becomes an
/// Error. The only place where its exceptions are caught.
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

/// The device named `cpu`, `cuda` or `cuda:N`; an Error if this libtorch or this machine does not
/// have it.
Result<at::Device> open_device(std::string_view name);

}  // namespace profline::workload
