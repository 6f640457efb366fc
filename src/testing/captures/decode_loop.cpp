#include <algorithm>
#include <array>
#include <optional>

#include "testing/captures/nsys_export.h"

namespace profline::testing {
namespace {

constexpr int kLayers = 12;
constexpr int kKernelsPerLayer = 10;
constexpr int kKernelNames = 200;
constexpr std::int64_t kFirstKernelName = 100;
constexpr std::int64_t kLaunchName = 1;
constexpr std::int64_t kCopyName = 2;
constexpr std::int64_t kWaitName = 3;
constexpr std::int64_t kThreadName = 4;
constexpr std::int64_t kPid = 4711;

/// The same numbers on every machine, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// In [0, below).
  std::int64_t operator()(std::int64_t below) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    bits ^= bits >> 31U;
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(below));
  }

 private:
  std::uint64_t state_;
};

struct Inserts {
  sqlite::Statement kernel, copy, call, range;

  static Result<Inserts> prepare(sqlite::Database& database) {
    return Inserts{
        PL_TRY(database.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
            "correlationId, globalPid, demangledName, shortName, launchType, cacheConfig, "
            "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, "
            "dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId) VALUES "
            "(?1, ?2, 0, 1, 7, ?3, ?4, ?5, ?5, 1, 0, ?6, ?7, ?8, 1, ?9, 1, 1, 1024, ?10, 0, "
            "78446592, ?3)")),
        PL_TRY(database.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, "
            "correlationId, globalPid, bytes, copyKind) VALUES (?, ?, 0, 1, 7, ?, ?, 8, 2)")),
        PL_TRY(database.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
            "correlationId, nameId, returnValue) VALUES (?, ?, 0, ?, ?, ?, 0)")),
        PL_TRY(database.prepare("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, "
                                "domainId) VALUES (?, ?, 59, ?, ?, 0)"))};
  }
};

template <typename... Values>
Result<void> insert(sqlite::Statement& statement, const Values&... values) {
  statement.reset();
  PL_TRY(statement.bind_all(values...));
  PL_TRY(statement.step());
  return {};
}

/// Writes the steps one after the other: the host launches, the device follows.
class Loop {
 public:
  Loop(Inserts inserts, std::uint64_t seed) : inserts_(std::move(inserts)), random_(seed) {}

  Result<void> step() {
    const std::int64_t begin = host_ns_;
    for (int layer = 0; layer < kLayers; ++layer) PL_TRY(this->layer(layer));
    PL_TRY(copy_and_wait());
    host_ns_ += 500;
    PL_TRY(insert(inserts_.range, begin, host_ns_, "decode_step", kTid));
    host_ns_ += 1000 + random_(2000);
    return {};
  }
  Result<void> finish() { return insert(inserts_.range, kBegin, host_ns_, "decode", kTid); }
  std::int64_t end_ns() const { return host_ns_ + 1'000'000; }

 private:
  static constexpr std::int64_t kBegin = 1'000'000;
  static constexpr std::int64_t kTid = nsys_global_tid(kPid, kPid);
  static constexpr std::int64_t kGlobalPid = nsys_global_tid(kPid, 0);

  Result<void> layer(int number) {
    const std::int64_t begin = host_ns_;
    for (int kernel = 0; kernel < kKernelsPerLayer; ++kernel) PL_TRY(launch());
    host_ns_ += 200;
    return insert(inserts_.range, begin, host_ns_, "layer " + std::to_string(number), kTid);
  }

  Result<void> launch() {
    host_ns_ += 800 + random_(3000);
    const std::int64_t call = host_ns_;
    host_ns_ += 1500 + random_(2000);
    PL_TRY(insert(inserts_.call, call, host_ns_, kTid, ++correlation_, kLaunchName));
    const std::int64_t name = random_(kKernelNames);
    const std::int64_t start = std::max(device_ns_, call + 2000 + random_(1500));
    device_ns_ = start + 1000 + name * 20 + random_(800);
    return insert(inserts_.kernel, start, device_ns_, correlation_, kGlobalPid,
                  kFirstKernelName + name, 32 + name, 1 + name % 40, 1 + name % 3,
                  32 * (1 + name % 8), 128 * (name % 100));
  }

  Result<void> copy_and_wait() {
    const std::int64_t call = host_ns_ + 500;
    host_ns_ = call + 2000;
    PL_TRY(insert(inserts_.call, call, host_ns_, kTid, ++correlation_, kCopyName));
    const std::int64_t start = std::max(device_ns_, call + 1500);
    device_ns_ = start + 1200;
    PL_TRY(insert(inserts_.copy, start, device_ns_, correlation_, kGlobalPid));
    const std::int64_t wait = host_ns_ + 300;
    host_ns_ = std::max(wait + 500, device_ns_ + 2500);
    return insert(inserts_.call, wait, host_ns_, kTid, ++correlation_, kWaitName);
  }

  Inserts inserts_;
  Random random_;
  std::int64_t host_ns_ = kBegin;
  std::int64_t device_ns_ = kBegin;
  std::int64_t correlation_ = 0;
};

Result<void> write_strings(sqlite::Database& database) {
  sqlite::Statement string = PL_TRY(database.prepare("INSERT INTO StringIds VALUES (?, ?)"));
  PL_TRY(insert(string, kLaunchName, "cudaLaunchKernel_v7000"));
  PL_TRY(insert(string, kCopyName, "cudaMemcpyAsync_v3020"));
  PL_TRY(insert(string, kWaitName, "cudaStreamSynchronize_v3020"));
  PL_TRY(insert(string, kThreadName, "decoder"));
  for (int name = 0; name < kKernelNames; ++name) {
    PL_TRY(insert(string, kFirstKernelName + name,
                  "void gemm_kernel<float, " + std::to_string(name) + ">(float const*, float*)"));
  }
  sqlite::Statement thread = PL_TRY(database.prepare("INSERT INTO ThreadNames VALUES (?, 20, ?)"));
  return insert(thread, kThreadName, nsys_global_tid(kPid, kPid));
}

}  // namespace

Result<void> write_decode_loop(const std::filesystem::path& path, const DecodeLoop& loop) {
  sqlite::Database database = PL_TRY(sqlite::Database::open_read_write(path, sqlite::Create::Yes));
  PL_TRY(database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"));
  PL_TRY(create_nsys_tables(database, loop.release));
  sqlite::Transaction transaction = PL_TRY(sqlite::Transaction::begin(database));
  PL_TRY(write_strings(database));
  {
    Loop steps(PL_TRY(Inserts::prepare(database)), loop.seed);
    constexpr std::uint64_t kKernelsPerStep = std::uint64_t{kLayers} * kKernelsPerLayer;
    for (std::uint64_t done = 0; done < loop.kernels; done += kKernelsPerStep) {
      PL_TRY(steps.step());
    }
    PL_TRY(steps.finish());
    sqlite::Statement details =
        PL_TRY(database.prepare("INSERT INTO ANALYSIS_DETAILS VALUES (0, ?1, 0, ?1)"));
    PL_TRY(insert(details, steps.end_ns()));
  }
  return transaction.commit();
}

}  // namespace profline::testing
