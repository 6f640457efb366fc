#pragma once

namespace profline::testing {

/// A config that runs only /bin/true for its baseline; it ends inside its hydra node, where text
/// can be appended.
inline constexpr const char* kShortRun =
    "defaults:\n"
    "  - demo\n"
    "  - _self_\n"
    "device: cpu\n"
    "pipeline:\n"
    "  static_analysis: {enable: false}\n"
    "  baseline: {enable: true}\n"
    "  torch_profiler: {enable: false}\n"
    "  nsys: {enable: false}\n"
    "  workload: {command: ['true']}\n"
    "hydra:\n"
    "  run: {dir: run}\n"
    "  sweep: {dir: sweep}\n";

}  // namespace profline::testing
