#include "tools/nsys/sqlite_reader.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::nsys {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::NsysRelease;
using ::testing::SizeIs;

constexpr std::int64_t kTid = testing::nsys_global_tid(10, 11);
constexpr std::int64_t kPid = testing::nsys_global_tid(10, 0);

std::string error_text(const Result<Timeline>& timeline) {
  return timeline ? "no error" : timeline.error().to_string();
}

/// A database in memory with the tables of a release and what the SQL adds to them.
class Export {
 public:
  explicit Export(NsysRelease release = NsysRelease::Y2025)
      : database_(sqlite::Database::in_memory()) {
    EXPECT_TRUE(database_ && testing::create_nsys_tables(*database_, release));
    run("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm<float>'), "
        "(3, 'gemm'), (4, 'cudaStreamSynchronize_v3020'), (5, 'decode'), (6, 'worker')");
  }
  void run(const std::string& sql) {
    const Result<void> done = database_->execute(sql);
    EXPECT_TRUE(done) << done.error().to_string();
  }
  void kernel(std::int64_t start, std::int64_t end, std::int64_t correlation,
              const std::string& more = "2", std::int64_t pid = kPid) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
        "localMemoryPerThread, localMemoryTotal, gridId) VALUES (" +
        std::to_string(start) + "," + std::to_string(end) + ",0,1,7," +
        std::to_string(correlation) + "," + std::to_string(pid) + "," + more +
        ",3,40,4,1,1,128,1,1,1024,2048,0,0,1)");
  }
  void call(std::int64_t start, std::int64_t end, std::int64_t correlation, int name = 1,
            std::int64_t tid = kTid) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
        "correlationId, nameId, returnValue) VALUES (" +
        std::to_string(start) + "," + std::to_string(end) + ",0," + std::to_string(tid) + "," +
        std::to_string(correlation) + "," + std::to_string(name) + ",0)");
  }
  void nvtx(const std::string& columns, const std::string& values) {
    run("INSERT INTO NVTX_EVENTS (" + columns + ") VALUES (" + values + ")");
  }
  Timeline read() {
    Result<Timeline> timeline = read_sqlite(*database_);
    EXPECT_TRUE(timeline) << error_text(timeline);
    return timeline ? std::move(timeline).value() : Timeline();
  }

 private:
  Result<sqlite::Database> database_;
};

TEST(NsysSqlite, ReadsTheSchemasOfAllReleases) {
  struct Case {
    NsysRelease release;
    std::string tool;
  };
  const Case cases[] = {{NsysRelease::Y2022, "nsys 2022.4.2.1"},
                        {NsysRelease::Y2023, "nsys 2023.4.4.54"},
                        {NsysRelease::Y2025, "nsys 2025.3.2.0"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.tool);
    Export file(c.release);
    file.call(10, 20, 77);
    file.kernel(25, 40, 77);
    file.run("INSERT INTO ANALYSIS_DETAILS VALUES (0, 100, 500, 600)");
    file.run("INSERT INTO ThreadNames VALUES (6, 20, " + std::to_string(kTid) + ")");
    file.nvtx("start, end, eventType, text, globalTid, domainId",
              "5, 50, 59, 'prefill', " + std::to_string(kTid) + ", 0");
    const Timeline timeline = file.read();
    EXPECT_EQ(timeline.tool, c.tool);
    EXPECT_EQ(timeline.begin_ns, 5);
    EXPECT_EQ(timeline.end_ns, 50);
    EXPECT_EQ(timeline.unix_origin_ns, 1794726136956807234);
    ASSERT_THAT(timeline.work, SizeIs(1));
    const DeviceWork& kernel = timeline.work[0];
    EXPECT_EQ(timeline.names.text(kernel.name), "gemm<float>");
    EXPECT_EQ(kernel.launch, 0U);
    EXPECT_EQ(timeline.streams[kernel.stream], (Stream{0, 1, 7}));
    EXPECT_EQ(timeline.shapes[kernel.shape], (LaunchShape{{4, 1, 1}, {128, 1, 1}, 40, 1024, 2048}));
    ASSERT_THAT(timeline.calls, SizeIs(1));
    EXPECT_EQ(timeline.calls[0].kind, CallKind::Launch);
    EXPECT_EQ(timeline.calls[0].correlation, 77U);
    ASSERT_THAT(timeline.threads, SizeIs(1));
    EXPECT_EQ(timeline.threads[0].process, 10);
    EXPECT_EQ(timeline.threads[0].thread, 11);
    EXPECT_EQ(timeline.names.text(timeline.threads[0].name), "worker");
    ASSERT_THAT(timeline.gpus, SizeIs(1));
    EXPECT_EQ(timeline.gpus[0].name, "NVIDIA H200");
    EXPECT_EQ(timeline.gpus[0].compute_capability, "9.0");
    EXPECT_EQ(timeline.reading.used, 3U);
    EXPECT_THAT(timeline.reading.skipped, IsEmpty());
    EXPECT_THAT(timeline.reading.notes, IsEmpty());
  }
}

