#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel_lab/lab.h"
#include "kernel_lab/launches.h"
#include "process/runner.h"
#include "tools/ncu/profile_command.h"

namespace profline::kernel_lab {

/// The outcome of one pass, one record per kernel.
struct PassResult {
  std::vector<CaptureRecord> records;
  bool was_cancelled = false;
};

/// Runs the program under ncu for the kernels of a pass and makes their tables. `counted` names who
/// counted launches, for messages; empty: nobody did.
Result<PassResult> run_pass(const LabRequest& request, const LabTools& tools,
                            const LabServices& services, std::span<const ChosenKernel> kernels,
                            const Pass& pass, const std::string& counted);

/// A record with what is known about a kernel before ncu runs.
CaptureRecord begun_record(const ChosenKernel& kernel);

/// Why a capture failed, from ncu's messages and exit, with a fix; empty if nothing indicates a
/// failure. `regex` and `launches` (how many match, in words; may be empty) are for the message.
std::string why_failed(const ncu::Messages& messages, const Exit& exit, const std::string& regex,
                       const std::string& counted);

/// Runs the program once more, or reads an existing capture of it, to see which kernels it
/// launches. Nothing if counting is off. Files of this pass go to `<folder>/count`.
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
