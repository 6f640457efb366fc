#include "tools/kineto/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/kineto/protocol.h"

namespace profline::kineto {
namespace {

TEST(KinetoEnvironment, NamesTheFoldersAndTheConfig) {
  unsetenv("KINETO_LOG_LEVEL");
  const auto variables = environment("/tmp/s", "/r/torch_profiler", "/r/torch_profiler/k.conf");
  EXPECT_EQ(variables,
            (std::map<std::string, std::string>{{"KINETO_CONFIG", "/r/torch_profiler/k.conf"},
                                                {"KINETO_IPC_SOCKET_DIR", "/tmp/s"},
                                                {"KINETO_LOG_LEVEL", "4"},
                                                {"KINETO_ONDEMAND_TRACE_DIR", "/r/torch_profiler"},
                                                {"KINETO_USE_DAEMON", "1"}}));
}

TEST(KinetoEnvironment, HasAShortFolderForEachRun) {
  const auto folder = socket_folder("/home/somebody/" + std::string(200, 'x'));
  EXPECT_LE(folder.native().size(), kMostFolderBytes);
  EXPECT_EQ(folder, socket_folder("/home/somebody/" + std::string(200, 'x')));
  EXPECT_NE(folder, socket_folder("/home/somebody/else"));
}

TEST(KinetoEnvironment, RecognisesProgramsThatIsolate) {
  struct Case {
    std::vector<std::string> argv;
    std::string_view name;
  };
  const Case cases[] = {
      {{"docker", "run", "image"}, "docker"},
      {{"/usr/bin/srun", "-n1", "python3", "x.py"}, "srun"},
      {{"env", "A=1", "nice", "-n", "5", "podman", "run"}, "podman"},
      {{"timeout", "10s", "apptainer", "exec"}, "apptainer"},
      {{"python3", "docker"}, ""},
      {{"python3", "x.py", "--engine", "docker"}, ""},
      {{}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(isolating_program(c.argv), c.name);
  }
}

}  // namespace
}  // namespace profline::kineto