TEST(NsysSqlite, ReadsWhatNsysMadeOnAnH200) {
  const auto path = testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite";
  const Result<Timeline> timeline = read_sqlite(path);
  ASSERT_TRUE(timeline) << error_text(timeline);
  EXPECT_EQ(timeline->tool, "nsys 2025.3.2.0");
  EXPECT_EQ(timeline->work.size(), 120U);
  EXPECT_EQ(timeline->calls.size(), 261U);
  const std::int64_t busy_ns =
      std::accumulate(timeline->work.begin(), timeline->work.end(), std::int64_t{0},
                      [](std::int64_t sum, const DeviceWork& work) {
                        EXPECT_NE(work.launch, kNoRow);
                        return sum + work.duration_ns();
                      });
  EXPECT_EQ(busy_ns, 376832);
  ASSERT_EQ(timeline->ranges.size(), 1U);
  EXPECT_EQ(timeline->ranges[0].start_ns, 15329898);
  EXPECT_EQ(timeline->ranges[0].end_ns, 18418859);
  EXPECT_EQ(timeline->gpus[0].multiprocessors, 132U);
  EXPECT_EQ(timeline->reading.events(), 399U);
  EXPECT_THAT(timeline->reading.skipped,
              ElementsAre(Reading::Skipped{"PROFILER_OVERHEAD: not one of the tables that are read",
                                           1, "all rows"}));
  EXPECT_THAT(timeline->reading.losses,
              ElementsAre("Not all NVTX events might have been collected.",
                          "Not all CUDA events might have been collected."));
}

TEST(NsysSqlite, TellsCorrelationIdsOfProcessesApart) {
  constexpr std::int64_t kOtherTid = testing::nsys_global_tid(20, 21);
  Export file;
  file.call(10, 20, 77);
  file.call(30, 40, 77, 1, kOtherTid);
  file.kernel(50, 60, 77, "2", testing::nsys_global_tid(20, 0));
  file.kernel(70, 80, 77);
  file.kernel(90, 95, 77, "2", testing::nsys_global_tid(30, 0));
  file.run("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 10), (5, 0, 20)");
  const Timeline timeline = file.read();
  ASSERT_THAT(timeline.work, SizeIs(3));
  EXPECT_EQ(timeline.work[0].launch, 1U);
  EXPECT_EQ(timeline.work[1].launch, 0U);
  EXPECT_EQ(timeline.work[2].launch, kNoRow);
  // Both processes call their only device 0; the machine does not.
  EXPECT_EQ(timeline.streams[timeline.work[0].stream].device, 5);
  EXPECT_EQ(timeline.streams[timeline.work[1].stream].device, 0);
  EXPECT_NE(timeline.streams[timeline.work[0].stream].context,
            timeline.streams[timeline.work[1].stream].context);
}

TEST(NsysSqlite, PrefersTheCallThatLaunchesAmongThoseOfOneId) {
  Export file;
  file.run("INSERT INTO StringIds VALUES (20, 'cuKernelGetName'), (21, 'cuLaunchKernel')");
  file.call(10, 30, 77, 20);
  file.call(12, 20, 77, 21);
  file.kernel(50, 60, 77);
  // So far apart that a table indexed by id is impossible.
  file.call(70, 80, 900'000'000'000, 20);
  file.call(72, 78, 900'000'000'000, 21);
  file.kernel(90, 95, 900'000'000'000);
  const Timeline timeline = file.read();
  ASSERT_THAT(timeline.work, SizeIs(2));
  EXPECT_EQ(timeline.work[0].launch, 1U);
  EXPECT_EQ(timeline.work[1].launch, 3U);
}

TEST(NsysSqlite, ReadsCopiesFillsGraphsAndNodes) {
  Export file;
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, bytes, copyKind) VALUES (10, 20, 0, 1, 7, 1, 0, 4096, 1), "
      "(30, 40, 0, 1, 7, 2, 0, 8, 11), (50, 60, 0, 1, 7, 3, 0, 9, 99)");
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, value, bytes, graphNodeId) VALUES "
      "(70, 80, 0, 1, 7, 4, 0, 0, 512, 33)");
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, "
      "streamId, correlationId, globalPid, graphId, graphExecId) VALUES "
      "(90, 95, 0, 1, 7, 5, 0, 3, 4)");
  const Timeline timeline = file.read();
  ASSERT_THAT(timeline.work, SizeIs(5));
  const auto name = [&](std::size_t row) { return timeline.names.text(timeline.work[row].name); };
  EXPECT_EQ(name(0), "[CUDA memcpy Host-to-Device]");
  EXPECT_EQ(timeline.work[0].copy, CopyKind::HostToDevice);
  EXPECT_EQ(timeline.work[0].bytes, 4096U);
  EXPECT_EQ(timeline.work[1].copy, CopyKind::HostToDevice) << "unified memory";
  EXPECT_EQ(name(2), "[CUDA memcpy]");
  EXPECT_EQ(timeline.work[2].copy, CopyKind::Other);
  EXPECT_EQ(timeline.work[3].kind, WorkKind::Fill);
  EXPECT_EQ(timeline.work[3].graph_node, 33U);
  EXPECT_EQ(timeline.work[4].kind, WorkKind::Graph);
  EXPECT_EQ(name(4), "[CUDA graph 3]");
  EXPECT_THAT(
      timeline.reading.notes,
      Contains("1 graph launch was traced as a whole; the kernels inside are not in the file "
               "(nsys profile --cuda-graph-trace=node records them)"));
}

