#include "tools/ncu/probe.h"

#include <gtest/gtest.h>

#include "testing/processes/fake_processes.h"

namespace profline::ncu {
namespace {

using testing::FakeProcesses;

TEST(NcuProbe, ReadsTheVersion) {
  FakeProcesses processes;
  processes.expect({"/usr/bin/ncu", "--version"})
      .prints(
          "NVIDIA (R) Nsight Compute Command Line Profiler\n"
          "Copyright (c) 2018-2024 NVIDIA Corporation\n"
          "Version 2024.1.1.0 (build 33998838) (public-release)\n");
  const auto installation = probe(processes, "/usr/bin/ncu");
  ASSERT_TRUE(installation) << installation.error().to_string();
  EXPECT_EQ(installation->version, (ToolVersion{2024, 1, 1}));
}

TEST(NcuProbe, PassesOnWhyItFailed) {
  FakeProcesses processes;
  processes.expect({"/usr/bin/ncu", "--version"}).complains("cannot execute\n").exits(127);
  const auto installation = probe(processes, "/usr/bin/ncu");
  ASSERT_FALSE(installation);
  EXPECT_EQ(installation.error().to_string(),
            "'/usr/bin/ncu --version' exited with code 127: cannot execute");
}

}  // namespace
}  // namespace profline::ncu
