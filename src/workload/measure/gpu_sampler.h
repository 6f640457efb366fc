#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "workload/measure/nvml.h"

namespace profline::workload {

struct GpuSample {
  std::chrono::nanoseconds at{0};  ///< since the sampler began
  GpuState state;
};

/// Looks at a GPU now and then while something else runs, on a thread of its own.
class GpuSampler {
 public:
  explicit GpuSampler(Nvml nvml, std::chrono::milliseconds period = std::chrono::milliseconds(100));
  /// Ends the thread.
  ~GpuSampler() = default;
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  /// Ends the thread after one last look; what it saw.
  std::vector<GpuSample> stop();

 private:
  void look(const std::stop_token& stopping, std::chrono::milliseconds period);

  Nvml nvml_;
  std::vector<GpuSample> samples_;  // the thread's until it has ended
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all of the above
};

/// One line of gpu.jsonl each.
std::string to_jsonl(const std::vector<GpuSample>& samples);

}  // namespace profline::workload