TEST(NsysSqlite, ReadsRangesOfBothKindsWithDomainsRegisteredStringsAndOpenEnds) {
  Export file;
  const std::string tid = std::to_string(kTid);
  const std::string other = std::to_string(testing::nsys_global_tid(10, 12));
  const std::string columns =
      "start, end, eventType, text, textId, globalTid, endGlobalTid, "
      "domainId";
  file.nvtx(columns, "10, 40, 59, NULL, 5, " + tid + ", NULL, 3");
  file.nvtx(columns, "1, NULL, 75, 'llm', NULL, " + tid + ", NULL, 3");
  file.nvtx(columns, "20, 60, 60, 'request', NULL, " + tid + ", " + other + ", 0");
  file.nvtx(columns, "30, NULL, 59, 'open', NULL, " + tid + ", NULL, 4");
  file.nvtx(columns, "35, NULL, 34, 'mark', NULL, " + tid + ", NULL, 0");
  file.nvtx(columns, "36, 37, 59, NULL, 999, " + tid + ", NULL, 0");
  file.run("INSERT INTO ANALYSIS_DETAILS VALUES (0, 90, 0, 90)");
  const Timeline timeline = file.read();
  ASSERT_THAT(timeline.ranges, SizeIs(4));
  const auto text = [&](Names::Id id) { return timeline.names.text(id); };
  EXPECT_EQ(text(timeline.ranges[0].name), "decode");
  EXPECT_EQ(text(timeline.ranges[0].domain), "llm");
  EXPECT_EQ(timeline.ranges[1].kind, RangeKind::StartEnd);
  EXPECT_NE(timeline.ranges[1].thread, timeline.ranges[1].end_thread);
  EXPECT_EQ(text(timeline.ranges[2].domain), "domain 4");
  EXPECT_FALSE(timeline.ranges[2].closed);
  EXPECT_EQ(timeline.ranges[2].end_ns, 60) << "the last that was recorded";
  EXPECT_EQ(text(timeline.ranges[3].name), "(unnamed)");
  EXPECT_THAT(timeline.reading.skipped,
              ElementsAre(Reading::Skipped{"NVTX_EVENTS: NvtxMark is not a range", 1, "start 35"}));
  EXPECT_THAT(timeline.reading.notes,
              ElementsAre("1 range was still open when the capture ended: counted up to its last "
                          "event",
                          "1 event has no name in StringIds: shown as (unnamed)"));
}

TEST(NsysSqlite, StandsForCallsThatWereNotTracedByTheWaitsThatWere) {
  Export file;
  file.call(10, 50, 1, 4);
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, "
      "streamId, correlationId, globalPid, syncType, eventId) VALUES "
      "(11, 49, 0, 1, 7, 1, " +
      std::to_string(kPid) +
      ", 3, 0), "
      "(60, 70, 0, 1, 7, 2, " +
      std::to_string(kPid) +
      ", 3, 0), "
      "(80, 81, 0, 1, 7, 3, " +
      std::to_string(kPid) + ", 2, 0)");
  const Timeline timeline = file.read();
  ASSERT_THAT(timeline.calls, SizeIs(2));
  EXPECT_EQ(timeline.calls[1].start_ns, 60);
  EXPECT_EQ(timeline.calls[1].kind, CallKind::Synchronize);
  EXPECT_EQ(timeline.reading.used, 4U);
  EXPECT_THAT(
      timeline.reading.notes,
      ElementsAre("1 synchronization has no call in the file: CUPTI's record of the wait is "
                  "used instead"));
}

TEST(NsysSqlite, SkipsRowsThatAreNoIntervalsAndTells) {
  Export file;
  file.kernel(50, 40, 1);
  file.kernel(45, 40, 1);
  file.kernel(60, 70, 2);
  file.run("CREATE TABLE OSRT_API (start INTEGER, end INTEGER, nameId INTEGER)");
  file.run("INSERT INTO OSRT_API VALUES (1, 2, 1), (3, 4, 1)");
  file.run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE start = 60");
  file.kernel(0, std::int64_t{1} << 62U, 3);
  file.kernel(80, 90, 4, "999");
  const Timeline timeline = file.read();
  EXPECT_THAT(timeline.work, SizeIs(1));
  EXPECT_EQ(timeline.names.text(timeline.work[0].name), "(unnamed)");
  EXPECT_THAT(
      timeline.reading.skipped,
      ElementsAre(
          Reading::Skipped{"CUPTI_ACTIVITY_KIND_KERNEL: a time that no clock shows", 1, "start 0"},
          Reading::Skipped{"CUPTI_ACTIVITY_KIND_KERNEL: end before start", 2, "start 45"},
          Reading::Skipped{"CUPTI_ACTIVITY_KIND_KERNEL: no start or no end", 1,
                           "a row without a start"},
          Reading::Skipped{"OSRT_API: not one of the tables that are read", 2, "all rows"}));
  EXPECT_EQ(timeline.reading.events(), 7U);
}

