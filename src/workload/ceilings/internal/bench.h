#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "records/ceilings.h"
#include "tools/gpu/driver.h"
#include "workload/ceilings/measure_ceilings.h"
#include "workload/ceilings/pace.h"

namespace profline::workload::ceilings {

/// What is measured, while it is measured.
class Bench {
 public:
  Bench(const CeilingsRequest& request, const CeilingsServices& services, DeviceClock& device);

  /// Whether there is no time left for another figure, or the user wants to stop.
  bool is_over() const;
  bool is_stopped() const { return services_.stopping && services_.stopping(); }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// Notes what is left out because the time is up; true if so.
  bool lacks_time_for(const std::string& what);

  /// At most, of an array in a CPU's memory.
  std::size_t array_bytes(std::size_t usual) const;
  /// The usual pace for a device, shortened if the time is short.
  Pace pace() const;
  /// A duration, shortened in the same way.
  Seconds shortened(Seconds usual) const { return usual * factor_; }
  Seconds duration_of(const std::function<void()>& call, Seconds least) const {
    return duration_of_call(paced_, call, shortened(least));
  }

  /// Measures a rate: each call does `amount` of the figure's unit.
  void measure(CeilingFigure figure, double amount, const std::function<void()>& call,
               const Pace& pace);
  /// The same, without keeping the figure.
  PacedRates rates_of(const CeilingFigure& figure, double amount, const std::function<void()>& call,
                      const Pace& pace) const;
  void add(CeilingFigure figure, PacedRates rates);
  /// A time in nanoseconds that was measured elsewhere.
  void add_latency(std::string name, std::string detail, Seconds one, Seconds measured);

  /// All figures; samples of the GPU show the clocks of each. `began` is when the sampler began.
  std::vector<CeilingFigure> take(const std::vector<gpu::GpuSample>& samples, Clock::Steady began);
  std::vector<std::string> take_notes() { return std::move(notes_); }
  const Clock& clock() const { return services_.clock; }
  Progress& progress() { return services_.progress; }

 private:
  struct Measured {
    CeilingFigure figure;
    PacedRates rates;
  };
  const CeilingsServices& services_;
  PaceServices paced_;
  Clock::Steady deadline_;
  double factor_ = 1;
  std::size_t most_bytes_ = 0;
  std::vector<Measured> measured_;
  std::vector<std::string> notes_;
};

/// Which of `count` ways of doing the same thing takes least time. Each has a short trial and the
/// best three a longer one; when the time is up, the best so far is chosen. `time_of` measures a
/// way over at least the given time.
std::size_t fastest(const Bench& bench, std::size_t count,
                    const std::function<Seconds(std::size_t, Seconds)>& time_of);

/// Measures the figures of a CPU with libtorch's current number of threads.
void measure_cpu(Bench& bench);

/// Whether this program was built with the loops of a GPU.
bool can_measure_gpu();
/// Measures the figures of the current CUDA device: what needs no clock readings, then the rest.
void measure_gpu_latencies(Bench& bench);
void measure_gpu(Bench& bench);
/// The driver's name for a CUDA device.
std::string cuda_device_name(int index);
/// Makes a CUDA device the current one.
void use_cuda_device(int index);

}  // namespace profline::workload::ceilings
