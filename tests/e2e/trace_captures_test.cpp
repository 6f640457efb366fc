// `profline trace` on captures of several devices: their time, ranges, copies and collectives; and
// the order of rows in an SQLite file does not matter.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "formats/sqlite.h"
#include "profline_binary.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using profline::testing::nsys_global_tid;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Nanoseconds per millisecond.
constexpr std::int64_t kMs = 1'000'000;

/// An export of nsys, written row by row.
class MadeExport {
 public:
  explicit MadeExport(const fs::path& path)
      : database_(sqlite::Database::open_read_write(path, sqlite::Create::Yes)) {
    EXPECT_TRUE(database_);
    EXPECT_TRUE(
        profline::testing::create_nsys_tables(*database_, profline::testing::NsysRelease::Y2025));
    run("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData BLOB");
    run("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm<float>'), (3, 'gemm'), "
        "(4, 'cudaMemcpyAsync'), (5, 'worker'), (6, 'other worker')");
  }
  void run(const std::string& sql) {
    const Result<void> done = database_->execute(sql);
    EXPECT_TRUE(done) << done.error().to_string();
  }
  void kernel(int rank, std::int64_t start, std::int64_t end, std::int64_t correlation) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
        "localMemoryPerThread, localMemoryTotal, gridId) VALUES (" +
        numbers({start, end, rank, 1, 7, correlation, nsys_global_tid(10 + rank, 0)}) +
        ",2,3,40,4,1,1,128,1,1,0,0,0,0,1)");
  }
  void call(int rank, std::int64_t start, std::int64_t end, std::int64_t correlation,
            int name = 1) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
        "correlationId, nameId, returnValue) VALUES (" +
        numbers({start, end, 0, nsys_global_tid(10 + rank, 1), correlation, name}) + ",0)");
  }
  void copy(int rank, std::int64_t start, std::int64_t end, std::int64_t bytes, int kind,
            const std::string& memory) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES (" +
        numbers({start, end, rank, 1, 7, 0, nsys_global_tid(10 + rank, 0), bytes, kind}) + "," +
        memory + ")");
  }
  void range(int rank, std::int64_t start, std::int64_t end, const std::string& name) {
    run("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (" +
        numbers({start, end, 59}) + ", '" + name + "', " +
        numbers({nsys_global_tid(10 + rank, 1), 0}) + ")");
  }

 private:
  static std::string numbers(std::initializer_list<std::int64_t> values) {
    std::string text;
    for (const std::int64_t value : values) {
      if (!text.empty()) text += ',';
      text += std::to_string(value);
    }
    return text;
  }

  Result<sqlite::Database> database_;
};

/// Two processes with one GPU each, almost always busy for a second; nsys waited minutes before
/// that.
void write_two_ranks(const fs::path& path) {
  MadeExport file(path);
  constexpr std::int64_t kBegin = 200'000 * kMs;
  file.run("INSERT INTO ANALYSIS_DETAILS VALUES (0, 295660000000, 0, 295660000000)");
  file.run(
      "INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 1, 'NVIDIA H200', 150109880320, "
      "132, 'other', 9, 0)");
  for (int rank = 0; rank < 2; ++rank) {
    file.range(rank, kBegin, kBegin + 1000 * kMs, "decode");
    for (int step = 0; step < 10; ++step) {
      const std::int64_t at = kBegin + step * 100 * kMs;
      file.range(rank, at, at + 100 * kMs, "ProfilerStep#" + std::to_string(step));
      file.range(rank, at + kMs, at + 2 * kMs, "aten::to, op_id = " + std::to_string(100 + step));
      file.call(rank, at, at + kMs, 1 + step);
      file.kernel(rank, at + kMs, at + (rank == 0 ? 100 : 98) * kMs, 1 + step);
    }
  }
}

Node capture_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto document = parse_json(outcome.out, "trace");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? document->find("captures")->as_list().front() : Node();
}