TEST(NsysSqlite, TellsOfOddTimesAndKeepsTheRows) {
  Export file;
  file.call(10, 20, 1);
  file.kernel(-30, -20, 2);
  file.kernel(5, 15, 1);
  file.kernel(5'000'000'000, 5'000'000'010, 3);
  file.run("INSERT INTO ANALYSIS_DETAILS VALUES (0, 100, 0, 100)");
  const Timeline timeline = file.read();
  EXPECT_THAT(timeline.work, SizeIs(3));
  EXPECT_EQ(timeline.begin_ns, -30);
  EXPECT_EQ(timeline.end_ns, 5'000'000'010);
  EXPECT_THAT(
      timeline.reading.notes,
      ElementsAre("1 event begins before the session of nsys did, the first at -30 ns",
                  "1 event begins after the session of nsys ended at 100 ns, the last ends at "
                  "5000000010 ns (a jump of the clock?)",
                  "1 piece of work begins before the call that launched it: the clocks of host and "
                  "device disagree"));
}

TEST(NsysSqlite, TakesTheLengthOfACaptureFromItsRowsNotFromTheSession) {
  Export file;
  file.call(200'000'000'000, 200'000'000'100, 1);
  file.kernel(200'000'000'200, 200'969'000'000, 1);
  file.run("INSERT INTO ANALYSIS_DETAILS VALUES (0, 295660000000, 0, 295660000000)");
  const Timeline timeline = file.read();
  EXPECT_EQ(timeline.begin_ns, 200'000'000'000);
  EXPECT_EQ(timeline.end_ns, 200'969'000'000);
  EXPECT_THAT(timeline.reading.notes, IsEmpty());
}

TEST(NsysSqlite, KnowsTheMemoryThatCopiesGoFromAndTo) {
  Export file;
  file.run("CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT)");
  file.run(
      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, '', 'Pageable'), (1, '', 'Pinned'), "
      "(2, '', 'Device'), (3, '', 'Array'), (6, '', 'Managed Static'), (7, '', 'Unknown')");
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES "
      "(10, 20, 0, 1, 7, 1, 0, 4096, 1, 0, 2), (30, 40, 0, 1, 7, 2, 0, 8, 2, 3, 1), "
      "(50, 60, 0, 1, 7, 3, 0, 9, 8, 7, 6), (61, 62, 0, 1, 7, 3, 0, 9, 8, NULL, 99)");
  file.run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, value, bytes, memKind) VALUES (70, 80, 0, 1, 7, 4, 0, 0, 512, 2)");
  const Timeline timeline = file.read();
  std::vector<std::pair<MemoryKind, MemoryKind>> kinds;
  for (const DeviceWork& work : timeline.work) kinds.emplace_back(work.from, work.to);
  using K = MemoryKind;
  EXPECT_THAT(kinds,
              ElementsAre(std::pair(K::Pageable, K::Device), std::pair(K::Array, K::Pinned),
                          std::pair(K::Unknown, K::Managed), std::pair(K::Unknown, K::Unknown),
                          std::pair(K::Unknown, K::Device)));
}

/// Calls of NCCL as nsys records them: ranges with extended payloads.
class NcclExport : public Export {
 public:
  NcclExport() {
    run("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData BLOB");
    run("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx "
        "INTEGER, "
        "flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, "
        "offset INTEGER)");
    run("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES "
        "(1, 11, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL), "
        "(1, 11, 1, NULL, 5, 'No. of ranks', NULL, NULL, 8), "
        "(1, 12, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL), "
        "(1, 12, 1, NULL, 22, 'Message size [bytes]', NULL, NULL, 8)");
    nvtx("start, end, eventType, text, globalTid, domainId",
         "1, NULL, 75, 'NCCL', " + std::to_string(kTid) + ", 1");
  }
  /// A range of NCCL; `payload` as hexadecimal digits.
  void nccl(std::int64_t start, std::int64_t end, const std::string& name,
            const std::string& payload) {
    nvtx("start, end, eventType, text, globalTid, domainId, binaryData",
         std::to_string(start) + ", " + std::to_string(end) + ", 59, '" + name + "', " +
             std::to_string(kTid) + ", 1, " + (payload.empty() ? "NULL" : "x'" + payload + "'"));
  }
  /// One byte each, little-endian: domain 1, the schema, the sizes, a communicator and a number.
  static std::string payload(const std::string& schema, const std::string& communicator,
                             const std::string& number) {
    const std::string zeros(14, '0');
    return "01" + zeros + schema + zeros + "10" + zeros + "20" + zeros + communicator + zeros +
           number + zeros;
  }
};

