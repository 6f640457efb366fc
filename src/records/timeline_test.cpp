#include "records/timeline.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(CallKind, IsToldByTheFunctionsName) {
  struct Case {
    std::string_view function;
    CallKind kind;
  };
  constexpr Case kCases[] = {
      {"cudaLaunchKernel_v7000", CallKind::Launch},
      {"cudaLaunchKernelExC_v11060", CallKind::Launch},
      {"cudaLaunchCooperativeKernel_ptsz_v9000", CallKind::Launch},
      {"cuLaunchKernelEx", CallKind::Launch},
      {"hipLaunchKernel", CallKind::Launch},
      {"hipExtModuleLaunchKernel", CallKind::Launch},
      {"cudaLaunchHostFunc_v10000", CallKind::Other},
      {"cudaGraphLaunch_v10000", CallKind::GraphLaunch},
      {"cuGraphLaunch", CallKind::GraphLaunch},
      {"cudaGraphInstantiate_v12000", CallKind::Other},
      {"cudaMemcpyAsync_v3020", CallKind::Copy},
      {"cuMemcpyHtoDAsync_v2", CallKind::Copy},
      {"cudaMemsetAsync_v3020", CallKind::Fill},
      {"cuMemsetD8Async", CallKind::Fill},
      {"cudaDeviceSynchronize_v3020", CallKind::Synchronize},
      {"cuStreamSynchronize", CallKind::Synchronize},
      {"cudaEventSynchronize_v3020", CallKind::Synchronize},
      {"cudaStreamWaitEvent_v3020", CallKind::Other},
      {"cudaEventQuery_v3020", CallKind::Other},
      {"cudaMalloc_v3020", CallKind::Memory},
      {"cudaFreeAsync_v11020", CallKind::Memory},
      {"cudaHostAlloc_v3020", CallKind::Memory},
      {"cuMemCreate", CallKind::Memory},
      {"cuKernelGetName", CallKind::Other},
      {"Launch", CallKind::Other},
      {"", CallKind::Other},
  };
  for (const Case& c : kCases) EXPECT_EQ(call_kind(c.function), c.kind) << c.function;
}

TEST(CallKind, NamesOfFunctionsAreKnown) {
  for (const char* name : {"cudaLaunchKernel", "cuLaunchKernelEx", "hipMemcpyAsync", "INVALID"}) {
    EXPECT_TRUE(is_call_name(name)) << name;
  }
  for (const char* name :
       {"aten::mm", "cuda_kernel", "custom_op", "hipster", "cu", "invalid", ""}) {
    EXPECT_FALSE(is_call_name(name)) << name;
  }
}

}  // namespace
}  // namespace profline
