#include <fmt/format.h>

#include "testing/captures/nsys_export.h"

namespace profline::testing {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kGemm = 2;  // in StringIds
constexpr int kAllReduce = 4;

/// The kernels of one process.
class Worker {
 public:
  Worker(sqlite::Database& database, std::int64_t pid, int device)
      : database_(database), pid_(pid), device_(device) {}

  Result<void> add_kernel(std::int64_t start_ns, std::int64_t end_ns, int name, int stream) {
    ++correlation_;
    PL_TRY(database_.execute(
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
                    "correlationId, nameId, returnValue) VALUES ({}, {}, 0, {}, {}, 1, 0)",
                    start_ns - 5000, start_ns - 1000, nsys_global_tid(pid_, 1), correlation_)));
    return database_.execute(fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
        "localMemoryPerThread, localMemoryTotal, gridId) VALUES ({}, {}, {}, 1, {}, {}, {}, {}, "
        "{}, 40, 4, 1, 1, 128, 1, 1, 0, 0, 0, 0, 1)",
        start_ns, end_ns, device_, stream, correlation_, nsys_global_tid(pid_, 0), name, name));
  }

 private:
  sqlite::Database& database_;
  std::int64_t pid_;
  int device_;
  std::int64_t correlation_ = 0;
};

}  // namespace

Result<void> write_server_workers(const std::filesystem::path& path, const ServerWorkers& workers) {
  auto database = PL_TRY(sqlite::Database::open_read_write(path, sqlite::Create::Yes));
  PL_TRY(create_nsys_tables(database, NsysRelease::Y2025));
  PL_TRY(database.execute(
      "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm<float>'), (3, 'gemm'), "
      "(4, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')"));
  for (int number = 0; number < 2; ++number) {
    Worker worker(database, workers.first_pid + number, number);
    for (int step = 0; step < workers.steps; ++step) {
      const std::int64_t at_ns = kMillisecond + step * 10 * kMillisecond;
      const std::int64_t late_ns = number == workers.late ? 2 * kMillisecond : 0;
      const std::int64_t arrival_ns = at_ns + 5 * kMillisecond + late_ns;
      PL_TRY(worker.add_kernel(at_ns, arrival_ns, kGemm, 7));
      PL_TRY(worker.add_kernel(arrival_ns, at_ns + 8 * kMillisecond + step % 3 * 1000, kAllReduce,
                               20));
    }
  }
  if (!workers.has_helper) return {};
  return Worker(database, workers.first_pid + 2, 0)
      .add_kernel(3 * kMillisecond, 4 * kMillisecond, kGemm, 9);
}

}  // namespace profline::testing
