#include "testing/captures/nsys_export.h"

namespace profline::testing {
namespace {

std::string work_columns(NsysRelease release) {
  const std::string green = release == NsysRelease::Y2022 ? "" : "greenContextId INTEGER, ";
  return "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
         "contextId INTEGER NOT NULL, " +
         green + "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, ";
}

std::string work_tables(NsysRelease release) {
  const std::string columns = work_columns(release);
  const std::string mangled = release == NsysRelease::Y2022 ? "" : "mangledName INTEGER, ";
  std::string sql =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (" + columns +
      "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, " + mangled +
      "launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, "
      "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "
      "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
      "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
      "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, "
      "gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
      "sharedMemoryLimitConfig INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" +
      columns +
      "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, "
      "srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, "
      "dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, "
      "virtualAddress INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" +
      columns +
      "value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (" +
      columns + "syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);";
  if (release == NsysRelease::Y2025) {
    sql += "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (" + columns +
           "graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);";
  }
  return sql;
}

constexpr const char* kCommonTables =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
    "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
    "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "
    "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
    "int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, "
    "floatValue REAL, jsonTextId INTEGER, jsonText TEXT);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, "
    "startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, "
    "localTime TEXT);"
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, "
    "totalMemory INTEGER, smCount INTEGER, uuid TEXT, computeMajor INTEGER, computeMinor INTEGER);"
    "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), "
    "(1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'), "
    "(2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), "
    "(8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), "
    "(10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'), "
    "(11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device');"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1794726136956807234, "
    "'2026-11-15T07:02:16', '2026-11-15T07:02:16');"
    "INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'NVIDIA H200', 150109880320, 132, "
    "'21170e5f-110a-c711-cf48-6bfc8f039fa9', 9, 0);";

std::string release_tables(NsysRelease release) {
  const std::string meta = release == NsysRelease::Y2022 ? "EXPORT_META_DATA" : "META_DATA_EXPORT";
  const std::string version = release == NsysRelease::Y2022   ? "2022.4.2.1"
                              : release == NsysRelease::Y2023 ? "2023.4.4.54"
                                                              : "2025.3.2.0";
  std::string sql = "CREATE TABLE " + meta + " (name TEXT NOT NULL, value TEXT);INSERT INTO " +
                    meta + " VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'), " +
                    "('EXPORT_PRODUCT_VERSION', '" + version + "');";
  if (release == NsysRelease::Y2025) {
    sql +=
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, "
        "pid INTEGER NOT NULL);"
        "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, "
        "timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, "
        "text TEXT NOT NULL, globalPid INTEGER);";
  }
  return sql;
}

}  // namespace

Result<void> create_nsys_tables(sqlite::Database& database, NsysRelease release) {
  PL_TRY(database.execute(work_tables(release)));
  PL_TRY(database.execute(kCommonTables));
  return database.execute(release_tables(release));
}

}  // namespace profline::testing
