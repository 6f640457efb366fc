#include "tools/kineto/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/background.h"
#include "testing/temp_dir.h"
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

TEST(KinetoEnvironment, IsReadFromAProcessThatRuns) {
  const testing::TempDir sockets;
  const testing::TempDir traces;
  struct Case {
    std::map<std::string, std::string> variables;
    std::string why_not;
  };
  const std::string ours = sockets.path();
  const Case cases[] = {
      {{{"KINETO_USE_DAEMON", "1"},
        {"KINETO_IPC_SOCKET_DIR", ours},
        {"KINETO_ONDEMAND_TRACE_DIR", traces.path()}},
       ""},
      {{{"KINETO_IPC_SOCKET_DIR", ours}}, "it was started without KINETO_USE_DAEMON"},
      {{{"KINETO_USE_DAEMON", "1"}}, "it was started without KINETO_IPC_SOCKET_DIR"},
      {{{"KINETO_USE_DAEMON", "1"}, {"KINETO_IPC_SOCKET_DIR", ours + "/absent"}},
       ours + "/absent is not a folder that profline can write to"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.why_not);
    const auto child = BackgroundChild::start({.argv = {"sleep", "60"}, .env = each.variables}, {});
    ASSERT_TRUE(child) << child.error().to_string();
    const auto given = given_to((*child)->process().pid);
    EXPECT_EQ(given ? "" : given.error().message(), each.why_not);
    if (!given) continue;
    EXPECT_EQ(given->sockets, sockets.path());
    EXPECT_EQ(given->traces, traces.path());
  }
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
