#include "analysis/timeline/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/timeline_builder.h"

namespace profline::timeline {
namespace {

using testing::TimelineBuilder;

using ::testing::ElementsAre;

struct Copy {
  std::int64_t start_ns, end_ns;
  std::string_view name;
  CopyKind kind;
  std::uint64_t bytes;
  MemoryKind from = MemoryKind::Unknown;
  MemoryKind to = MemoryKind::Unknown;
};

Timeline with_copies(const std::vector<Copy>& copies) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  builder.range({100, 200, "load", thread});
  for (const Copy& copy : copies) {
    const std::uint64_t call =
        builder.call({copy.start_ns, copy.start_ns + 1, thread, CallKind::Copy});
    builder.work({copy.start_ns, copy.end_ns, stream, call, copy.name,
                  copy.kind == CopyKind::None ? WorkKind::Fill : WorkKind::Copy});
  }
  Timeline timeline = builder.build();
  for (DeviceWork& work : timeline.work) {
    for (const Copy& copy : copies) {
      if (copy.start_ns != work.start_ns) continue;
      work.copy = copy.kind;
      work.bytes = copy.bytes;
      work.from = copy.from;
      work.to = copy.to;
    }
  }
  return timeline;
}

/// `HtoD pinned->device x2 30 ns 600 B 20 GB/s`
std::vector<std::string> lines(const std::vector<TransferRow>& rows) {
  std::vector<std::string> lines;
  for (const TransferRow& row : rows) {
    const auto rate = row.gigabytes_per_second();
    lines.push_back(std::string(row.direction) + ' ' + std::string(to_text(row.from)) + "->" +
                    std::string(to_text(row.to)) + " x" + std::to_string(row.instances) + ' ' +
                    std::to_string(row.total_ns) + " ns " + std::to_string(row.bytes) + " B " +
                    (rate ? std::to_string(static_cast<int>(*rate)) : "?") + " GB/s");
  }
  return lines;
}

TEST(Transfers, SumBytesAndSpeedByDirectionAndMemory) {
  const Timeline timeline = with_copies({
      {10, 20, "h2d", CopyKind::HostToDevice, 200, MemoryKind::Pinned, MemoryKind::Device},
      {30, 50, "h2d", CopyKind::HostToDevice, 400, MemoryKind::Pinned, MemoryKind::Device},
      {60, 80, "h2d", CopyKind::HostToDevice, 40, MemoryKind::Pageable, MemoryKind::Device},
      {81, 85, "d2h", CopyKind::DeviceToHost, 0},
      {90, 95, "d2d", CopyKind::DeviceToDevice, 10'000},
      {96, 97, "p2p", CopyKind::PeerToPeer, 5},
      {98, 98, "odd", CopyKind::Other, 5},
      {100, 102, "fill", CopyKind::None, 512, MemoryKind::Unknown, MemoryKind::Device},
  });
  EXPECT_THAT(
      lines(transfer_table(timeline)),
      ElementsAre("HtoD pinned->device x2 30 ns 600 B 20 GB/s",
                  "HtoD pageable->device x1 20 ns 40 B 2 GB/s", "DtoD -> x1 5 ns 10000 B 2000 GB/s",
                  "DtoH -> x1 4 ns 0 B ? GB/s", "memset ->device x1 2 ns 512 B 256 GB/s",
                  "PtoP -> x1 1 ns 5 B 5 GB/s", "unknown -> x1 0 ns 5 B ? GB/s"));
}

TEST(Transfers, CountTheSpeedOnlyOfCopiesWhoseSizeIsKnown) {
  const Timeline timeline = with_copies(
      {{10, 20, "h2d", CopyKind::HostToDevice, 100}, {30, 130, "h2d", CopyKind::HostToDevice, 0}});
  EXPECT_THAT(lines(transfer_table(timeline)), ElementsAre("HtoD -> x2 110 ns 100 B 10 GB/s"));
}

TEST(Transfers, KeepToTheRangesThatAPatternNames) {
  const Timeline timeline = with_copies({{10, 20, "h2d", CopyKind::HostToDevice, 100},
                                         {110, 120, "h2d", CopyKind::HostToDevice, 300}});
  const Attribution attribution = Attribution::of(timeline);
  EXPECT_THAT(lines(transfer_table(timeline, {"lo*", &attribution})),
              ElementsAre("HtoD -> x1 10 ns 300 B 30 GB/s"));
}

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
  /// One kernel of 10 ns per number, belonging to the collective of that number.
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
                  // The third all-reduce has no kernel, so its size says nothing about speed.
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
