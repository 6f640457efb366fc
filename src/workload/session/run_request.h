#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/progress.h"
#include "base/result.h"
#include "schema/field.h"
#include "settings/root.h"

namespace profline::workload {

/// The purpose of a run of the workload.
enum class Mode {
  Baseline,         ///< all images, measured: requests.jsonl, metrics.json, texts.jsonl
  Profiled,         ///< the same under an external profiler: requests.jsonl
  TorchProfiler,    ///< the first request under libtorch's profiler
  DirectInference,  ///< all images for their answers
  StaticTrace,      ///< operators and FLOPs of the module graph; runs no image
};
constexpr auto names(std::type_identity<Mode>) {
  using schema::named;
  return std::array{named(Mode::Baseline, "baseline"), named(Mode::Profiled, "profiled"),
                    named(Mode::TorchProfiler, "torch_profiler"),
                    named(Mode::DirectInference, "direct_inference"),
                    named(Mode::StaticTrace, "static_trace")};
}

struct RunRequest {
  settings::Root settings;
  Mode mode = Mode::Baseline;
  std::filesystem::path out;   ///< created if necessary
  std::filesystem::path base;  ///< where relative paths of the settings start
  /// Only this many requests, each with one of the sampled images or a batch of them; absent: all.
  std::optional<std::uint32_t> samples{};
  /// Seed of the image order, if the settings request a random order without a seed.
  std::optional<std::uint64_t> sampling_seed{};
  /// The folder of a baseline whose texts the torch_profiler mode shows.
  std::optional<std::filesystem::path> baseline{};
};

struct RunServices {
  Progress& progress;
  const Clock& clock;
  /// True once the user wants to stop; what is complete by then is still written.
  std::function<bool()> stopping;
};

/// Executes the request. Files appear when they are complete; a run that is stopped writes those of
/// the finished images and returns an Error of kind Cancelled.
Result<void> run_workload(const RunRequest& request, const RunServices& services);

}  // namespace profline::workload
