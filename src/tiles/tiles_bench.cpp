#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/error.h"
#include "base/files.h"
#include "testing/captures/nsys_export.h"
#include "testing/peak_memory.h"
#include "testing/temp_dir.h"
#include "tiles/answer.h"
#include "tiles/build.h"

// The index of an nsys export of 10^5 kernels (and as many calls); set PROFLINE_BENCH_LARGE for
// 10^7, an export of 1.2 GB.
namespace profline::tiles {
namespace {

/// A capture of so many kernels, and the file of its index.
struct Made {
  explicit Made(std::uint64_t count) : kernels(count) {
    is_made = testing::write_decode_loop(capture, {.kernels = count}).has_value();
  }

  std::uint64_t kernels;
  testing::TempDir folder;
  std::filesystem::path capture = folder / "x.sqlite";
  std::filesystem::path index = folder / "x.tiles";
  bool is_made = false;
};

/// Made once for all benchmarks of a size: it takes longer than they do.
Made& made(const benchmark::State& state) {
  static std::unique_ptr<Made> last;
  const auto kernels = static_cast<std::uint64_t>(state.range(0));
  if (!last || last->kernels != kernels) {
    last.reset();
    last = std::make_unique<Made>(kernels);
  }
  return *last;
}

Result<Index> opened_index(const benchmark::State& state) {
  const Made& files = made(state);
  if (!std::filesystem::exists(files.index)) {
    PL_TRY(build_index(files.capture, files.index, "bench"));
  }
  return Index::open(files.index, "bench");
}

void build(benchmark::State& state) {
  const Made& files = made(state);
  if (!files.is_made) return state.SkipWithError("no capture");
  testing::reset_peak_memory();
  const std::uint64_t before = testing::peak_memory_bytes();
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!build_index(files.capture, files.index, "bench")) return state.SkipWithError("no index");
  }
  const auto megabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  state.counters["capture_MB"] = megabytes(std::filesystem::file_size(files.capture));
  state.counters["index_MB"] = megabytes(std::filesystem::file_size(files.index));
  state.counters["peak_MB"] = megabytes(testing::peak_memory_bytes() - before);
}

/// Makes the system forget what it has read of a file.
bool forget(const std::filesystem::path& file) {
  const auto descriptor = open_for_reading(file);
  return descriptor && ::fdatasync(descriptor->get()) == 0 &&
         ::posix_fadvise(descriptor->get(), 0, 0, POSIX_FADV_DONTNEED) == 0;
}

enum class Cache { Warm, Cold };

/// Windows of every size anywhere in the capture, of all lanes, 1,600 pixels wide, as JSON: 1,000,
/// or 200 with a cold page cache.
void windows(benchmark::State& state, Cache cache) {
  if (!opened_index(state)) return state.SkipWithError("no index");
  const auto opened_at = std::chrono::steady_clock::now();
  const auto index = opened_index(state);
  const std::chrono::duration<double, std::milli> opening =
      std::chrono::steady_clock::now() - opened_at;
  std::mt19937_64 random(1);
  std::vector<double> milliseconds;
  std::size_t bytes = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    for (int window = 0; window < (cache == Cache::Warm ? 1000 : 200); ++window) {
      const auto length = static_cast<std::uint64_t>(index->facts().length_ns);
      // From the whole capture down to a microsecond, each size as likely as its double.
      std::uint64_t wide = std::max<std::uint64_t>(length >> (random() % 27), 1000);
      wide -= random() % (wide / 2);
      const std::uint64_t from = random() % (length - std::min(wide, length - 1));
      const std::string query = "what=window&from=" + std::to_string(from) +
                                "&to=" + std::to_string(from + wide) + "&pixels=1600";
      if (cache == Cache::Cold && !forget(made(state).index)) {
        return state.SkipWithError("the cache cannot be emptied");
      }
      const auto begin = std::chrono::steady_clock::now();
      const auto json = answer(*index, query);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      if (!json) return state.SkipWithError("a window was not answered");
      milliseconds.push_back(took.count());
      bytes = std::max(bytes, json->size());
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto quantile = [&](double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(milliseconds.size()));
    return milliseconds[std::min(at, milliseconds.size() - 1)];
  };
  state.counters["p50_ms"] = quantile(0.5);
  state.counters["p99_ms"] = quantile(0.99);
  state.counters["max_ms"] = milliseconds.back();
  state.counters["open_ms"] = opening.count();
  state.counters["answer_kB"] = static_cast<double>(bytes) / 1e3;
}

/// Totals of the whole capture, and a search for a name that does not occur before its end.
void totals_and_search(benchmark::State& state) {
  const auto index = opened_index(state);
  if (!index) return state.SkipWithError("no index");
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!answer(*index,
                "what=totals&from=1000000&to=" + std::to_string(index->facts().length_ns - 1)) ||
        !answer(*index, "what=find&text=memcpyasync&direction=previous&at=0")) {
      return state.SkipWithError("a query was not answered");
    }
  }
}

const bool kRegistered = [] {
  const auto add = [](const char* name, void (*run)(benchmark::State&), std::int64_t kernels) {
    benchmark::RegisterBenchmark(name, run)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Arg(kernels);
  };
  // By size, because a capture is made for each.
  for (const std::int64_t kernels : {100'000, 10'000'000}) {
    if (kernels > 100'000 && std::getenv("PROFLINE_BENCH_LARGE") == nullptr) break;
    add("tiles_build", build, kernels);
    add(
        "tiles_windows", [](auto& state) { windows(state, Cache::Warm); }, kernels);
    add(
        "tiles_windows_cold", [](auto& state) { windows(state, Cache::Cold); }, kernels);
    add("tiles_totals_and_search", totals_and_search, kernels);
  }
  return true;
}();

}  // namespace
}  // namespace profline::tiles
