#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "schema/diff.h"
#include "schema/docs.h"
#include "schema/field.h"
#include "schema/internal/example_for_tests.h"
#include "schema/read.h"

namespace profline::example {
namespace {

/// Forty fields of the usual kinds, more than any section of the config has: for benchmarks,
/// including of compile time.
struct Wide {
  std::string name_1 = "prefill";
  std::string name_2 = "prefill";
  std::string name_3 = "prefill";
  std::string name_4 = "prefill";
  std::string name_5 = "prefill";
  std::vector<std::string> items_1{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_2{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_3{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_4{"SpeedOfLight", "Occupancy"};
  std::vector<std::string> items_5{"SpeedOfLight", "Occupancy"};
  std::chrono::seconds timeout_1 = std::chrono::seconds(600);
  std::chrono::seconds timeout_2 = std::chrono::seconds(600);
  std::chrono::seconds timeout_3 = std::chrono::seconds(600);
  std::chrono::seconds timeout_4 = std::chrono::seconds(600);
  std::chrono::seconds timeout_5 = std::chrono::seconds(600);
  double share_1 = 0.5;
  double share_2 = 0.5;
  double share_3 = 0.5;
  double share_4 = 0.5;
  double share_5 = 0.5;
  std::optional<std::uint32_t> samples_1 = 1;
  std::optional<std::uint32_t> samples_2 = 1;
  std::optional<std::uint32_t> samples_3 = 1;
  std::optional<std::uint32_t> samples_4 = 1;
  std::optional<std::uint32_t> samples_5 = 1;
  std::int32_t count_1 = 3;
  std::int32_t count_2 = 3;
  std::int32_t count_3 = 3;
  std::int32_t count_4 = 3;
  std::int32_t count_5 = 3;
  CaptureRange range_1 = CaptureRange::Nvtx;
  CaptureRange range_2 = CaptureRange::Nvtx;
  CaptureRange range_3 = CaptureRange::Nvtx;
  CaptureRange range_4 = CaptureRange::Nvtx;
  CaptureRange range_5 = CaptureRange::Nvtx;
  bool flag_1 = true;
  bool flag_2 = true;
  bool flag_3 = true;
  bool flag_4 = true;
  bool flag_5 = true;

  bool operator==(const Wide&) const = default;
};
constexpr auto fields(std::type_identity<Wide>) {
  return field_list(field("flag_1", &Wide::flag_1, "what it is for"),
                    field("count_1", &Wide::count_1, "what it is for").at_least(1),
                    field("share_1", &Wide::share_1, "what it is for"),
                    field("name_1", &Wide::name_1, "what it is for"),
                    field("samples_1", &Wide::samples_1, "what it is for").at_least(1),
                    field("timeout_1", &Wide::timeout_1, "what it is for").at_least(1),
                    field("range_1", &Wide::range_1, "what it is for"),
                    field("items_1", &Wide::items_1, "what it is for"),
                    field("flag_2", &Wide::flag_2, "what it is for"),
                    field("count_2", &Wide::count_2, "what it is for").at_least(1),
                    field("share_2", &Wide::share_2, "what it is for"),
                    field("name_2", &Wide::name_2, "what it is for"),
                    field("samples_2", &Wide::samples_2, "what it is for").at_least(1),
                    field("timeout_2", &Wide::timeout_2, "what it is for").at_least(1),
                    field("range_2", &Wide::range_2, "what it is for"),
                    field("items_2", &Wide::items_2, "what it is for"),
                    field("flag_3", &Wide::flag_3, "what it is for"),
                    field("count_3", &Wide::count_3, "what it is for").at_least(1),
                    field("share_3", &Wide::share_3, "what it is for"),
                    field("name_3", &Wide::name_3, "what it is for"),
                    field("samples_3", &Wide::samples_3, "what it is for").at_least(1),
                    field("timeout_3", &Wide::timeout_3, "what it is for").at_least(1),
                    field("range_3", &Wide::range_3, "what it is for"),
                    field("items_3", &Wide::items_3, "what it is for"),
                    field("flag_4", &Wide::flag_4, "what it is for"),
                    field("count_4", &Wide::count_4, "what it is for").at_least(1),
                    field("share_4", &Wide::share_4, "what it is for"),
                    field("name_4", &Wide::name_4, "what it is for"),
                    field("samples_4", &Wide::samples_4, "what it is for").at_least(1),
                    field("timeout_4", &Wide::timeout_4, "what it is for").at_least(1),
                    field("range_4", &Wide::range_4, "what it is for"),
                    field("items_4", &Wide::items_4, "what it is for"),
                    field("flag_5", &Wide::flag_5, "what it is for"),
                    field("count_5", &Wide::count_5, "what it is for").at_least(1),
                    field("share_5", &Wide::share_5, "what it is for"),
                    field("name_5", &Wide::name_5, "what it is for"),
                    field("samples_5", &Wide::samples_5, "what it is for").at_least(1),
                    field("timeout_5", &Wide::timeout_5, "what it is for").at_least(1),
                    field("range_5", &Wide::range_5, "what it is for"),
                    field("items_5", &Wide::items_5, "what it is for"));
}

}  // namespace
}  // namespace profline::example

namespace profline::schema {
namespace {

void read_forty_fields(benchmark::State& state) {
  const Node node = write(example::Wide{});
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(node, problems));
    if (!problems.empty()) state.SkipWithError("the input is sound");
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(read_forty_fields);

/// Every key in reverse order: the worst case for finding a field.
void read_forty_fields_reversed(benchmark::State& state) {
  const Node node = write(example::Wide{});
  const NodeMap& entries = node.as_map();
  NodeMap reversed;
  for (auto entry = entries.end(); entry != entries.begin();) {
    --entry;
    reversed.set(entry->key, entry->value);
  }
  const Node input = Node::map(std::move(reversed));
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(input, problems));
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(read_forty_fields_reversed);

void write_forty_fields(benchmark::State& state) {
  const example::Wide value;
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(write(value));
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(write_forty_fields);

void report_forty_problems(benchmark::State& state) {
  NodeMap wrong;
  const Node sound = write(example::Wide{});
  for (const auto& [key, value] : sound.as_map()) {
    wrong.set(key, Node::list());
  }
  const Node node = Node::map(std::move(wrong));
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(node, problems));
    if (problems.empty()) state.SkipWithError("the input is wrong");
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(report_forty_problems);

void diff_of_equal_configs(benchmark::State& state) {
  const example::Pipeline before;
  const example::Pipeline after;
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(diff(before, after));
  }
}
BENCHMARK(diff_of_equal_configs);

void reference_of_a_config(benchmark::State& state) {
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(reference_table(describe<example::Config>()));
  }
}
BENCHMARK(reference_of_a_config);

}  // namespace
}  // namespace profline::schema
