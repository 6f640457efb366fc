#pragma once

#include <optional>
#include <span>

#include "kernel_lab/lab.h"
#include "kernel_lab/launch_census.h"

namespace profline::kernel_lab {

/// Runs the program once more, or reads a capture of it, to see which kernels it launches. Nothing
/// when nobody is to count. What the pass leaves lies in `<folder>/count`.
Result<std::optional<SeenLaunches>> count_launches(const LabRequest& request,
                                                   std::span<const WantedKernel> kernels,
                                                   const LabTools& tools,
                                                   const LabServices& services);

/// Redraws the progress line while a child runs.
class Ticking : public RunObserver {
 public:
  explicit Ticking(Progress& progress) : progress_(progress) {}
  void output(std::string_view) override { progress_.tick(); }

 private:
  Progress& progress_;
};

}  // namespace profline::kernel_lab
