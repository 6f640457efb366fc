#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "schema/problems.h"
#include "settings/limits.h"
#include "settings/output.h"
#include "settings/stage.h"

namespace profline::settings {

enum class Activity { Cpu, Cuda };
constexpr auto names(std::type_identity<Activity>) {
  return std::array{named(Activity::Cpu, "cpu"), named(Activity::Cuda, "cuda")};
}

/// `pipeline.torch_profiler`: one image under libtorch's profiler.
struct TorchProfiler : Stage {
  TorchProfiler() { enable = Enable::Yes; }

  Enable enabled = Enable::Yes;
  std::vector<Activity> activities{Activity::Cpu, Activity::Cuda};
  bool record_shapes = false;
  bool profile_memory = false;
  bool with_stack = false;
  bool group_by_input_shape = false;
  std::uint32_t warmup_rounds = 2;
  bool warmup_synthetic = true;
  std::optional<std::uint32_t> decode_steps = 64;
  Output output;

  bool operator==(const TorchProfiler&) const = default;
};
constexpr auto fields(std::type_identity<TorchProfiler>) {
  return field_list(
      enable_field(),
      field("enabled", &TorchProfiler::enabled, "what the preset says; `enable` refers to it"),
      field("activities", &TorchProfiler::activities,
            "what is recorded; cuda is left out without a GPU"),
      field("record_shapes", &TorchProfiler::record_shapes, "shapes of operators' inputs"),
      field("profile_memory", &TorchProfiler::profile_memory, "write memory.json"),
      field("with_stack", &TorchProfiler::with_stack, "source lines of operators, where there are"),
      field("group_by_input_shape", &TorchProfiler::group_by_input_shape,
            "one row for each shape in the operator table; needs record_shapes"),
      field("warmup_rounds", &TorchProfiler::warmup_rounds,
            "inferences before anything is recorded")
          .range(0, kMostRounds),
      field("warmup_synthetic", &TorchProfiler::warmup_synthetic,
            "warm up on a grey page instead of the first image"),
      field("decode_steps", &TorchProfiler::decode_steps,
            "tokens recorded after prefill; null: all")
          .range(0, kMostTokens),
      field("output", &TorchProfiler::output, "written from the baseline's texts, after timing"),
      timeout_field());
}
Checks validate(const TorchProfiler& profiler);

}  // namespace profline::settings
