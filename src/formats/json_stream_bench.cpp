#include <random>
#include <string>

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include "formats/json_stream.h"

namespace profline {
namespace {

/// Events as Kineto writes them, blanks included.
std::string kineto_events(std::int64_t count) {
  std::mt19937_64 random(1);
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ",\n";
    const std::string number = std::to_string(random() % 100'000);
    text += R"(  {
    "ph": "X", "cat": "kernel", "name": "void cutlass::Kernel<gemm_)";
    text += number;
    text += R"+(>(Params)", "pid": 0, "tid": 7,
    "ts": 3869040068636.)+";
    text += std::to_string(100 + random() % 900);
    text += R"(, "dur": )";
    text += number;
    text += R"(.125,
    "args": {
      "External id": )";
    text += std::to_string(i);
    text += R"(,"device": 0, "correlation": )";
    text += number;
    text += R"(, "grid": [132, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 12
    }
  })";
  }
  return text;
}

std::string kineto_trace(std::int64_t count) {
  return "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n" + kineto_events(count) +
         "\n  ],\n  \"traceName\": \"/tmp/trace.json\"\n}";
}

/// What a trace reader does with an event: the same fields in each of these benchmarks.
double duration_of(const JsonView& event) {
  const auto duration = event.find("dur");
  const auto start = event.find("ts");
  const auto name = event.find("name");
  return duration && start && name ? *duration->number() + *start->number() : 0.0;
}

void set_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void json_stream(benchmark::State& state) {
  const std::string text = kineto_trace(state.range(0));
  for (auto unused : state) {
    static_cast<void>(unused);
    double sum = 0;
    JsonStreamHandlers handlers;
    handlers.element = [&](const JsonView& event, std::uint64_t) -> Result<void> {
      sum += duration_of(event);
      return {};
    };
    const auto totals = read_json_list(chunks_of(text), "traceEvents", handlers);
    if (!totals) state.SkipWithError(totals.error().to_string().c_str());
    benchmark::DoNotOptimize(sum);
  }
  set_bytes(state, text.size());
}
BENCHMARK(json_stream)->Range(1 << 8, 1 << 18);

/// The effect of the window size: {events, log2 of the window's bytes}.
void json_stream_window(benchmark::State& state) {
  const std::string text = kineto_trace(state.range(0));
  const JsonStreamLimits limits = {.window_bytes = std::size_t{1} << state.range(1)};
  for (auto unused : state) {
    static_cast<void>(unused);
    JsonStreamHandlers handlers;
    handlers.element = [](const JsonView&, std::uint64_t) -> Result<void> { return {}; };
    const auto totals = read_json_list(chunks_of(text), "traceEvents", handlers, limits);
    if (!totals) state.SkipWithError(totals.error().to_string().c_str());
  }
  set_bytes(state, text.size());
}
BENCHMARK(json_stream_window)->ArgsProduct({{1 << 18}, {16, 18, 20, 23}});

// The alternatives that were not chosen, over text that is already in memory and cut between
// elements: the whole window as one document, and on demand (which checks only what it is asked
// for, so that a malformed event may go unnoticed).
void whole_window_as_document(benchmark::State& state) {
  const std::string text = '[' + kineto_events(state.range(0)) + ']';
  const simdjson::padded_string padded(text);
  simdjson::dom::parser parser;
  for (auto unused : state) {
    static_cast<void>(unused);
    double sum = 0;
    simdjson::dom::array events;
    if (parser.parse(padded).get(events) != simdjson::SUCCESS) state.SkipWithError("not JSON");
    for (const simdjson::dom::element event : events) {
      double duration = 0;
      double start = 0;
      std::string_view name;
      const bool found = event["dur"].get(duration) == simdjson::SUCCESS &&
                         event["ts"].get(start) == simdjson::SUCCESS &&
                         event["name"].get(name) == simdjson::SUCCESS;
      if (found) sum += duration + start;
    }
    benchmark::DoNotOptimize(sum);
  }
  set_bytes(state, text.size());
}
BENCHMARK(whole_window_as_document)->Arg(1 << 14);

void whole_window_on_demand(benchmark::State& state) {
  const std::string text = '[' + kineto_events(state.range(0)) + ']';
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  for (auto unused : state) {
    static_cast<void>(unused);
    double sum = 0;
    simdjson::ondemand::document document;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS) state.SkipWithError("not JSON");
    for (auto event : document) {
      double duration = 0;
      double start = 0;
      std::string_view name;
      const bool found = event["dur"].get(duration) == simdjson::SUCCESS &&
                         event["ts"].get(start) == simdjson::SUCCESS &&
                         event["name"].get(name) == simdjson::SUCCESS;
      if (found) sum += duration + start;
    }
    benchmark::DoNotOptimize(sum);
  }
  set_bytes(state, text.size());
}
BENCHMARK(whole_window_on_demand)->Arg(1 << 14);

}  // namespace
}  // namespace profline
