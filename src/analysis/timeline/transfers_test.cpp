#include "analysis/timeline/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timeline/testing_timeline.h"

namespace profline::timeline {
namespace {

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

}  // namespace
}  // namespace profline::timeline
