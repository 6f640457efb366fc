#include "pipeline/environment.h"

#include <gtest/gtest.h>

#include "process/interrupt.h"
#include "process/runner.h"
#include "schema/read.h"
#include "testing/processes/fake_processes.h"

namespace profline::pipeline {
namespace {

TEST(Environment, ReportsThisMachineAndReadsBack) {
  Interrupt interrupt;
  PosixRunner processes(interrupt);
  const Environment environment = look_around({}, processes);
  EXPECT_NE(environment.host, "");
  EXPECT_NE(environment.kernel, "");
  EXPECT_NE(environment.os, "");
  EXPECT_GT(environment.cpu.threads, 0);
  EXPECT_GT(environment.memory_bytes, 0U);
  EXPECT_EQ(environment.nsys, std::nullopt);
  Node document = to_node(environment);
  EXPECT_EQ(document.find("schema")->as_string(), "profline.env/1");
  document.as_map().erase("schema");
  EXPECT_EQ(schema::read<Environment>(document).value(), environment);
}

TEST(Environment, HasTheWorkloadsVersionBesideItsLibtorch) {
  Toolbox tools;
  tools.workload = std::filesystem::path("/opt/profline-workload");
  testing::FakeProcesses processes;
  processes.expect({"/opt/profline-workload", "--version", "--format", "json"})
      .prints(R"({"version": "2.6.0", "workload": {"version": "0.2.0", "commit": "abc"}})");
  const Environment environment = look_around(tools, processes);
  EXPECT_EQ(environment.workload, (ProgramFacts{"/opt/profline-workload", "0.2.0"}));
  ASSERT_TRUE(environment.libtorch.is_map());
  EXPECT_EQ(environment.libtorch.as_map().size(), 1U);
  EXPECT_EQ(environment.libtorch.find("version")->as_string(), "2.6.0");
}

TEST(Environment, ClocksGoToTheGpuOfTheirUuid) {
  std::vector<GpuFacts> gpus(2);
  gpus[0].uuid = "GPU-a";
  gpus[1].uuid = "GPU-b";
  add_clocks(
      "GPU-b, 345, 1980, 2619, 3201, 700.00, Enabled\nGPU-c, 1, 2, 3, 4, 5, Disabled\nbroken\n"
      "GPU-a, [N/A], 1980, 2619, 3201, [N/A], Disabled\n",
      gpus);
  EXPECT_EQ(gpus[0].sm_mhz, std::nullopt);
  EXPECT_EQ(gpus[0].max_sm_mhz, 1980);
  EXPECT_EQ(gpus[0].persistence, "Disabled");
  EXPECT_EQ(gpus[1].sm_mhz, 345);
  EXPECT_EQ(gpus[1].memory_mhz, 2619);
  EXPECT_EQ(gpus[1].max_memory_mhz, 3201);
  EXPECT_EQ(gpus[1].power_limit_w, 700);
}

}  // namespace
}  // namespace profline::pipeline