/// `ncclAllReduce 0xab x4: 16 -> 16`
std::vector<std::string> collectives(const Timeline& timeline) {
  std::vector<std::string> lines;
  for (const Collective& row : timeline.collectives) {
    lines.push_back(timeline.names.text(row.name) + ' ' + timeline.names.text(row.group) + " x" +
                    std::to_string(row.ranks) + ": " + std::to_string(row.in_bytes) + " -> " +
                    std::to_string(row.out_bytes));
  }
  return lines;
}

TEST(NsysSqlite, ReadsTheSizesThatNcclRecords) {
  NcclExport file;
  file.nccl(10, 20, "ncclCommInitRank", NcclExport::payload("0b", "ab", "04"));
  file.nccl(30, 40, "ncclAllReduce", NcclExport::payload("0c", "ab", "10"));
  file.call(32, 34, 1);
  file.kernel(50, 60, 1);
  file.nccl(70, 80, "ncclAllGather", NcclExport::payload("0c", "ab", "08"));
  file.call(82, 84, 2);
  file.kernel(90, 95, 2);
  file.nccl(100, 110, "ncclReduceScatter", NcclExport::payload("0c", "cd", "08"));
  file.nccl(120, 130, "ncclAllReduce", NcclExport::payload("63", "ab", "10"));  // no such schema
  file.nccl(140, 150, "ncclAllReduce", "01");                                   // cut short
  const Timeline timeline = file.read();
  EXPECT_THAT(collectives(timeline),
              ElementsAre("ncclAllReduce 0xab x4: 16 -> 16", "ncclAllGather 0xab x4: 8 -> 32",
                          "ncclReduceScatter 0xcd x0: 8 -> 8"));
  ASSERT_THAT(timeline.work, SizeIs(2));
  EXPECT_EQ(timeline.work[0].collective, 0U);
  EXPECT_EQ(timeline.work[1].collective, kNoRow) << "launched after the call";
}

TEST(NsysSqlite, GivesAKernelOfAGroupToTheOnlyCallInIt) {
  NcclExport file;
  file.nccl(10, 12, "ncclAllReduce", NcclExport::payload("0c", "ab", "10"));
  file.nccl(14, 15, "ncclGroupEnd", "");  // of an inner group: launches nothing
  file.nccl(20, 30, "ncclGroupEnd", "");
  file.call(22, 24, 1);
  file.kernel(50, 60, 1);
  file.nccl(40, 42, "ncclSend", NcclExport::payload("0c", "ab", "01"));
  file.nccl(43, 44, "ncclRecv", NcclExport::payload("0c", "ab", "02"));
  file.nccl(45, 49, "ncclGroupEnd", "");
  file.call(46, 47, 2);
  file.kernel(70, 80, 2);
  const Timeline timeline = file.read();
  EXPECT_THAT(collectives(timeline),
              ElementsAre("ncclAllReduce 0xab x0: 16 -> 16", "ncclSend 0xab x0: 1 -> 1",
                          "ncclRecv 0xab x0: 2 -> 2"));
  ASSERT_THAT(timeline.work, SizeIs(2));
  EXPECT_EQ(timeline.work[0].collective, 0U);
  EXPECT_EQ(timeline.work[1].collective, kNoRow) << "of two calls nobody can say which";
}

TEST(NsysSqlite, ReplacesBytesThatAreNoUtf8) {
  Export file;
  file.run("INSERT INTO StringIds VALUES (30, CAST(x'6162FF63C328' AS TEXT))");
  file.kernel(10, 20, 1, "30");
  const Timeline timeline = file.read();
  EXPECT_EQ(timeline.names.text(timeline.work[0].name),
            "ab\xEF\xBF\xBD"
            "c\xEF\xBF\xBD(");
  EXPECT_THAT(timeline.reading.notes,
              ElementsAre("1 name is not UTF-8: bad bytes are shown as U+FFFD"));
}

TEST(NsysSqlite, TakesAKernelNameOfHalfAMebibyte) {
  Export file;
  const std::string name(std::size_t{512} * 1024, 'k');
  file.run("INSERT INTO StringIds VALUES (30, '" + name + "')");
  file.kernel(10, 20, 1, "30");
  const Timeline timeline = file.read();
  EXPECT_EQ(timeline.names.text(timeline.work[0].name), name);
}

TEST(NsysSqlite, NotesTablesThatAreMissing) {
  Result<sqlite::Database> database = sqlite::Database::in_memory();
  ASSERT_TRUE(database && database->execute("CREATE TABLE StringIds (id INTEGER, value TEXT)"));
  const Result<Timeline> timeline = read_sqlite(*database);
  ASSERT_TRUE(timeline) << error_text(timeline);
  EXPECT_THAT(timeline->reading.notes,
              ElementsAre("no table CUPTI_ACTIVITY_KIND_RUNTIME: calls to CUDA were not traced, so "
                          "no work has a launch record",
                          "no table CUPTI_ACTIVITY_KIND_KERNEL: the file contains no kernels",
                          "no table NVTX_EVENTS: the file contains no ranges"));
}

