#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "base/figures.h"
#include "workload/ceilings/internal/bench.h"
#include "workload/ceilings/internal/cpu_loops.h"
#include "workload/ceilings/internal/products.h"
#include "workload/torch_runtime.h"

namespace profline::workload::ceilings {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// 0 if the system does not know.
std::size_t system_value(int name) {
  const long value = ::sysconf(name);  // NOLINT(google-runtime-int): the system's type
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

/// Of one array, so large that the caches do not matter, if there is memory for three of them.
std::size_t array_bytes() {
  constexpr std::size_t kUsualCache = 32 * kMiB;
  constexpr std::size_t kShare = 16;
  const std::size_t cache = std::max(system_value(_SC_LEVEL3_CACHE_SIZE), kUsualCache);
  const std::size_t memory = system_value(_SC_AVPHYS_PAGES) * system_value(_SC_PAGESIZE);
  const std::size_t wanted = std::clamp(4 * cache, 128 * kMiB, 1024 * kMiB);
  return std::max(std::min(wanted, memory / kShare), 16 * kMiB) / kMiB * kMiB;
}

/// Every thread has its own part of each array, touches it first and works on nothing else.
class Arrays {
 public:
  Arrays(std::size_t bytes, int threads)
      : threads_(static_cast<std::size_t>(threads)),
        part_(bytes / sizeof(float) / threads_ / kAlignment * kAlignment) {
    for (at::Tensor* array : {&a_, &b_, &to_}) {
      *array = at::empty({static_cast<std::int64_t>(part_ * threads_)}, at::kFloat);
    }
    in_parallel([this](std::size_t first) {
      for (at::Tensor* array : {&a_, &b_, &to_}) {
        float* const values = array->data_ptr<float>() + first;
        for (std::size_t i = 0; i < part_; ++i) {
          values[i] = static_cast<float>((first + i) % kPeriod);
        }
      }
    });
  }

  double bytes() const { return static_cast<double>(part_ * threads_ * sizeof(float)); }

  void read() {
    in_parallel([this](std::size_t first) { found_ ^= read_words(words(first), part_ / 2); });
  }
  void write() {
    in_parallel([this](std::size_t first) {
      std::memset(to_.data_ptr<float>() + first, kFill, part_ * sizeof(float));
    });
  }
  void copy() {
    in_parallel([this](std::size_t first) {
      std::memcpy(to_.data_ptr<float>() + first, a_.data_ptr<float>() + first,
                  part_ * sizeof(float));
    });
  }
  void triads() {
    in_parallel([this](std::size_t first) {
      triad(to_.data_ptr<float>() + first, a_.data_ptr<float>() + first,
            b_.data_ptr<float>() + first, part_);
    });
  }
  /// Each thread reads `bytes` of its own `passes` times.
  void read_repeatedly(std::size_t bytes, std::size_t passes) {
    in_parallel([=, this](std::size_t first) {
      std::uint64_t found = 0;
      for (std::size_t i = 0; i < passes; ++i) {
        found += read_words(words(first), bytes / sizeof(std::uint64_t));
        // The compiler must not know that the memory is the same in the next pass.
        asm volatile("" ::: "memory");
      }
      found_ ^= found;
    });
  }

 private:
  static constexpr std::size_t kAlignment = 1024;
  static constexpr std::size_t kPeriod = 1021;
  static constexpr int kFill = 0x41;

  template <typename Body>
  void in_parallel(const Body& body) {
    at::parallel_for(0, static_cast<std::int64_t>(threads_), 1,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t i = begin; i < end; ++i) {
                         body(static_cast<std::size_t>(i) * part_);
                       }
                     });
  }
  const std::uint64_t* words(std::size_t first) const {
    return reinterpret_cast<const std::uint64_t*>(a_.data_ptr<float>() + first);
  }

  std::size_t threads_;
  std::size_t part_;  ///< elements of one thread
  at::Tensor a_, b_, to_;
  std::atomic<std::uint64_t> found_{0};
};

CeilingFigure memory_figure(const char* name, double bytes, int threads) {
  CeilingFigure figure;
  figure.kind = "memory";
  figure.name = name;
  figure.shape = human_bytes(static_cast<std::uint64_t>(bytes));
  figure.unit = "B/s";
  figure.detail = counted(static_cast<std::uint64_t>(threads), "thread");
  return figure;
}

void measure_memory(Bench& bench, int threads) {
  if (bench.lacks_time_for("dram")) return;
  Arrays arrays(bench.array_bytes(array_bytes()), threads);
  const double bytes = arrays.bytes();
  struct Case {
    const char* name;
    double moved;
    void (Arrays::*run)();
  };
  constexpr Case kCases[] = {{"dram read", 1, &Arrays::read},
                             {"dram write", 1, &Arrays::write},
                             {"dram copy", 2, &Arrays::copy},
                             {"dram triad", 3, &Arrays::triads}};
  for (const Case& one : kCases) {
    if (bench.lacks_time_for(one.name)) return;
    bench.measure(
        memory_figure(one.name, bytes, threads), one.moved * bytes, [&] { (arrays.*one.run)(); },
        bench.pace());
  }
  const std::size_t cache = system_value(_SC_LEVEL2_CACHE_SIZE);
  if (cache == 0) {
    bench.note("l2 read: not measured, because the system does not know the size of the cache");
    return;
  }
  if (bench.lacks_time_for("l2 read")) return;
  constexpr std::size_t kPasses = 64;
  const std::size_t half = cache / 2;
  const double read = static_cast<double>(half * kPasses) * threads;
  CeilingFigure figure = memory_figure("l2 read", static_cast<double>(half), threads);
  figure.shape += " per thread";
  bench.measure(
      std::move(figure), read, [&] { arrays.read_repeatedly(half, kPasses); }, bench.pace());
}

}  // namespace

void measure_cpu(Bench& bench) {
  const int threads = at::get_num_threads();
  const Result<void> memory = catch_torch([&]() -> Result<void> {
    measure_memory(bench, threads);
    return {};
  });
  if (!memory) bench.note("memory: " + memory.error().message());
  constexpr Seconds kLongestCall{0.3};
  const ProductPlan plan{
      {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}},
      {{1, 2048, 2048}, {128, 2048, 2048}},
      bench.shortened(kLongestCall),
      Seconds(0.05)};
  for (const Format format : {Format::Fp32, Format::Bf16, Format::Fp16}) {
    measure_products(bench, format, at::kCPU, plan);
  }
}

}  // namespace profline::workload::ceilings
