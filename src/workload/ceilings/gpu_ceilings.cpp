#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/figures.h"
#include "workload/ceilings/internal/bench.h"
#include "workload/ceilings/internal/products.h"
#include "workload/ceilings/kernels/memory_loops.h"
#include "workload/torch_runtime.h"

namespace profline::workload::ceilings {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kGiB = std::size_t{1} << 30U;

cudaStream_t stream() {
  return at::cuda::getCurrentCUDAStream();
}

void wait() {
  C10_CUDA_CHECK(cudaStreamSynchronize(stream()));
}

at::Device current_device() {
  return {at::kCUDA, c10::cuda::current_device()};
}

at::Tensor device_bytes(std::size_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)},
                   at::TensorOptions().dtype(at::kByte).device(current_device()));
}

at::Tensor checksums() {
  return at::zeros({kChecksums}, at::TensorOptions().dtype(at::kInt).device(current_device()));
}

std::uint32_t* words(const at::Tensor& tensor) {
  return static_cast<std::uint32_t*>(tensor.data_ptr());
}

/// Does something that may throw libtorch's exceptions; what was not measured becomes a note.
void attempt(Bench& bench, const std::string& what, const std::function<void()>& body) {
  if (bench.lacks_time_for(what)) return;
  const Result<void> done = catch_torch([&]() -> Result<void> {
    body();
    return {};
  });
  if (!done) bench.note(what + ": " + done.error().message());
}

CeilingFigure memory_figure(std::string name, std::size_t bytes) {
  CeilingFigure figure;
  figure.kind = "memory";
  figure.name = std::move(name);
  figure.shape = human_bytes(bytes);
  figure.unit = "B/s";
  return figure;
}

// Latencies.

