#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/server/command.h"

namespace profline::server {
namespace {

using Words = std::vector<std::string>;

TEST(ServerCommand, GetsTheFlagsThatItDoesNotHave) {
  settings::Workload workload;
  workload.command = Words{"vllm", "serve", "m", "--port", "9000", "--host=0.0.0.0"};
  workload.server.flags = {"--host 127.0.0.1", "--port 8000", "--metrics", "--name a b"};
  EXPECT_EQ(server_argv(workload), (Words{"vllm", "serve", "m", "--port", "9000", "--host=0.0.0.0",
                                          "--metrics", "--name", "a b"}));
}

TEST(ServerCommand, TakesTheWholeOfAnOptionForItsParts) {
  settings::Workload workload;
  workload.server.flags = {"--profiler.kind cuda"};
  workload.command = Words{"serve", R"(--profiler={"kind": "torch"})"};
  EXPECT_EQ(server_argv(workload), *workload.command);
  workload.command = Words{"serve", "--profiler.kind=torch"};
  EXPECT_EQ(server_argv(workload), *workload.command);
  workload.command = Words{"serve", "--prof"};
  EXPECT_EQ(server_argv(workload), (Words{"serve", "--prof", "--profiler.kind", "cuda"}));
}

TEST(ServerCommand, KnowsWhereTracesGo) {
  settings::Workload workload;
  workload.command = Words{"serve"};
  workload.cwd = "sub";
  workload.server.flags = {"--profile={traces}"};
  workload.server.env = {{"ENGINE_TRACES", "{traces}/engine"}};
  const Command command = server_command(workload, "/work", "/work/run", "/work/run/nsys");
  EXPECT_EQ(command.argv, (Words{"serve", "--profile=/work/run/nsys"}));
  EXPECT_EQ(command.cwd, "/work/sub");
  EXPECT_EQ(command.env.at("ENGINE_TRACES"), "/work/run/nsys/engine");
  EXPECT_EQ(command.env.at("PROFLINE_TRACE_DIR"), "/work/run/nsys");
  EXPECT_EQ(command.env.at("PROFLINE_RUN_DIR"), "/work/run");
}

}  // namespace
}  // namespace profline::server
