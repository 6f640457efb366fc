// One program, eager and from a CUDA graph (tests/gpu/kernel_zoo.cpp), as nsys and Kineto recorded
// it.

#include "testing/captures/zoo.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/group_kernels.h"
#include "base/files.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::timeline {
namespace {

Result<Timeline> nsys_capture(const std::string& name) {
  const testing::TempDir folder;
  const auto file = folder.path() / "capture.sqlite";
  PL_TRY(write_file_atomic(file, PL_TRY(testing::unzipped(testing::zoo_capture(name)))));
  return nsys::read_sqlite(file);
}

Result<Timeline> capture(const std::string& name) {
  if (name.starts_with("nsys")) return nsys_capture(name);
  return torch_profiler::read_trace(testing::zoo_capture(name));
}

class Zoo : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto read = capture(GetParam());
    ASSERT_TRUE(read) << read.error().to_string();
    timeline = *std::move(read);
    attribution.emplace(Attribution::of(timeline));
    accounts = account(timeline, *attribution);
  }

  /// By range: what was launched in it directly.
  std::map<std::string, std::uint64_t> own_work() const {
    std::map<std::string, std::uint64_t> counts;
    for (const RangeAccount& range : accounts.ranges) {
      counts[timeline.names.text(range.name)] += range.direct_work.count;
    }
    return counts;
  }

  Timeline timeline;
  std::optional<Attribution> attribution;
  Accounting accounts;
};

TEST_P(Zoo, HasAPlaceForEveryNanosecond) {
  ASSERT_EQ(accounts.devices.size(), 1U);
  EXPECT_EQ(accounts.time[0].wall_ns(), accounts.wall_ns());
  std::size_t own_ranges = 0;  // not cub's, which have a domain and which nsys sees too
  for (const RangeAccount& range : accounts.ranges) {
    EXPECT_EQ(range.time[0].wall_ns(), range.wall_ns) << timeline.names.text(range.name);
    if (timeline.names.text(range.domain).empty()) ++own_ranges;
  }
  EXPECT_EQ(own_ranges, 102U);  // eager and its 99, graph, replay
}

TEST_P(Zoo, HasAPlaceForAllWork) {
  EXPECT_EQ(accounts.without_launch.count, 0U);
  EXPECT_EQ(accounts.without_device.count, 0U);
  std::uint64_t placed = accounts.outside_ranges.count;
  for (const auto& [name, count] : own_work()) placed += count;
  EXPECT_EQ(placed, timeline.work.size());
  EXPECT_EQ(accounts.outside_ranges.count, 0U);
}

TEST_P(Zoo, HasEveryKernelInOneRow) {
  const KernelUses uses = group_kernels(timeline, {.ranges = true}, {.attribution = &*attribution});
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  for (const KernelUse& row : uses.rows) {
    instances += row.launches;
    total_ns += row.total_ns;
  }
  EXPECT_EQ(instances, accounts.kernels.count);
  EXPECT_EQ(total_ns, accounts.kernels.sum_ns);
}

TEST_P(Zoo, LinksTheGraphToItsLaunches) {
  std::map<std::string, std::uint64_t> by_call;
  for (const DeviceWork& work : timeline.work) {
    ASSERT_NE(work.launch, kNoRow);
    const HostCall& call = timeline.calls[work.launch];
    if (call.kind == CallKind::GraphLaunch) ++by_call[std::to_string(call.correlation)];
  }
  // Two replays, each of 168 kernels and 23 copies and fills; or, where nodes are not recorded, of
  // the graph.
  const bool has_nodes = std::string(GetParam()) != "nsys-graph.sqlite.gz";
  ASSERT_EQ(by_call.size(), 2U);
  for (const auto& [call, count] : by_call) EXPECT_EQ(count, has_nodes ? 191U : 1U);
  // The two kernels, and their seeds, that precede a replay.
  EXPECT_EQ(own_work().at("replay"), has_nodes ? 2 * 191U + 4 : 2U + 4);
}

INSTANTIATE_TEST_SUITE_P(Captures, Zoo,
                         ::testing::Values("nsys-node.sqlite.gz", "nsys-graph.sqlite.gz",
                                           "kineto.json.gz"),
                         [](const ::testing::TestParamInfo<const char*>& tested) {
                           std::string name = tested.param;
                           name.resize(name.find('.'));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace profline::timeline