TEST(NsysSqlite, ReadsStringsOfATableWithoutAKey) {
  Result<sqlite::Database> database = sqlite::Database::in_memory();
  ASSERT_TRUE(
      database &&
      database->execute(
          "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (8, "
          "'gemm');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 8)"));
  const Result<Timeline> timeline = read_sqlite(*database);
  ASSERT_TRUE(timeline) << error_text(timeline);
  ASSERT_THAT(timeline->work, SizeIs(1));
  EXPECT_EQ(timeline->names.text(timeline->work[0].name), "gemm");
  EXPECT_EQ(timeline->work[0].stream, kNoRow);
}

TEST(NsysSqlite, CountsWhatNsysSaysItLost) {
  Export file;
  file.run(
      "INSERT INTO DIAGNOSTIC_EVENT VALUES "
      "(1, 1, 1, 2, 'Some events (\t123) were lost.', 0), (2, 1, 1, 1, 'all is well', 0), "
      "(3, 1, 1, 3, 'CUPTI could not be started', 0)");
  const Timeline timeline = file.read();
  EXPECT_EQ(timeline.reading.lost, 123U);
  EXPECT_THAT(timeline.reading.losses, ElementsAre("Some events (\t123) were lost."));
  EXPECT_THAT(timeline.reading.notes, ElementsAre("nsys: CUPTI could not be started"));
}

TEST(NsysSqlite, TellsWhatIsNoExport) {
  Result<sqlite::Database> database = sqlite::Database::in_memory();
  ASSERT_TRUE(database && database->execute("CREATE TABLE runs (id INTEGER)"));
  EXPECT_EQ(error_text(read_sqlite(*database)),
            "database in memory: is an SQLite database, but not one that 'nsys export --type "
            "sqlite' made: it has neither StringIds nor any table of events");
  const testing::TempDir folder;
  const auto path = folder / "a.sqlite";
  std::ofstream(path) << "NVIDIA Nsight Systems";
  EXPECT_EQ(error_text(read_sqlite(path)), path.string() + ": is not an SQLite database");
  EXPECT_EQ(error_text(read_sqlite(folder / "b")), (folder / "b").string() + ": no such file");
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(NsysSqlite, ReadsWhatIsLeftOfATornFileAndTellsTheLoss) {
  const testing::TempDir folder;
  const auto path = folder / "whole.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(path, {.kernels = 5000}));
  const std::string whole = bytes_of(path);
  const auto torn = folder / "torn.sqlite";
  std::ofstream(torn, std::ios::binary) << whole.substr(0, whole.size() / 2);
  const Result<Timeline> timeline = read_sqlite(torn);
  ASSERT_TRUE(timeline) << error_text(timeline);
  EXPECT_GT(timeline->work.size(), 100U);
  EXPECT_LT(timeline->work.size(), 5040U);
  ASSERT_FALSE(timeline->reading.losses.empty());
  EXPECT_EQ(timeline->reading.losses[0],
            "the file is cut short: " + std::to_string(whole.size() / 2) + " of " +
                std::to_string(whole.size()) + " bytes");
  const auto kernels =
      std::count_if(timeline->work.begin(), timeline->work.end(),
                    [](const DeviceWork& work) { return work.kind == WorkKind::Kernel; });
  EXPECT_THAT(timeline->reading.losses,
              Contains("CUPTI_ACTIVITY_KIND_KERNEL is damaged: only the first " +
                       std::to_string(kernels) + " rows could be read"));
  EXPECT_EQ(bytes_of(torn), whole.substr(0, whole.size() / 2)) << "never modified";

  std::ofstream(torn, std::ios::binary) << whole.substr(0, 4096);
  EXPECT_EQ(error_text(read_sqlite(torn)),
            torn.string() + ": is cut short: 4096 of " + std::to_string(whole.size()) + " bytes");
}

void expect_same(const Timeline& found, const Timeline& expected) {
  EXPECT_EQ(found.begin_ns, expected.begin_ns);
  EXPECT_EQ(found.end_ns, expected.end_ns);
  EXPECT_TRUE(found.work == expected.work);
  EXPECT_TRUE(found.calls == expected.calls);
  EXPECT_TRUE(found.ranges == expected.ranges);
  EXPECT_EQ(found.shapes, expected.shapes);
  EXPECT_EQ(found.streams, expected.streams);
  EXPECT_EQ(found.threads, expected.threads);
  EXPECT_EQ(found.collectives, expected.collectives);
  EXPECT_TRUE(found.gpu_samples == expected.gpu_samples);
  EXPECT_EQ(found.reading, expected.reading);
  ASSERT_EQ(found.names.size(), expected.names.size());
  for (Names::Id id = 0; id < expected.names.size(); ++id) {
    EXPECT_EQ(found.names.text(id), expected.names.text(id));
  }
}

/// Exports as files: generated ones, one with rows that cannot be used, and those of real machines.
std::vector<std::filesystem::path> exports_in(const testing::TempDir& folder) {
  std::vector<std::filesystem::path> paths = {folder / "loop.sqlite", folder / "odd.sqlite",
                                              folder / "workers.sqlite"};
  EXPECT_TRUE(testing::write_decode_loop(paths[0], {.kernels = 2000}));
  EXPECT_TRUE(testing::write_decode_loop(paths[1], {.kernels = 2000, .seed = 2}));
  auto odd = sqlite::Database::open_read_write(paths[1], sqlite::Create::No);
  EXPECT_TRUE(odd && odd->execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 "
                                  "WHERE rowid % 7 = 3;"
                                  "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 9999 "
                                  "WHERE rowid % 5 = 3;"
                                  "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid % 3 = 1;"
                                  "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = 'x' "
                                  "WHERE rowid % 11 = 4"));
  EXPECT_TRUE(testing::write_server_workers(paths[2], {.has_helper = true}));
  for (const char* name : {"2025.3-fast-decode", "2025.3-decode"}) {
    const auto recorded = testing::source_dir() / "tests/golden/nsys" / name;
    paths.push_back(recorded / "input.sqlite");
    if (std::filesystem::exists(paths.back())) continue;
    paths.back() = folder / name;
    const Result<std::string> bytes = testing::unzipped(recorded / "input.sqlite.gz");
    EXPECT_TRUE(bytes && write_file_atomic(paths.back(), *bytes));
  }
  for (const char* name : {"nsys-node.sqlite", "nsys-graph.sqlite"}) {
    paths.push_back(folder / name);
    const Result<std::string> bytes =
        testing::unzipped(testing::zoo_capture(std::string(name) + ".gz"));
    EXPECT_TRUE(bytes && write_file_atomic(paths.back(), *bytes));
  }
  return paths;
}

