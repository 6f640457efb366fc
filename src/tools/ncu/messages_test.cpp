#include "tools/ncu/messages.h"

#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

TEST(NcuMessages, OfACaptureCountWhatWasProfiled) {
  const Messages messages = read_messages(
      "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, "
      "profiling "
      "results may be inconsistent.\n"
      "==PROF== Connected to process 937 (/usr/bin/app)\n"
      "==PROF== Profiling \"gemm\" - 0: 0%....50%....100% - 9 passes\n"
      "==PROF== Profiling \"copy\": 0%....50%....100% - 1 pass\n"
      "==PROF== Disconnected from process 937\n");
  EXPECT_EQ(messages.connected, 1U);
  EXPECT_EQ(messages.profiled, 2U);
  EXPECT_EQ(messages.nothing_profiled, "");
  EXPECT_EQ(messages.warnings.size(), 1U);
  EXPECT_TRUE(messages.errors.empty());
}

TEST(NcuMessages, TellEachKindOfNothing) {
  EXPECT_EQ(read_messages("==WARNING== No kernels were profiled.\n").nothing_profiled, "kernels");
  EXPECT_EQ(read_messages("==WARNING== No ranges were profiled.\n").nothing_profiled, "ranges");
  EXPECT_EQ(read_messages("==WARNING== No graphs were profiled.\n").nothing_profiled, "graphs");
}

TEST(NcuMessages, OfFailuresAreRecognised) {
  const Messages denied = read_messages(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.\n");
  EXPECT_TRUE(denied.counters_denied);
  EXPECT_EQ(denied.errors.size(), 1U);

  const Messages unreachable = read_messages(
      "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on "
      "path?).\n==ERROR== The application returned an error code (1).\n"
      "==WARNING== No kernels were profiled.\n");
  EXPECT_TRUE(unreachable.no_libcuda);
  EXPECT_EQ(unreachable.application_code, 1);

  EXPECT_TRUE(read_messages("==ERROR== './x' does not exist or is not an executable. Please make "
                            "sure to specify the absolute path to './x'.\n")
                  .program_not_found);
  EXPECT_TRUE(read_messages("==ERROR== Unable to write to file n2.ncu-rep. Please verify this file "
                            "is not locked, and writable.\n")
                  .cannot_write);
}

}  // namespace
}  // namespace profline::ncu
