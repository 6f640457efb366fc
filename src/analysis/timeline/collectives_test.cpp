#include "analysis/timeline/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timeline/testing_timeline.h"

namespace profline::timeline {
namespace {

using ::testing::ElementsAre;

TEST(Collectives, StateBusBandwidthAsNcclTestsDoes) {
  struct Case {
    std::string_view name;
    std::uint32_t ranks;
    std::optional<double> factor;
  };
  const Case cases[] = {
      {"allreduce", 8, 1.75},
      {"ncclAllReduce", 2, 1.0},
      {"allreduce_coalesced", 4, 1.5},
      {"_allgather_base", 8, 0.875},
      {"ncclReduceScatter", 4, 0.75},
      {"all_to_allv", 2, 0.5},
      {"broadcast", 8, 1.0},
      {"ncclReduce", 0, 1.0},
      {"send", 0, 1.0},
      {"ncclRecv", 0, 1.0},
      {"allreduce", 0, std::nullopt},
      {"something", 8, std::nullopt},
      {"allreduce", 1, 0.0},
  };
  for (const Case& c : cases) EXPECT_EQ(bus_factor(c.name, c.ranks), c.factor) << c.name;
}

class Job {
 public:
  Job() : thread_(builder_.thread(1, 1)), stream_(builder_.stream(0, 7)) {
    builder_.range({0, 100, "step", thread_});
  }
  /// A kernel of 10 ns per number, each of the collective of that number.
  Timeline build(const std::vector<RowIndex>& kernels, const std::vector<Collective>& collectives,
                 const std::vector<std::string>& names) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i, at += 60) {
      builder_.work({at, at + 10, stream_, builder_.call({at, at + 1, thread_}), "nccl"});
    }
    Timeline timeline = builder_.build();
    for (std::size_t i = 0; i < kernels.size(); ++i) timeline.work[i].collective = kernels[i];
    timeline.collectives = collectives;
    for (std::size_t i = 0; i < collectives.size(); ++i) {
      timeline.collectives[i].name = timeline.names.id_of(names[i]);
    }
    return timeline;
  }

 private:
  TimelineBuilder builder_;
  RowIndex thread_;
  RowIndex stream_;
};

Collective moving(std::uint64_t in_bytes, std::uint64_t out_bytes, std::uint32_t ranks) {
  Collective row;
  row.ranks = ranks;
  row.has_bytes = true;
  row.in_bytes = in_bytes;
  row.out_bytes = out_bytes;
  return row;
}

/// `allreduce of 8: x2 by 2 kernels, 20 ns, 600 B, 30 and 52 GB/s`
std::vector<std::string> lines(const std::vector<CollectiveRow>& rows) {
  const auto whole = [](const std::optional<double>& rate) {
    return rate ? std::to_string(static_cast<int>(*rate)) : std::string("?");
  };
  std::vector<std::string> lines;
  for (const CollectiveRow& row : rows) {
    lines.push_back(row.name + " of " + std::to_string(row.ranks) + ": x" +
                    std::to_string(row.instances) + " by " + std::to_string(row.kernels) +
                    " kernels, " + std::to_string(row.total_ns) + " ns, " +
                    (row.sized > 0 ? std::to_string(row.bytes) : "?") + " B, " +
                    whole(row.algorithm_gigabytes_per_second()) + " and " +
                    whole(row.bus_gigabytes_per_second()) + " GB/s");
  }
  return lines;
}

TEST(Collectives, SumSizesAndTheTimeOfTheirKernels) {
  const Timeline timeline =
      Job().build({0, 1, 2, 2},
                  {moving(200, 200, 8), moving(400, 400, 8), moving(100, 800, 8),
                   moving(1000, 1000, 8), Collective()},
                  {"allreduce", "allreduce", "allgather", "allreduce", "barrier"});
  EXPECT_THAT(lines(collective_table(timeline)),
              ElementsAre(
                  // The third all-reduce has no kernel, so that its size says nothing of speed.
                  "allreduce of 8: x3 by 2 kernels, 20 ns, 1600 B, 30 and 52 GB/s",
                  "allgather of 8: x1 by 2 kernels, 20 ns, 800 B, 40 and 35 GB/s",
                  "barrier of 0: x1 by 0 kernels, 0 ns, ? B, ? and ? GB/s"));
}

TEST(Collectives, AreNotGivenASpeedWhereOnlyOneRanksPartIsKnown) {
  const Timeline timeline = Job().build({0}, {moving(100, 100, 0)}, {"ncclAllGather"});
  EXPECT_THAT(lines(collective_table(timeline)),
              ElementsAre("ncclAllGather of 0: x1 by 1 kernels, 10 ns, 100 B, ? and ? GB/s"));
}

TEST(Collectives, KeepToTheRangesThatAPatternNames) {
  const Timeline timeline =
      Job().build({0, 1, 2}, {moving(10, 10, 2), moving(20, 20, 2), moving(30, 30, 2)},
                  {"broadcast", "broadcast", "broadcast"});
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(lines(collective_table(timeline, {"step", &attribution})),
              ElementsAre("broadcast of 2: x2 by 2 kernels, 20 ns, 30 B, 1 and 1 GB/s"));
}

}  // namespace
}  // namespace profline::timeline