TEST(NsysSqlite, GivesTheSameInSlicesOfAnySizeOnAnyNumberOfThreads) {
  const testing::TempDir folder;
  for (const std::filesystem::path& path : exports_in(folder)) {
    SCOPED_TRACE(path);
    for (const SqliteRows rows : {SqliteRows::All, SqliteRows::Kernels}) {
      const Result<Timeline> whole =
          read_sqlite(path, rows, {.rows = std::numeric_limits<std::int64_t>::max()});
      ASSERT_TRUE(whole) << error_text(whole);
      EXPECT_THAT(whole->work, Not(IsEmpty()));
      const auto table_rows = static_cast<std::int64_t>(whole->work.size());
      for (const Slicing slicing : {Slicing{table_rows / 3, 1}, Slicing{table_rows / 3, 2},
                                    Slicing{table_rows / 20 + 1, 4}}) {
        SCOPED_TRACE(slicing.threads);
        const Result<Timeline> sliced = read_sqlite(path, rows, slicing);
        ASSERT_TRUE(sliced) << error_text(sliced);
        expect_same(*sliced, *whole);
      }
    }
  }
}

TEST(NsysSqlite, ReadsALargeFileAsOneThreadDoes) {
  const testing::TempDir folder;
  const auto path = folder / "large.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(path, {.kernels = 650'000}));
  const Result<Timeline> sliced = read_sqlite(path);
  ASSERT_TRUE(sliced) << error_text(sliced);
  Result<sqlite::Database> database = sqlite::Database::open_read_only(path);
  ASSERT_TRUE(database);
  const Result<Timeline> whole = read_sqlite(*database);
  ASSERT_TRUE(whole) << error_text(whole);
  expect_same(*sliced, *whole);
}

