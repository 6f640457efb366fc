#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/sqlite.h"
#include "testing/captures/nsys_export.h"

/// Captures for the tests of this folder.
namespace profline::tiles {

/// A row of a table of work, of calls or of ranges.
struct MadeEvent {
  enum class Table { Kernel, Copy, Call, Range, SharedRange };
  Table table = Table::Kernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stream = 7;  ///< or the thread
  std::int64_t name = 1;    ///< 1 to 20
};

/// Writes them like `nsys export`, in the given order.
inline void write_capture(const std::filesystem::path& path, const std::vector<MadeEvent>& events) {
  auto database = sqlite::Database::open_read_write(path, sqlite::Create::Yes);
  ASSERT_TRUE(database) << database.error().to_string();
  ASSERT_TRUE(database->execute("PRAGMA synchronous = OFF"));
  ASSERT_TRUE(testing::create_nsys_tables(*database, testing::NsysRelease::Y2025));
  auto transaction = sqlite::Transaction::begin(*database);
  ASSERT_TRUE(transaction);
  {
    for (int name = 1; name <= 20; ++name) {
      ASSERT_TRUE(database->execute("INSERT INTO StringIds VALUES (" + std::to_string(name) +
                                    ", 'name " + std::to_string(name) + "')"));
    }
    auto kernel = database->prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
        "localMemoryPerThread, localMemoryTotal, gridId) VALUES "
        "(?1, ?2, 0, 1, ?3, 1, ?4, ?5, ?5, 32, ?5, 1, 1, 64, 1, 1, 0, 0, 0, 0, 1)");
    auto copy = database->prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, bytes, copyKind) VALUES (?1, ?2, 0, 1, ?3, 1, ?4, ?5, 2)");
    auto call = database->prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
        "correlationId, nameId, returnValue) VALUES (?1, ?2, 0, ?3, 1, ?4, 0)");
    auto range = database->prepare(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId) "
        "VALUES (?1, ?2, ?3, ?4, ?5, 0)");
    ASSERT_TRUE(kernel && copy && call && range);
    const std::int64_t pid = testing::nsys_global_tid(4711, 0);
    for (const MadeEvent& event : events) {
      const std::int64_t tid = testing::nsys_global_tid(4711, event.stream);
      Result<void> bound;
      sqlite::Statement* statement = nullptr;
      switch (event.table) {
        case MadeEvent::Table::Kernel:
        case MadeEvent::Table::Copy:
          statement = event.table == MadeEvent::Table::Kernel ? &*kernel : &*copy;
          statement->reset();
          bound = statement->bind_all(event.start_ns, event.end_ns, event.stream, pid, event.name);
          break;
        case MadeEvent::Table::Call:
          statement = &*call;
          statement->reset();
          bound = statement->bind_all(event.start_ns, event.end_ns, tid, event.name);
          break;
        case MadeEvent::Table::Range:
        case MadeEvent::Table::SharedRange:
          statement = &*range;
          statement->reset();
          bound = statement->bind_all(event.start_ns, event.end_ns,
                                      event.table == MadeEvent::Table::Range ? 59 : 60, tid,
                                      event.name);
          break;
      }
      ASSERT_TRUE(bound && statement->step());
    }
  }
  ASSERT_TRUE(transaction->commit());
}

/// Events of every table whose durations and gaps differ by orders of magnitude, with bursts, long
/// pauses, events without a duration and overlaps, in no order.
inline std::vector<MadeEvent> irregular_events(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::int64_t>(random() % limit);
  };
  const auto any_size = [&](std::uint32_t largest) {
    return below(1U << static_cast<std::uint32_t>(below(largest + 1)));
  };
  std::vector<MadeEvent> events;
  std::int64_t now = 5'000'000'000;
  for (std::size_t at = 0; at < count; ++at) {
    MadeEvent event;
    event.table = static_cast<MadeEvent::Table>(below(16) < 11 ? 0 : below(5));
    if (below(5000) == 0) now += 3'000'000'000;
    now += any_size(12);
    event.start_ns = now;
    const std::int64_t longest = below(500) == 0 ? 8'000'000'000 : any_size(14);
    event.end_ns = now + (below(40) == 0 ? 0 : longest);
    event.stream = 7 + below(2);
    event.name = 1 + std::min(below(20), below(20));
    // Kernels of a stream rarely overlap.
    if (event.table == MadeEvent::Table::Kernel && below(50) != 0)
      now = std::min(event.end_ns, now + 100'000);
    events.push_back(event);
  }
  std::shuffle(events.begin(), events.end(), random);
  return events;
}

}  // namespace profline::tiles
