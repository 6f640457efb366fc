#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface between NVTX 3 and a tool, as far as the recorder uses it. It is fixed:
/// programs built with one release of NVTX are profiled by tools built with another. Declared here
/// so that the recorder is the same whether or not the headers of NVTX are installed;
/// nvtx_abi_test.cpp compares it with them.
namespace profline::recorder::nvtx {

inline constexpr std::uint32_t kCallbacksTable = 1;
inline constexpr std::uint32_t kVersionTable = 3;
inline constexpr std::uint32_t kVersion = 3;

enum class Module : std::int32_t {
  Core = 1,
  Cuda = 2,
  OpenCl = 3,
  CudaRt = 4,
  Core2 = 5,
  Sync = 6
};
inline constexpr std::size_t kModules = 7;
/// Entries of each module's table, the unused first one included; by Module.
inline constexpr std::uint32_t kTableSizes[kModules] = {0, 16, 9, 15, 7, 16, 7};
inline constexpr std::uint32_t kLargestTable = 16;

/// Positions in the table of Module::Core.
namespace core {
inline constexpr std::uint32_t kMarkEx = 1, kMarkA = 2, kMarkW = 3;
inline constexpr std::uint32_t kRangeStartEx = 4, kRangeStartA = 5, kRangeStartW = 6, kRangeEnd = 7;
inline constexpr std::uint32_t kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11;
}  // namespace core

/// Positions in the table of Module::Core2.
namespace core2 {
inline constexpr std::uint32_t kDomainMarkEx = 1, kDomainRangeStartEx = 2, kDomainRangeEnd = 3;
inline constexpr std::uint32_t kDomainRangePushEx = 4, kDomainRangePop = 5;
inline constexpr std::uint32_t kDomainRegisterStringA = 10, kDomainRegisterStringW = 11;
inline constexpr std::uint32_t kDomainCreateA = 12, kDomainCreateW = 13, kDomainDestroy = 14;
inline constexpr std::uint32_t kInitialize = 15;
}  // namespace core2

/// What a push returns if depths are not tracked.
inline constexpr int kNoTracking = -2;

using Function = void (*)();
/// Entries point to where NVTX keeps its function pointers; null where it has none.
using FunctionTable = Function**;

struct Callbacks {
  std::size_t struct_size;
  int (*get_module_function_table)(Module module, FunctionTable* table, unsigned* size);
};

struct VersionInfo {
  std::size_t struct_size;
  std::uint32_t version;
  std::uint32_t reserved0;
  void (*set_injection_version)(std::uint32_t version);
};

using GetExportTable = const void* (*)(std::uint32_t table);
using InitializeInjection = int (*)(GetExportTable);

enum class MessageType : std::int32_t { Unknown = 0, Ascii = 1, Unicode = 2, Registered = 3 };

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved0;
  std::uint64_t payload;
  MessageType message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    void* registered;
  } message;
};
static_assert(sizeof(EventAttributes) == 48);

}  // namespace profline::recorder::nvtx