TEST(NsysSqlite, PassesTheSameRowsOnInPieces) {
  const testing::TempDir folder;
  const auto path = folder / "x.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(path, {.kernels = 70'000}));
  {
    auto database = sqlite::Database::open_read_write(path, sqlite::Create::No);
    ASSERT_TRUE(database && database->execute(
                                "INSERT INTO NVTX_EVENTS (eventType, start, text, globalTid, "
                                "domainId) VALUES (75, 0, 'mine', 4711, 3);"
                                "INSERT INTO NVTX_EVENTS (eventType, start, end, text, globalTid, "
                                "domainId) VALUES (59, 5, 6, 'in it', 4711, 3)"));
    // More than a piece of copies too, after the rest of a piece of kernels.
    ASSERT_TRUE(database->execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 66000) "
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, bytes, copyKind) "
        "SELECT 9000000000 + i * 10, 9000000005 + i * 10, 0, 1, 7, 0, 0, i, 2 FROM n"));
  }
  const auto whole = read_sqlite(path);
  ASSERT_TRUE(whole) << error_text(whole);
  // Name, what kind of row it is, start, end: in any order.
  using Row = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  const auto add_rows = [](const Timeline& timeline, std::vector<Row>& rows) {
    const auto add = [&](const std::string& kind, const auto& row) {
      rows.emplace_back(timeline.names.text(row.name), kind, row.start_ns, row.end_ns);
    };
    for (const DeviceWork& work : timeline.work) {
      add(std::to_string(timeline.streams[work.stream].stream), work);
    }
    for (const HostCall& call : timeline.calls) {
      add(std::to_string(timeline.threads[call.thread].thread), call);
    }
    for (const Range& range : timeline.ranges) add(timeline.names.text(range.domain), range);
  };
  std::vector<Row> expected;
  add_rows(*whole, expected);
  std::vector<Row> rows;
  std::size_t pieces = 0;
  std::size_t largest = 0;
  const auto rest = read_sqlite_in_pieces(path, [&](const Timeline& piece) -> Result<void> {
    ++pieces;
    largest = std::max(largest, piece.work.size() + piece.calls.size() + piece.ranges.size());
    add_rows(piece, rows);
    return {};
  });
  ASSERT_TRUE(rest) << error_text(rest);
  std::sort(expected.begin(), expected.end());
  std::sort(rows.begin(), rows.end());
  EXPECT_TRUE(rows == expected);
  EXPECT_GT(pieces, 4U);
  EXPECT_LT(largest, 2U << 16U);
  EXPECT_THAT(rest->work, IsEmpty());
  EXPECT_EQ(rest->begin_ns, whole->begin_ns);
  EXPECT_EQ(rest->end_ns, whole->end_ns);
  EXPECT_EQ(rest->reading.used, whole->reading.used);
  const auto stopped = read_sqlite_in_pieces(
      path, [](const Timeline&) -> Result<void> { return Error(ErrorKind::Io, "no room"); });
  EXPECT_EQ(error_text(stopped), "no room");
}

TEST(NsysSqlite, ReadsOnlyTheTimesOfKernelsWhenThatIsAskedFor) {
  const testing::TempDir folder;
  const auto path = folder / "a.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(path, {.kernels = 240}));
  const Result<Timeline> timeline = read_sqlite(path, SqliteRows::Kernels);
  ASSERT_TRUE(timeline) << error_text(timeline);
  const Result<Timeline> all = read_sqlite(path);
  ASSERT_TRUE(all) << error_text(all);
  EXPECT_EQ(timeline->work.size(), 240U);
  EXPECT_EQ(timeline->reading.used, 240U);
  EXPECT_THAT(timeline->calls, IsEmpty());
  EXPECT_THAT(timeline->reading.notes, IsEmpty());
  EXPECT_EQ(timeline->tool, "nsys 2025.3.2.0");
  std::vector<DeviceWork> kernels;
  std::copy_if(all->work.begin(), all->work.end(), std::back_inserter(kernels),
               [](const DeviceWork& work) { return work.kind == WorkKind::Kernel; });
  ASSERT_EQ(kernels.size(), timeline->work.size());
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    EXPECT_EQ(timeline->work[row].start_ns, kernels[row].start_ns);
    EXPECT_EQ(timeline->work[row].end_ns, kernels[row].end_ns);
    EXPECT_EQ(timeline->names.text(timeline->work[row].name), all->names.text(kernels[row].name));
    EXPECT_EQ(timeline->streams.at(timeline->work[row].stream),
              all->streams.at(kernels[row].stream));
  }
}

TEST(NsysSqlite, LeavesNothingBesideTheFile) {
  const testing::TempDir folder;
  const auto path = folder / "a.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(path, {.kernels = 120}));
  const std::string before = bytes_of(path);
  ASSERT_TRUE(read_sqlite(path));
  EXPECT_EQ(bytes_of(path), before);
  const auto files = std::distance(std::filesystem::directory_iterator(folder.path()),
                                   std::filesystem::directory_iterator());
  EXPECT_EQ(files, 1);
}

TEST(NsysContents, AreCounted) {
  const testing::TempDir folder;
  const auto file = folder / "run.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(file, {.kernels = 240}));
  const auto read = read_export(file, "decode@*");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->contents.kernels, 240U);
  EXPECT_EQ(read->contents.instances, 1U);
  EXPECT_EQ(read->contents.still_open, 0U);
  EXPECT_GT(read->contents.cuda_calls, 240U);
  const auto steps = read_export(file, "decode_step");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->contents.instances, 2U);
  EXPECT_EQ(read_export(file, "prefill")->contents.instances, 0U);
}

TEST(NsysContents, OfARealCaptureOfAnH200) {
  const auto file = testing::shared_dir() / "fixtures/h200/nsys-decode.sqlite";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  const auto read = read_export(file, "decode");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_GT(read->contents.kernels, 0U);
  EXPECT_GT(read->contents.instances, 0U);
  EXPECT_FALSE(read->timeline.work.empty());
}

TEST(NsysContents, OfWhatIsNoDatabaseAreAnError) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "run.sqlite", "no database at all, and long enough"));
  EXPECT_FALSE(read_export(folder / "run.sqlite", ""));
  EXPECT_FALSE(read_export(folder / "absent.sqlite", ""));
}

}  // namespace
}  // namespace profline::nsys
