#include "tools/gpu/driver.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "testing/paths.h"

namespace profline::gpu {
namespace {

std::string fake_libcuda() {
  return (testing::binary_dir() / "fake_tools/libcuda.so.1").string();
}

TEST(GpuDriver, ListsWhatTheDriverSees) {
  const auto driver = load_driver(fake_libcuda());
  ASSERT_TRUE(driver) << driver.error().to_string();
  EXPECT_EQ(driver->cuda_major, 13);
  EXPECT_EQ(driver->cuda_minor, 2);
  ASSERT_EQ(driver->devices.size(), 2U);
  EXPECT_EQ(driver->devices[0].name, "NVIDIA H200");
  EXPECT_EQ(driver->devices[0].compute_major, 9);
  EXPECT_EQ(driver->devices[0].memory_bytes, 141ULL << 30U);
  EXPECT_EQ(driver->devices[1].uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(driver->devices[1].compute_minor, 9);
}

TEST(GpuDriver, MissingLibraryIsNotFoundAndNamed) {
  const auto driver = load_driver("libcuda-nowhere.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(driver.error().to_string(),
            "no NVIDIA driver: libcuda-nowhere.so.1: cannot open shared object file: No such file "
            "or directory");
}

class FailingDriver : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("FAKE_CUDA_STATUS"); }
  static Error failure(const char* status) {
    setenv("FAKE_CUDA_STATUS", status, 1);
    auto driver = load_driver(fake_libcuda());
    return driver ? Error(ErrorKind::Io, "no failure") : std::move(driver).error();
  }
};

TEST_F(FailingDriver, NoDeviceIsNotFound) {
  EXPECT_EQ(failure("100").to_string(), "the NVIDIA driver sees no GPU");
  EXPECT_EQ(failure("100").kind(), ErrorKind::NotFound);
}

TEST_F(FailingDriver, OtherFailuresAreTheDriversOwnWords) {
  EXPECT_EQ(failure("803").to_string(),
            "cuInit failed: system has unsupported display driver / cuda driver combination (error "
            "803)");
  EXPECT_EQ(failure("999").to_string(), "cuInit failed: error 999");
  EXPECT_EQ(failure("999").kind(), ErrorKind::Tool);
}

TEST(GpuDriver, ReadsTheKernelModulesVersion) {
  EXPECT_EQ(kernel_module_version(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 "
                "UTC 2024\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
            "535.183.01");
  EXPECT_EQ(kernel_module_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                  "580.159.04  Release Build  (dvs-builder@U22)\n"),
            "580.159.04");
  EXPECT_EQ(kernel_module_version("GCC version:  gcc version 12.2.0\n"), "");
}

TEST(GpuDriver, ReadsWhetherCountersAreRestricted) {
  EXPECT_TRUE(counters_are_restricted("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"));
  EXPECT_FALSE(counters_are_restricted("RmProfilingAdminOnly: 0\n"));
  EXPECT_FALSE(counters_are_restricted(""));
}

}  // namespace
}  // namespace profline::gpu
