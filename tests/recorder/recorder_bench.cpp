// What a range costs under the recorder, in nanoseconds of CPU time per pair of push and pop: at
// most 100 with one thread and with four. `clock_twice` is the part that reading the time twice
// takes.
//
// The program's environment is set before its first range, as profline does it.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <nvtx3/nvToolsExt.h>
#include <profline/phases.h>
#include <time.h>

namespace {

namespace fs = std::filesystem;

/// Where the recording goes, for as long as the benchmark runs.
class Environment {
 public:
  Environment() {
    std::string pattern = fs::temp_directory_path() / "profline-recorder-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
    const fs::path library = fs::canonical("/proc/self/exe").parent_path().parent_path() /
                             "lib/profline/libprofline-recorder.so";
    ::setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
    ::setenv("PROFLINE_RECORDER", library.c_str(), 1);
    ::setenv("PROFLINE_RECORD_DIR", folder_.c_str(), 1);
    ::setenv("PROFLINE_RECORD_LIMIT", "17179869184", 1);
  }
  ~Environment() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  fs::path folder_;
};

const Environment kEnvironment;

/// A loss would make the recorder faster than it is.
void check_nothing_was_lost(benchmark::State& state) {
  if (profline_dropped() > 0) state.SkipWithError("events were lost");
}

void clock_twice(benchmark::State& state) {
  timespec time{};
  for (auto _ : state) {
    clock_gettime(CLOCK_MONOTONIC, &time);
    benchmark::DoNotOptimize(time);
    clock_gettime(CLOCK_MONOTONIC, &time);
    benchmark::DoNotOptimize(time);
  }
}

void nvtx_push_pop(benchmark::State& state) {
  for (auto _ : state) {
    nvtxRangePushA("decode_step");
    nvtxRangePop();
  }
  check_nothing_was_lost(state);
}

void nvtx_nested(benchmark::State& state) {
  for (auto _ : state) {
    nvtxRangePushA("decode");
    nvtxRangePushA("decode_step");
    nvtxRangePop();
    nvtxRangePop();
  }
  check_nothing_was_lost(state);
}

void nvtx_domain_registered(benchmark::State& state) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "decode_step");
  for (auto _ : state) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  check_nothing_was_lost(state);
}

void phases_push_pop(benchmark::State& state) {
  for (auto _ : state) {
    profline_range_push("decode_step");
    profline_range_pop();
  }
  check_nothing_was_lost(state);
}

BENCHMARK(clock_twice)->Threads(1)->Threads(4);
BENCHMARK(nvtx_push_pop)->Threads(1)->Threads(4);
BENCHMARK(nvtx_nested)->Threads(1)->Threads(4);
BENCHMARK(nvtx_domain_registered)->Threads(1)->Threads(4);
BENCHMARK(phases_push_pop)->Threads(1)->Threads(4);

}  // namespace