TEST(TraceCaptures, TakeWallTimeFromTheRowsAndGiveTheSpanOfEachGpu) {
  const profline::testing::TempDir folder;
  write_two_ranks(folder / "two.sqlite");
  const Outcome text = run_profline_in(folder.path(), {"trace", "two.sqlite"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("nsys 2025.3.2.0, 1.0 s, GPU 0: NVIDIA H200, GPU 1: NVIDIA H200\n"),
                    HasSubstr("GPU span  from the first to the last activity of the device\n"
                              "  device        from      to    span    busy  of span\n"
                              "  GPU 0      1.00 ms   1.0 s  999 ms  990 ms   99.1 %\n"
                              "  GPU 1      1.00 ms  998 ms  997 ms  970 ms   97.3 %\n"
                              "  mean of 2  1.00 ms   1.0 s  999 ms  980 ms   98.1 %\n")));
  const Node capture =
      capture_of(run_profline_in(folder.path(), {"trace", "--format", "json", "two.sqlite"}));
  EXPECT_EQ(capture.find("wall_ns")->as_int(), 1000 * kMs);
  const Node::List& spans = capture.find("accounting")->find("gpu_spans")->as_list();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[1].find("device")->as_int(), 1);
  EXPECT_EQ(spans[1].find("begin_ns")->as_int(), kMs);
  EXPECT_EQ(spans[1].find("end_ns")->as_int(), 998 * kMs);
  EXPECT_EQ(spans[1].find("span_ns")->as_int(), 997 * kMs);
  EXPECT_EQ(spans[1].find("busy_ns")->as_int(), 970 * kMs);
}

TEST(TraceCaptures, GiveTheSpanOfAKinetoTraceToo) {
  const Outcome text = run_profline({"trace", (profline::testing::source_dir() /
                                               "tests/golden/trace/kineto-torch-2.11-h200.json.gz")
                                                  .string()});
  EXPECT_THAT(text.out, HasSubstr("GPU span  from the first to the last activity of the device\n"
                                  "  device"));
}

TEST(TraceCaptures, ShareRangesOfSeveralDevicesOutAsAMeanAndFoldNumberedNames) {
  const profline::testing::TempDir folder;
  write_two_ranks(folder / "two.sqlite");
  const Outcome text = run_profline_in(folder.path(), {"trace", "two.sqlite"});
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("ranges  GPU busy: while the range was open, mean of 2 GPUs; own: GPU time "
                      "launched in it, sum of 2 GPUs\n"),
            HasSubstr("decode              2      2.0 s    98.0 %  2.0 s        20       20\n"),
            HasSubstr("ProfilerStep#*     20      2.0 s    98.0 %  2.0 s        20       20\n"),
            HasSubstr("aten::to           20    20.0 ms   100.0 %   0 ns         0        0\n"),
            Not(HasSubstr("op_id")), Not(HasSubstr("ProfilerStep#1"))));
  const Node capture =
      capture_of(run_profline_in(folder.path(), {"trace", "--format", "json", "two.sqlite"}));
  const Node& steps = capture.find("ranges")->as_list()[1];
  EXPECT_EQ(steps.find("name")->as_string(), "ProfilerStep#*");
  EXPECT_EQ(steps.find("names")->as_int(), 10);
  EXPECT_EQ(steps.find("instances")->as_int(), 20);
  EXPECT_DOUBLE_EQ(steps.find("mean_busy_share")->as_float(), 0.98);
}

