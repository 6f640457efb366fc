#include "summary/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A run under nsys: 80 % of the window is decode at batch 8.
ServerRecord decoding() {
  ServerRecord server;
  server.stage = "nsys";
  server.window.emplace();
  server.gpu_busy_share = 0.9;
  ServerStepKind decode;
  decode.kind = "decode";
  decode.batch = 8;
  decode.count = 100;
  decode.share = 0.95;
  decode.median_ns = 19e6;
  decode.total_ns = 1.9e9;
  decode.busy_share = 0.94;
  decode.host_gap_ns = 1e6;
  ServerStepKind idle;
  idle.kind = "idle";
  idle.share = 0.05;
  idle.total_ns = 0.1e9;
  server.steps = ServerSteps{"vLLM", "nsys/run.sqlite", "", {decode, idle}};
  return server;
}

std::string words(const ServerRecord& server) {
  RunSummary summary;
  summary.server.push_back(server);
  return gpu_words(summary);
}

constexpr const char* kShares =
    "While requests waited, the GPU was busy for 90.0 % of the window (nsys): 95.0 % decode at "
    "batch 8 (19.0 ms per step), 5.0 % idle";

TEST(ServerWords, SayOfTheTimeBetweenStepsWhatTheGpuDid) {
  ServerRecord server = decoding();
  server.steps->kinds[0].share = 0.8;
  ServerStepKind& idle = server.steps->kinds[1];
  idle.share = 0.2;
  const std::string between = ". The engine is between steps for 20.0 % of the window";
  EXPECT_THAT(words(server), ::testing::EndsWith(between));
  idle.busy_share = 0.02;
  EXPECT_THAT(words(server), ::testing::EndsWith(between + ", and the GPU idles"));
  idle.busy_share = 0.6;
  EXPECT_THAT(words(server),
              ::testing::EndsWith(between + ", in which the GPU is busy for 60.0 %"));
}

TEST(ServerWords, NameWhatLimitsTheLargestStepIfItWasSampled) {
  ServerRecord server = decoding();
  EXPECT_EQ(words(server), kShares);
  server.steps->kinds[0].dram = 0.71;
  server.steps->kinds[0].tensor_active = 0.2;
  EXPECT_EQ(words(server), std::string(kShares) +
                               ". Decode at batch 8 is memory-bound: its steps use 71.0 % of the "
                               "peak DRAM bandwidth");
  server.steps->kinds[0].tensor_active = 0.8;
  EXPECT_EQ(words(server), std::string(kShares) +
                               ". Decode at batch 8 is compute-bound: the matrix units are active "
                               "in 80.0 % of the cycles of its steps");
  server.steps->kinds[0].tensor_active.reset();
  server.steps->kinds[0].dram = 0.3;
  EXPECT_EQ(words(server), kShares);
}

TEST(ServerTables, HaveColumnsForWhatWasSampled) {
  ServerRecord server = decoding();
  EXPECT_THAT(server_steps(*server.steps).columns,
              ElementsAre("step", "batch", "count", "of the window", "median", "tokens", "GPU busy",
                          "GPU idle per step"));
  server.steps->kinds[0].sm_active = 0.9;
  server.steps->kinds[0].dram = 0.71;
  const ServerTable steps = server_steps(*server.steps);
  EXPECT_EQ(steps.columns.size(), 11U);
  EXPECT_THAT(steps.rows[0], ElementsAre("decode", "8", "100", "95.0 %", "19.0 ms", "–", "94.0 %",
                                         "1.00 ms", "90.0 %", "–", "71.0 %"));
  EXPECT_EQ(steps.rows[1].size(), steps.columns.size());
}

TEST(ServerTables, ListTheGpusInTheWindow) {
  ServerRecord server = decoding();
  EXPECT_THAT(server_gpus(server).rows, IsEmpty());
  server.gpus.push_back({.device = 0, .name = "NVIDIA H200", .busy_share = 0.9, .metrics = {}});
  EXPECT_THAT(server_gpus(server).rows[0], ElementsAre("0", "NVIDIA H200", "90.0 %"));
  DeviceMetrics metrics;
  metrics.sm_active = 0.5;
  metrics.dram_bytes = 2e12;
  server.gpus.push_back({.device = 1, .name = "", .busy_share = 0.1, .metrics = metrics});
  const ServerTable gpus = server_gpus(server);
  EXPECT_THAT(gpus.rows[1], ElementsAre("1", "", "10.0 %", "50.0 %", "–", "–", "–", "2.00 TB", "–",
                                        "–", "–", "–"));
  EXPECT_EQ(gpus.rows[0].size(), gpus.columns.size());
}

}  // namespace
}  // namespace profline::summary
