#include "recorder/internal/nvtx_abi.h"

#include <cstddef>

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

// The recorder declares what it needs of NVTX itself; here is the proof that it is the same.
namespace profline::recorder::nvtx {
namespace {

static_assert(sizeof(EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(EventAttributes, size) == offsetof(nvtxEventAttributes_t, size));
static_assert(offsetof(EventAttributes, message_type) ==
              offsetof(nvtxEventAttributes_t, messageType));
static_assert(offsetof(EventAttributes, message) == offsetof(nvtxEventAttributes_t, message));
static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(sizeof(VersionInfo) == sizeof(NvtxExportTableVersionInfo));
static_assert(kCallbacksTable == NVTX_ETID_CALLBACKS && kVersionTable == NVTX_ETID_VERSIONINFO);
static_assert(kVersion == NVTX_VERSION);
static_assert(static_cast<int>(MessageType::Ascii) == NVTX_MESSAGE_TYPE_ASCII);
static_assert(static_cast<int>(MessageType::Unicode) == NVTX_MESSAGE_TYPE_UNICODE);
static_assert(static_cast<int>(MessageType::Registered) == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(kNoTracking == NVTX_NO_PUSH_POP_TRACKING);

TEST(NvtxAbi, TablesHaveTheSizesOfNvtx) {
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_CORE], NVTX_CBID_CORE_SIZE);
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_CUDA], NVTX_CBID_CUDA_SIZE);
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_OPENCL], NVTX_CBID_OPENCL_SIZE);
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_CUDART], NVTX_CBID_CUDART_SIZE);
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_CORE2], NVTX_CBID_CORE2_SIZE);
  EXPECT_EQ(kTableSizes[NVTX_CB_MODULE_SYNC], NVTX_CBID_SYNC_SIZE);
  EXPECT_EQ(kModules, NVTX_CB_MODULE_SIZE);
}

TEST(NvtxAbi, PositionsInTheTablesAreThoseOfNvtx) {
  EXPECT_EQ(core::kMarkEx, NVTX_CBID_CORE_MarkEx);
  EXPECT_EQ(core::kMarkW, NVTX_CBID_CORE_MarkW);
  EXPECT_EQ(core::kRangeStartEx, NVTX_CBID_CORE_RangeStartEx);
  EXPECT_EQ(core::kRangeEnd, NVTX_CBID_CORE_RangeEnd);
  EXPECT_EQ(core::kRangePushEx, NVTX_CBID_CORE_RangePushEx);
  EXPECT_EQ(core::kRangePushA, NVTX_CBID_CORE_RangePushA);
  EXPECT_EQ(core::kRangePop, NVTX_CBID_CORE_RangePop);
  EXPECT_EQ(core2::kDomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
  EXPECT_EQ(core2::kDomainRangeStartEx, NVTX_CBID_CORE2_DomainRangeStartEx);
  EXPECT_EQ(core2::kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
  EXPECT_EQ(core2::kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
  EXPECT_EQ(core2::kDomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
  EXPECT_EQ(core2::kDomainDestroy, NVTX_CBID_CORE2_DomainDestroy);
  EXPECT_EQ(core2::kInitialize, NVTX_CBID_CORE2_Initialize);
}

}  // namespace
}  // namespace profline::recorder::nvtx