TEST(TraceCaptures, KeepToTheRangesThatAGlobMatches) {
  const profline::testing::TempDir folder;
  write_two_ranks(folder / "two.sqlite");
  struct Case {
    std::string pattern, line;
  };
  const Case cases[] = {
      {"ProfilerStep#3", "only what happened in 2 instances of range 'ProfilerStep#3', 200 ms\n"},
      {"ProfilerStep#*", "only what happened in 20 instances of range 'ProfilerStep#*', 2.0 s\n"},
      {"aten::to", "only what happened in 20 instances of range 'aten::to', 20.0 ms\n"},
      // The steps are nested in decode, and count once.
      {"*", "only what happened in 42 instances of range '*', 2.0 s\n"},
  };
  for (const Case& c : cases) {
    const Outcome outcome =
        run_profline_in(folder.path(), {"trace", "--range", c.pattern, "two.sqlite"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(c.line));
  }
  const Node capture = capture_of(run_profline_in(
      folder.path(), {"trace", "--format", "json", "--range", "Profiler*", "two.sqlite"}));
  const Node& in_range = *capture.find("in_range");
  EXPECT_EQ(in_range.find("name")->as_string(), "Profiler*");
  EXPECT_EQ(in_range.find("instances")->as_int(), 20);
  EXPECT_EQ(in_range.find("wall_ns")->as_int(), 2000 * kMs);
  EXPECT_EQ(in_range.find("work")->find("count")->as_int(), 20);
}

TEST(TraceCaptures, ListTheRangesThereAreWhenNoneMatches) {
  const profline::testing::TempDir folder;
  write_two_ranks(folder / "two.sqlite");
  const Outcome near =
      run_profline_in(folder.path(), {"trace", "--range", "aten::too", "two.sqlite"});
  EXPECT_EQ(near.code, 3);
  EXPECT_EQ(near.err,
            "profline: two.sqlite has no range that matches 'aten::too'; it has 'aten::to', "
            "'decode', 'ProfilerStep#*'\n");
  {
    MadeExport many(folder / "many.sqlite");
    for (int i = 0; i < 25; ++i) many.range(0, i * 100, i * 100 + 50 - i, "r" + std::to_string(i));
  }
  EXPECT_EQ(run_profline_in(folder.path(), {"trace", "--range", "x*", "many.sqlite"}).err,
            "profline: many.sqlite has no range that matches 'x*'; it has 'r0', 'r1', 'r2', 'r3', "
            "'r4', 'r5', 'r6', 'r7', 'r8', 'r9' and 15 more\n");
  MadeExport(folder / "none.sqlite").kernel(0, 1, 2, 3);
  EXPECT_EQ(run_profline_in(folder.path(), {"trace", "--range", "x", "none.sqlite"}).err,
            "profline: none.sqlite has no ranges, so --range 'x' matches nothing\n");
}

TEST(TraceCaptures, ReportWhatCopiesMovedAndHowFast) {
  const profline::testing::TempDir folder;
  {
    MadeExport file(folder / "copies.sqlite");
    file.run("CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT)");
    file.run(
        "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, '', 'Pageable'), (1, '', 'Pinned'), (2, '', "
        "'Device')");
    file.copy(0, 0, kMs, 50 * kMs, 1, "1, 2");
    file.copy(0, 2 * kMs, 3 * kMs, 6 * kMs, 1, "0, 2");
    file.copy(0, 4 * kMs, 4 * kMs + 1000, 2048, 2, "2, 1");
    file.copy(0, 5 * kMs, 5 * kMs + 500, 1'000'000, 10, "NULL, NULL");
    file.run(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, value, bytes, memKind) VALUES (6000000, 6000100, 0, 1, 7, 4, 0, "
        "0, 512, 2)");
  }
  const Outcome text = run_profline_in(folder.path(), {"trace", "copies.sqlite"});
  EXPECT_THAT(
      text.out,
      HasSubstr(
          "copies and fills  GB/s: while they ran\n"
          "     time  count     mean      bytes  GB/s  direction  memory              what\n"
          "  1.00 ms      1  1.00 ms    5.7 MiB     6  HtoD       pageable -> device  [CUDA memcpy "
          "Host-to-Device]\n"
          "  1.00 ms      1  1.00 ms   47.7 MiB    50  HtoD       pinned -> device    [CUDA memcpy "
          "Host-to-Device]\n"
          "  1.00 us      1  1.00 us    2.0 KiB  2.05  DtoH       device -> pinned    [CUDA memcpy "
          "Device-to-Host]\n"
          "   500 ns      1   500 ns  976.6 KiB  2000  PtoP       –                   [CUDA memcpy "
          "Peer-to-Peer]\n"
          "   100 ns      1   100 ns      512 B  5.12  memset     device              [CUDA "
          "memset]\n"));
  const Node capture =
      capture_of(run_profline_in(folder.path(), {"trace", "--format", "json", "copies.sqlite"}));
  const Node& first = capture.find("copies")->as_list().front();
  EXPECT_EQ(first.find("direction")->as_string(), "HtoD");
  EXPECT_EQ(first.find("bytes")->as_int(), 6 * kMs);
}

TEST(TraceCaptures, ReportWhatCollectivesMovedAndHowFast) {
  const profline::testing::TempDir folder;
  const std::string description =
      R"("Collective name": "allreduce", "In msg nelems": 4000000, "Out msg nelems": 4000000, "Group size": 8, "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg")";
  write_files(folder.path(), {{"t.json",
                               R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 9, "tid": 9, "ts": 100, "dur": 20, "args": {"External id": 5, )" +
                                   description +
                                   R"(}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 9, "tid": 9, "ts": 105, "dur": 5, "args": {"correlation": 1, "External id": 5}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "pid": 0, "tid": 7, "ts": 130, "dur": 80, "args": {"device": 0, "stream": 7, "correlation": 1, "External id": 5, )" +
                                   description + "}}]}"}});
  const Outcome text = run_profline_in(folder.path(), {"trace", "t.json"});
  EXPECT_THAT(
      text.out,
      HasSubstr("collectives  kernel time includes waiting for other ranks\n"
                "     time  count    bytes  GB/s  bus GB/s  ranks  type      group          "
                " collective\n"
                "  80.0 us      1  7.6 MiB   100       175      8  BFloat16  0 (default_pg)"
                "  allreduce\n"));
  const Node capture =
      capture_of(run_profline_in(folder.path(), {"trace", "--format", "json", "t.json"}));
  const Node& row = capture.find("collectives")->as_list().front();
  EXPECT_EQ(row.find("bytes")->as_int(), 8'000'000);
  EXPECT_DOUBLE_EQ(row.find("gb_per_s")->as_float(), 100.0);
  EXPECT_DOUBLE_EQ(row.find("bus_gb_per_s")->as_float(), 175.0);
  EXPECT_EQ(row.find("ranks")->as_int(), 8);
}

/// Rewrites the rows of each table in another order, which depends on the seed.
void shuffle_rows(const fs::path& path, int seed) {
  auto database = sqlite::Database::open_read_write(path, sqlite::Create::No);
  ASSERT_TRUE(database) << database.error().to_string();
  const auto tables = database->tables();
  ASSERT_TRUE(tables);
  for (const std::string& table : *tables) {
    const Result<void> done = database->execute(
        "CREATE TEMP TABLE shuffled AS SELECT * FROM \"" + table + "\" ORDER BY (rowid * " +
        std::to_string(7919 * seed) + ") % 10007 DESC; DELETE FROM \"" + table +
        "\"; INSERT INTO \"" + table + "\" SELECT * FROM shuffled; DROP TABLE shuffled");
    ASSERT_TRUE(done) << done.error().to_string();
  }
}

/// A bit of everything whose order could matter: rows with equal times, names and messages in
/// several versions, skipped rows, open ranges.
void write_odd_rows(const fs::path& path) {
  write_two_ranks(path);
  auto database = sqlite::Database::open_read_write(path, sqlite::Create::No);
  ASSERT_TRUE(database);
  const auto run = [&](const std::string& sql) {
    const Result<void> done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().to_string();
  };
  const std::string first = std::to_string(nsys_global_tid(10, 1));
  const std::string second = std::to_string(nsys_global_tid(11, 1));
  run("INSERT INTO ThreadNames VALUES (5, 20, " + first + "), (6, 20, " + first + "), (6, 10, " +
      second + "), (5, 30, " + second + ")");
  run("INSERT INTO PROCESSES VALUES (" + std::to_string(nsys_global_tid(10, 0)) +
      ", 10, 'python'), (" + std::to_string(nsys_global_tid(10, 0)) + ", 10, 'bash')");
  run("INSERT INTO DIAGNOSTIC_EVENT VALUES (5, 1, 1, 2, 'Some events (7) were lost.', 0), "
      "(3, 1, 1, 3, 'CUPTI could not be started', 0), (3, 1, 1, 2, 'and another thing', 0), "
      "(9, 1, 1, 2, 'Not all CUDA events might have been collected.', 0)");
  run("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 1, 11), (0, 0, 10), (0, 1, 11)");
  const std::string columns =
      "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId) VALUES ";
  run(columns + "(200000000000, NULL, 59, 'open', NULL, " + first + ", 3), " +
      "(200000000000, NULL, 59, 'open', NULL, " + second + ", 3), " +
      "(200000000000, 200000000500, 59, 'alike', NULL, " + first + ", 0), " +
      "(200000000000, 200000000500, 59, 'also alike', NULL, " + first + ", 0), " +
      "(200000000000, 200000000500, 60, 'alike', NULL, " + second + ", 0), " +
      "(1, NULL, 75, 'one name', NULL, " + first + ", 3), " + "(1, NULL, 75, 'a name', NULL, " +
      first + ", 3), " + "(200000000009, NULL, 34, 'mark', NULL, " + first + ", 0), " +
      "(200000000007, NULL, 34, 'mark', NULL, " + second + ", 0), " +
      "(200000000007, 1, 59, 'backwards', NULL, " + second + ", 0), " +
      "(200000000011, 200000000012, 59, NULL, 999, " + second + ", 0)");
  const std::string kernel =
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
      "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
      "localMemoryPerThread, localMemoryTotal, gridId) VALUES ";
  const std::string pid = std::to_string(nsys_global_tid(10, 0));
  run(kernel + "(200500000000, 200500000900, 0, 1, 9, 0, " + pid +
      ", 2, 3, 40, 8, 1, 1, 64, 1, 1, 0, 0, 0, 0, 1), " +
      "(200500000000, 200500000900, 0, 1, 9, 0, " + pid +
      ", 3, 3, 40, 4, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1), " +
      "(200500000000, 200500000900, 0, 1, 8, 0, " + pid +
      ", 77, 77, 40, 4, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1), " +
      "(200500000000, 200400000000, 0, 1, 8, 0, " + pid +
      ", 2, 3, 40, 4, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1)");
  run("INSERT INTO StringIds VALUES (78, CAST(x'6162FF' AS TEXT))");
  run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 78 WHERE streamId = 8 AND end > "
      "start");
}

