#include "workload/measure/gpu_sampler.h"

#include "formats/json_write.h"

namespace profline::workload {
namespace {

template <typename T>
Node number(const std::optional<T>& value) {
  return value ? Node::integer(static_cast<std::int64_t>(*value)) : Node();
}

}  // namespace

GpuSampler::GpuSampler(Nvml nvml, std::chrono::milliseconds period)
    : nvml_(std::move(nvml)),
      thread_([this, period](const std::stop_token& stopping) { look(stopping, period); }) {}

void GpuSampler::look(const std::stop_token& stopping, std::chrono::milliseconds period) {
  const auto begin = std::chrono::steady_clock::now();
  bool last = false;
  while (!last) {
    last = stopping.stop_requested();
    samples_.push_back({std::chrono::steady_clock::now() - begin, nvml_.state()});
    if (last) return;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stopping, period, [] { return false; });
  }
}

std::vector<GpuSample> GpuSampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return std::move(samples_);
}

std::string to_jsonl(const std::vector<GpuSample>& samples) {
  std::string text;
  for (const GpuSample& sample : samples) {
    NodeMap row;
    row.set("at_ns", Node::integer(sample.at.count()));
    row.set("sm_clock_mhz", number(sample.state.sm_clock_mhz));
    row.set("memory_clock_mhz", number(sample.state.memory_clock_mhz));
    row.set("power_mw", number(sample.state.power_mw));
    row.set("temperature_c", number(sample.state.temperature_c));
    row.set("gpu_utilisation_pct", number(sample.state.gpu_utilisation_pct));
    row.set("memory_used_bytes", number(sample.state.memory_used_bytes));
    row.set("throttle_reasons", number(sample.state.throttle_reasons));
    text += write_json(Node::map(std::move(row)), {.indent = 0}).value() + '\n';
  }
  return text;
}

}  // namespace profline::workload
