#include "workloads/server/engine_times.h"

#include <gtest/gtest.h>

namespace profline::server {
namespace {

TEST(EngineTimes, AreReadFromVllm) {
  const EngineTimes before = parse_engine_times(
      "# HELP vllm:request_queue_time_seconds Time in the queue.\n"
      "vllm:request_queue_time_seconds_bucket{le=\"0.3\"} 4\n"
      "vllm:request_queue_time_seconds_sum{engine=\"0\",model_name=\"a b\"} 1.5\n"
      "vllm:request_queue_time_seconds_count{engine=\"0\",model_name=\"a b\"} 4\n"
      "vllm:request_prefill_time_seconds_sum{engine=\"0\"} 0.5\n"
      "vllm:request_prefill_time_seconds_count{engine=\"0\"} 4\n");
  EXPECT_EQ(before, (EngineTimes{1.5, 4, 0.5, 4}));
  const MeanTimes mean = mean_times(before, {3.5, 8, 1.5, 9}, 100);
  EXPECT_DOUBLE_EQ(*mean.queue_ns, 0.5e9);
  EXPECT_DOUBLE_EQ(*mean.prefill_ns, 0.2e9);
}

TEST(EngineTimes, OfLlamaServerAreDividedByTheRequestsOfTheClient) {
  const EngineTimes after = parse_engine_times("llamacpp:prompt_seconds_total 2\nother 3\n");
  const MeanTimes mean =
      mean_times(parse_engine_times("llamacpp:prompt_seconds_total 1\n"), after, 4);
  EXPECT_FALSE(mean.queue_ns);
  EXPECT_DOUBLE_EQ(*mean.prefill_ns, 0.25e9);
}

TEST(EngineTimes, OfSglangAreTheTimeInItsQueue) {
  EXPECT_EQ(
      parse_engine_times("# HELP sglang:queue_time_seconds Histogram of queueing time in seconds.\n"
                         "# TYPE sglang:queue_time_seconds histogram\n"
                         "sglang:queue_time_seconds_sum{model_name=\"m\",tp_rank=\"0\"} 2.5\n"
                         "sglang:queue_time_seconds_bucket{le=\"0.001\",model_name=\"m\"} 1\n"
                         "sglang:queue_time_seconds_count{model_name=\"m\",tp_rank=\"0\"} 10\n"
                         "sglang:avg_request_queue_latency 0.1\n"
                         "other:queue_time_seconds_sum 7\n"),
      (EngineTimes{2.5, 10, {}, {}}));
}

TEST(EngineTimes, AreNotReadFromALineThatWasCutOff) {
  EXPECT_EQ(parse_engine_times("vllm:request_queue_time_seconds_count 7\n"
                               "vllm:request_queue_time_seconds_sum 12"),
            (EngineTimes{{}, 7, {}, {}}));
}

TEST(EngineTimes, AreNotInvented) {
  EXPECT_EQ(parse_engine_times(""), EngineTimes{});
  EXPECT_EQ(parse_engine_times("a\nrequest_queue_time_seconds_sum NaN\n\n 5\n"), EngineTimes{});
  const MeanTimes mean = mean_times({}, {}, 5);
  EXPECT_FALSE(mean.queue_ns);
  EXPECT_FALSE(mean.prefill_ns);
  // The engine was started again in between.
  EXPECT_FALSE(mean_times({5, 5, 5, 5}, {1, 7, 1, 7}, 5).queue_ns);
}

}  // namespace
}  // namespace profline::server