class ShuffledRows : public ::testing::TestWithParam<std::string> {};

TEST_P(ShuffledRows, ChangeNothingInTheOutput) {
  const profline::testing::TempDir folder;
  const fs::path whole = folder / "whole/capture.sqlite";
  ASSERT_TRUE(create_folders(whole.parent_path()));
  if (GetParam() == "odd_rows") {
    write_odd_rows(whole);
  } else if (GetParam() == "decode_loop") {
    ASSERT_TRUE(profline::testing::write_decode_loop(whole, {.kernels = 480}));
  } else if (GetParam() == "h200_decode") {
    fs::copy_file(profline::testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite",
                  whole);
    fs::permissions(whole, fs::perms::owner_all);
  } else {
    const auto bytes =
        profline::testing::unzipped(profline::testing::zoo_capture("nsys-node.sqlite.gz"));
    ASSERT_TRUE(bytes) << bytes.error().to_string();
    ASSERT_TRUE(write_file_atomic(whole, *bytes));
  }
  const std::vector<std::vector<std::string>> commands = {
      {"trace", "--top", "all", "capture.sqlite"},
      {"trace", "--top", "all", "--format", "json", "capture.sqlite"},
      {"kernels", "top", "capture.sqlite"},
  };
  std::vector<Outcome> expected;
  for (const auto& command : commands) {
    expected.push_back(run_profline_in(whole.parent_path(), command));
    EXPECT_EQ(expected.back().code, 0) << expected.back().err;
  }
  for (int seed = 1; seed <= 3; ++seed) {
    const fs::path shuffled = folder / std::to_string(seed) / "capture.sqlite";
    ASSERT_TRUE(create_folders(shuffled.parent_path()));
    fs::copy_file(whole, shuffled);
    shuffle_rows(shuffled, seed);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const Outcome outcome = run_profline_in(shuffled.parent_path(), commands[i]);
      EXPECT_EQ(outcome.out, expected[i].out) << "seed " << seed;
      EXPECT_EQ(outcome.err, expected[i].err) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TraceCaptures, ShuffledRows,
                         ::testing::Values("odd_rows", "decode_loop", "h200_decode", "zoo"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace profline::e2e
