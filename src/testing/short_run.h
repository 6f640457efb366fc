#pragma once

namespace profline::testing {

/// A config that runs /bin/true for its baseline and nothing else; what is added to it is in its
/// hydra node.
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