/// A graph of so many kernels, ready to launch.
class Graph {
 public:
  explicit Graph(int kernels) {
    cudaStream_t own = nullptr;
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    C10_CUDA_CHECK(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels; ++i) C10_CUDA_CHECK(launch_nothing(own));
    C10_CUDA_CHECK(cudaStreamEndCapture(own, &graph_));
    C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(&executable_, graph_, 0));
    C10_CUDA_CHECK(cudaStreamDestroy(own));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void launch() const { C10_CUDA_CHECK(cudaGraphLaunch(executable_, stream())); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// The median time of `body` by the host's clock.
Seconds median_time(const Bench& bench, int times, const std::function<void()>& body) {
  body();
  wait();
  std::vector<Seconds> durations;
  for (int i = 0; i < times; ++i) {
    const Clock::Steady begin = bench.clock().now();
    body();
    durations.emplace_back(bench.clock().now() - begin);
  }
  std::nth_element(durations.begin(), durations.begin() + times / 2, durations.end());
  return durations[static_cast<std::size_t>(times / 2)];
}

void measure_launches(Bench& bench) {
  struct Case {
    const char* name;
    const char* detail;
    int kernels;  ///< or graphs that each body launches; their time is divided by it
    int times;
    std::function<void()> body;
  };
  constexpr int kMany = 1000;
  const Graph of_one(1);
  const Graph of_many(kMany);
  const std::vector<Case> cases = {
      {"kernel launch", "empty kernels, one after another", kMany, 11,
       [&] {
         for (int i = 0; i < kMany; ++i) C10_CUDA_CHECK(launch_nothing(stream()));
         wait();
       }},
      {"kernel launch and wait", "an empty kernel, until the host knows that it is done", 1, 501,
       [&] {
         C10_CUDA_CHECK(launch_nothing(stream()));
         wait();
       }},
      {"graph launch", "graphs of one empty kernel, one after another", kMany, 11,
       [&] {
         for (int i = 0; i < kMany; ++i) of_one.launch();
         wait();
       }},
      {"graph launch and wait", "a graph of one empty kernel", 1, 501,
       [&] {
         of_one.launch();
         wait();
       }},
      {"kernel in a graph", "empty kernels of one graph, each after the one before", kMany, 101,
       [&] {
         of_many.launch();
         wait();
       }},
  };
  for (const Case& one : cases) {
    const Seconds whole = median_time(bench, one.times, one.body);
    bench.add_latency(one.name, one.detail, whole / one.kernels, whole * one.times);
  }
}

// Transfers.

/// Memory of the host that the device can reach directly.
class PinnedBytes {
 public:
  explicit PinnedBytes(std::size_t bytes) { C10_CUDA_CHECK(cudaMallocHost(&start_, bytes)); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes() { cudaFreeHost(start_); }
  void* get() const { return start_; }

 private:
  void* start_ = nullptr;
};

void measure_transfers(Bench& bench) {
  constexpr std::size_t kBytes = 256 * kMiB;
  const PinnedBytes host(kBytes);
  const at::Tensor device = device_bytes(kBytes);
  C10_CUDA_CHECK(launch_fill(device.data_ptr(), kBytes, 1, stream()));
  C10_CUDA_CHECK(
      cudaMemcpyAsync(host.get(), device.data_ptr(), kBytes, cudaMemcpyDeviceToHost, stream()));
  wait();
  Pace pace = bench.pace();
  pace.sustained = pace.sustained / 2;
  for (const bool is_up : {true, false}) {
    CeilingFigure figure = memory_figure(is_up ? "host to device" : "device to host", kBytes);
    figure.kind = "transfer";
    figure.detail = "pinned memory";
    bench.measure(
        std::move(figure), static_cast<double>(kBytes),
        [&] {
          C10_CUDA_CHECK(is_up ? cudaMemcpyAsync(device.data_ptr(), host.get(), kBytes,
                                                 cudaMemcpyHostToDevice, stream())
                               : cudaMemcpyAsync(host.get(), device.data_ptr(), kBytes,
                                                 cudaMemcpyDeviceToHost, stream()));
        },
        pace);
  }
}

// Memory of the device.

std::string text_of(const LoopForm& form) {
  std::string text =
      fmt::format("{} threads per block, {} vectors of 16 bytes each, ", form.threads, form.unroll);
  if (!form.is_resident) {
    text += "one block per tile";
  } else if (form.most_blocks_per_sm == 0) {
    text += "as many blocks as fit";
  } else {
    text += fmt::format("{} per multiprocessor",
                        counted(static_cast<std::uint64_t>(form.most_blocks_per_sm), "block"));
  }
  if (form.is_plain) text += ", plain loads";
  if (form.is_chunked) text += ", a contiguous part per block";
  return text;
}

std::vector<LoopForm> forms_of(MemoryLoop loop) {
  std::vector<LoopForm> forms;
  for (const int unroll : {4, 8, 16}) {
    for (const int threads : {256, 512, 1024}) {
      for (const bool is_resident : {true, false}) forms.push_back({unroll, threads, is_resident});
      if (loop != MemoryLoop::Read) continue;
      forms.push_back({unroll, threads, false, true});
      for (const int most_blocks : {0, 1, 2}) {
        for (const bool is_plain : {true, false}) {
          forms.push_back({unroll, threads, true, is_plain, true, most_blocks});
        }
        forms.push_back({unroll, threads, true, true, false, most_blocks});
      }
    }
  }
  return forms;
}

Seconds duration_of(const Bench& bench, const MemoryWork& work, Seconds least) {
  return bench.duration_of([&] { C10_CUDA_CHECK(launch_memory_loop(work, stream())); }, least);
}

/// The form that moves the most bytes.
LoopForm best_form(const Bench& bench, MemoryWork work) {
  const std::vector<LoopForm> forms = forms_of(work.loop);
  return forms[fastest(bench, forms.size(), [&](std::size_t index, Seconds least) {
    work.form = forms[index];
    return duration_of(bench, work, least);
  })];
}

/// Reads all three arrays, which follow each other, if that is faster than reading one.
void read_more_if_faster(const Bench& bench, MemoryWork& work) {
  constexpr std::size_t kArrays = 3;
  MemoryWork all = work;
  all.bytes = kArrays * work.bytes;
  const bool is_faster = fastest(bench, 2, [&](std::size_t index, Seconds least) {
                           return index == 0 ? duration_of(bench, work, least)
                                             : duration_of(bench, all, least) / kArrays;
                         }) == 1;
  if (is_faster) work = all;
}

/// Of one of three arrays: far beyond the caches, and no more than an eighth of the free memory.
std::size_t array_bytes() {
  constexpr std::size_t kMost = 8 * kGiB;
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return std::min(free / 8, kMost) / kLoopBytes * kLoopBytes;
}

void measure_dram(Bench& bench) {
  const std::size_t bytes = array_bytes();
  const at::Tensor arrays = device_bytes(3 * bytes);
  const auto array = [&](std::size_t index) {
    return static_cast<std::uint8_t*>(arrays.data_ptr()) + index * bytes;
  };
  const at::Tensor sums = checksums();
  for (std::uint32_t index = 0; index < 3; ++index) {
    C10_CUDA_CHECK(launch_fill(array(index), bytes, index + 1, stream()));
  }
  const std::pair<const char*, MemoryLoop> loops[] = {{"dram read", MemoryLoop::Read},
                                                      {"dram write", MemoryLoop::Write},
                                                      {"dram copy", MemoryLoop::Copy},
                                                      {"dram triad", MemoryLoop::Triad}};
  for (const auto& [name, loop] : loops) {
    if (bench.lacks_time_for(name)) continue;
    MemoryWork work{loop, array(0), array(1), array(2), bytes, words(sums), {}};
    work.form = best_form(bench, work);
    if (loop == MemoryLoop::Read) read_more_if_faster(bench, work);
    CeilingFigure figure = memory_figure(name, work.bytes);
    figure.detail = text_of(work.form);
    bench.measure(
        std::move(figure), static_cast<double>(moved_bytes(work)),
        [&] { C10_CUDA_CHECK(launch_memory_loop(work, stream())); }, bench.pace());
  }
}

void measure_l2(Bench& bench) {
  const auto cache = static_cast<std::size_t>(at::cuda::getCurrentDeviceProperties()->l2CacheSize);
  const at::Tensor sums = checksums();
  constexpr Seconds kTrial{0.02};
  constexpr unsigned kPasses = 65;
  std::optional<CacheWork> best;
  double most = 0;
  const at::Tensor array = device_bytes(std::max(cache, kLoopBytes));
  C10_CUDA_CHECK(launch_fill(array.data_ptr(), array.nbytes(), 1, stream()));
  for (const std::size_t part : {8U, 4U, 2U}) {
    for (const int threads : {256, 512, 1024}) {
      const std::size_t bytes = std::max(cache / part / kLoopBytes, std::size_t{1}) * kLoopBytes;
      const CacheWork work{array.data_ptr(), bytes, kPasses, words(sums), threads};
      const Seconds one =
          bench.duration_of([&] { C10_CUDA_CHECK(launch_cache_loop(work, stream())); }, kTrial);
      const double rate = static_cast<double>(bytes) * kPasses / one.count();
      if (rate <= most) continue;
      most = rate;
      best = work;
    }
  }
  if (!best) return;
  CeilingFigure figure = memory_figure("l2 read", best->bytes);
  figure.detail = fmt::format("{} threads per block, past the L1 caches", best->threads);
  bench.measure(
      std::move(figure), static_cast<double>(best->bytes) * kPasses,
      [&] { C10_CUDA_CHECK(launch_cache_loop(*best, stream())); }, bench.pace());
}

void measure_shared(Bench& bench) {
  const at::Tensor sums = checksums();
  constexpr unsigned kIterations = 20'001;
  const SharedWork work{kIterations, words(sums)};
  std::size_t bytes = 0;
  C10_CUDA_CHECK(launch_shared_loop(work, bytes, stream()));
  CeilingFigure figure = memory_figure("shared read", 32 * (kMiB / 1024));
  figure.shape += " per block";
  figure.detail = "without bank conflicts, on all multiprocessors";
  bench.measure(
      std::move(figure), static_cast<double>(bytes),
      [&] { C10_CUDA_CHECK(launch_shared_loop(work, bytes, stream())); }, bench.pace());
}

/// Squares, and products whose tiles of 128 x 256 fill all multiprocessors evenly.
ProductPlan product_plan() {
  const std::int64_t even =
      std::int64_t{64} * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  ProductPlan plan;
  const std::vector<std::pair<std::int64_t, std::int64_t>> sides = {
      {2048, 2048}, {4096, 4096}, {even, 4096},     {8192, 8192},
      {even, 8192}, {8192, even}, {2 * even, 8192}, {16384, 16384}};
  for (const auto& [m, n] : sides) {
    for (const std::int64_t k : {4096, 8192}) {
      for (const bool is_transposed : {true, false})
        plan.candidates.push_back({m, n, k, is_transposed});
    }
  }
  plan.typical = {{4096, 4096, 4096}, {2048, 4096, 4096}, {256, 4096, 4096}, {16, 4096, 4096}};
  return plan;
}

/// Only as [n, k], which is what products of fp8 take.
ProductPlan transposed_only(ProductPlan plan) {
  plan.candidates.erase(
      std::remove_if(plan.candidates.begin(), plan.candidates.end(),
                     [](const ProductShape& shape) { return !shape.is_transposed; }),
      plan.candidates.end());
  return plan;
}

}  // namespace

bool can_measure_gpu() {
  return true;
}

std::string cuda_device_name(int index) {
  return at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index))->name;
}

void use_cuda_device(int index) {
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
}

void measure_gpu_latencies(Bench& bench) {
  attempt(bench, "launches", [&] { measure_launches(bench); });
}

void measure_gpu(Bench& bench) {
  attempt(bench, "transfers", [&] { measure_transfers(bench); });
  attempt(bench, "dram", [&] { measure_dram(bench); });
  c10::cuda::CUDACachingAllocator::emptyCache();
  attempt(bench, "l2 read", [&] { measure_l2(bench); });
  attempt(bench, "shared read", [&] { measure_shared(bench); });
  const ProductPlan plan = product_plan();
  for (const Format format : {Format::Bf16, Format::Fp16, Format::Tf32, Format::Fp32}) {
    measure_products(bench, format, current_device(), plan);
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
  for (const Format format : {Format::Fp8, Format::Fp8Fast}) {
    measure_products(bench, format, current_device(), transposed_only(plan));
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
}

}  // namespace profline::workload::ceilings
