#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "testing/captures/generated_trace.h"
#include "testing/peak_memory.h"
#include "testing/temp_dir.h"
#include "tools/torch_profiler/trace.h"

// From a trace on disk to finished tables. 10^5 to 10^6 events; set PROFLINE_BENCH_LARGE for 10^7,
// a file of four gigabytes.
namespace profline::torch_profiler {
namespace {

testing::GeneratedTrace write_trace(const std::filesystem::path& path, std::uint64_t events) {
  auto file = AtomicFile::create(path);
  PL_ASSERT(file.has_value(), "a temporary folder can be written to");
  const auto made =
      testing::generate_trace(events, [&](std::string_view text) { return file->append(text); });
  PL_ASSERT(made.has_value() && file->commit().has_value(), "there is room for the trace");
  return *made;
}

/// The second argument is the number of threads.
void kineto_trace(benchmark::State& state) {
  const testing::TempDir folder;
  const auto path = folder.path() / "trace.json";
  const testing::GeneratedTrace made =
      write_trace(path, static_cast<std::uint64_t>(state.range(0)));
  testing::reset_peak_memory();
  const std::uint64_t before = testing::peak_memory_bytes();
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto timeline = read_trace(path, {.threads = static_cast<unsigned>(state.range(1))});
    if (!timeline || timeline->work.size() != made.kernels ||
        timeline->reading.events() != made.events) {
      state.SkipWithError("the trace was not read as it was made");
      return;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(made.bytes));
  state.counters["file_MB"] = static_cast<double>(made.bytes) / 1e6;
  state.counters["peak_MB"] = static_cast<double>(testing::peak_memory_bytes() - before) / 1e6;
}

/// What people do today, on the same file: json.load, then grouping. Judge the other benchmark by
/// its ratio to this one.
void python_json_load_and_group(benchmark::State& state) {
  const testing::TempDir folder;
  const auto path = folder.path() / "trace.json";
  const auto script = folder.path() / "group.py";
  const testing::GeneratedTrace made =
      write_trace(path, static_cast<std::uint64_t>(state.range(0)));
  std::ofstream(script) << R"(
import collections, json, sys
kernels, operators, launches = {}, {}, {}
for event in json.load(open(sys.argv[1]))["traceEvents"]:
    category = event.get("cat")
    if category == "kernel":
        row = kernels.setdefault((event["name"], tuple(event["args"]["grid"])), [0, 0.0])
    elif category == "cpu_op":
        row = operators.setdefault(event["name"], [0, 0.0])
    else:
        if category == "cuda_runtime":
            launches[event["args"]["correlation"]] = event
        continue
    row[0] += 1
    row[1] += event["dur"]
)";
  const std::string command = "python3 " + script.string() + " " + path.string();
  for (auto unused : state) {
    static_cast<void>(unused);
    // NOLINTNEXTLINE(cert-env33-c): our own words, of a temporary folder
    if (std::system(command.c_str()) != 0) {
      state.SkipWithError("python3 is missing or failed");
      return;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(made.bytes));
}
BENCHMARK(python_json_load_and_group)->Unit(benchmark::kMillisecond)->UseRealTime()->Arg(100'000);

const auto* const kRegistered = [] {
  auto* bench = benchmark::RegisterBenchmark("kineto_trace", kineto_trace)
                    ->Unit(benchmark::kMillisecond)
                    ->UseRealTime()
                    ->MeasureProcessCPUTime()
                    ->Args({100'000, 1})
                    ->Args({100'000, 2})
                    ->Args({1'000'000, 1})
                    ->Args({1'000'000, 2});
  if (std::getenv("PROFLINE_BENCH_LARGE") != nullptr) {
    bench->Args({10'000'000, 1})->Args({10'000'000, 2});
  }
  return bench;
}();

}  // namespace
}  // namespace profline::torch_profiler
