#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace profline::testing {

/// The content of a generated trace, known without reading it.
struct GeneratedTrace {
  std::uint64_t events = 0;
  std::uint64_t kernels = 0;
  std::uint64_t operators = 0;
  std::uint64_t calls = 0;
  std::uint64_t flows = 0;
  std::int64_t kernel_ns = 0;
  std::uint64_t bytes = 0;
};

/// A Kineto-like trace of an LLM that decodes: steps of nested operators, each with a launch, a
/// kernel and the arrow between them; byte for byte the same for the same number of events (there
/// are at least as many as requested). For benchmarks and tests of volume.
Result<GeneratedTrace> generate_trace(std::uint64_t events,
                                      const std::function<Result<void>(std::string_view)>& sink);

}  // namespace profline::testing
