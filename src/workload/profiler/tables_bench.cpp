#include <benchmark/benchmark.h>

#include "workload/profiler/call_tree.h"
#include "workload/profiler/testing_recording.h"

namespace profline::workload {
namespace {

/// Steps of a decode loop, each with operators that contain two more.
Recording decode_loop(std::int64_t steps) {
  constexpr const char* kNames[] = {"aten::linear", "aten::add", "aten::to", "aten::softmax"};
  std::vector<TraceEvent> events;
  std::int64_t now = 0;
  std::uint64_t id = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    events.push_back(profiler_test::range("decode_step", now, now + 400));
    for (const char* name : kNames) {
      events.push_back(profiler_test::call(name, now, now + 90, ++id));
      events.push_back(profiler_test::call("aten::t", now + 10, now + 20, ++id));
      events.push_back(profiler_test::call("aten::mm", now + 30, now + 80, ++id));
      now += 100;
    }
  }
  return profiler_test::recording_of(std::move(events), 0, now);
}

void operator_rows(benchmark::State& state) {
  const Recording recording = decode_loop(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(operator_table(recording, build_call_tree(recording), false));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(recording.events.size()));
}
BENCHMARK(operator_rows)->Range(1 << 8, 1 << 13);

}  // namespace
}  // namespace profline::workload
