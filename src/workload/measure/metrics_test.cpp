#include "workload/measure/metrics.h"

#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline::workload {
namespace {

Request request_of(std::int64_t prefill_ns, std::vector<std::int64_t> token_ns) {
  Request request;
  request.new_tokens = token_ns.size() + 1;
  std::int64_t decode = 0;
  for (const std::int64_t ns : token_ns) decode += ns;
  request.ns = prefill_ns + decode;
  request.phases = {{"prefill", 0, prefill_ns, {}},
                    {"prefill/sam", {}, 3'000'000, {}},
                    {"prefill/clip", {}, 1'000'000, {}},
                    {"prefill/projector", {}, 500'000, {}},
                    {"decode", prefill_ns, decode, std::move(token_ns)}};
  request.attributes = {{"image", Node::string("a.png")},
                        {"dtype", Node::string("bf16")},
                        {"threads", Node::integer(2)},
                        {"engine", Node::string("eager")}};
  return request;
}

double number_at(const Node& document, std::string_view path) {
  const Node* node = document.find_path(path);
  return node == nullptr || !node->is_float() ? -1 : node->as_float();
}

TEST(Metrics, KeepThePredecessorsKeys) {
  const std::vector requests = {request_of(10'000'000, {1'000'000, 3'000'000}),
                                request_of(20'000'000, {2'000'000})};
  const Node metrics =
      metrics_document(requests, {.device = "cpu", .model_dims = ModelDims{1280, 6848, 12}});
  for (const char* path :
       {"aggregates.prefill_ms.mean", "aggregates.prefill_ms.std", "aggregates.decode_ms.mean",
        "aggregates.tokens.mean", "aggregates.tokens_per_s.std", "aggregates.stage_ms.prefill.mean",
        "aggregates.stage_ms.decode.mean", "aggregates.stage_ms.vision.mean",
        "aggregates.stage_ms.sam.mean", "aggregates.stage_ms.clip.mean",
        "aggregates.stage_ms.projector.std", "mfu_model_level", "mfu_per_stage.prefill",
        "mfu_per_stage.decode", "mfu_per_stage.vision", "model_dims.d_model", "model_dims.d_ff",
        "model_dims.n_layers", "peak_tflops"}) {
    EXPECT_NE(metrics.find_path(path), nullptr) << path;
  }
  EXPECT_EQ(metrics.as_map().begin()->value.as_string(), "profline.metrics/1");
  EXPECT_EQ(number_at(metrics, "aggregates.prefill_ms.mean"), 15.0);
  EXPECT_EQ(number_at(metrics, "aggregates.prefill_ms.std"), 5.0);
  EXPECT_EQ(number_at(metrics, "aggregates.tokens.mean"), 2.5);
  EXPECT_EQ(number_at(metrics, "aggregates.stage_ms.vision.mean"), 4.5);
  EXPECT_EQ(number_at(metrics, "aggregates.token_ms.max"), 3.0);
  EXPECT_TRUE(metrics.find("mfu_model_level")->is_null());
}

TEST(Metrics, RatesAreThoseOfDecodePerImageAndOfAll) {
  const std::vector requests = {request_of(10'000'000, {1'000'000, 3'000'000}),
                                request_of(20'000'000, {2'000'000}), request_of(5'000'000, {})};
  const Node metrics = metrics_document(requests, {.device = "cpu"});
  // Both images with steps take 2 ms per step; the third has no rate and does not count.
  EXPECT_EQ(metrics.find_path("aggregates.tokens_per_s.n")->as_int(), 2);
  EXPECT_EQ(number_at(metrics, "aggregates.tokens_per_s.mean"), 500.0);
  EXPECT_EQ(number_at(metrics, "totals.tokens_per_s"), 500.0);
  // Six tokens, three of them from prefill, in 35 ms of prefill and 6 ms of decode.
  EXPECT_DOUBLE_EQ(number_at(metrics, "totals.tokens_per_s_with_prefill"), 6000.0 / 41);
}

TEST(Metrics, OfBatchesCountTheTokensOfAllSequencesAndEachStepOnce) {
  Request batch = request_of(10'000'000, {2'000'000, 2'000'000, 2'000'000});
  batch.batch = 2;
  batch.attributes.erase("image");
  batch.attributes["images"] = Node::list({Node::string("a.png"), Node::string("b.png")});
  batch.attributes["new_tokens_each"] = Node::list({Node::integer(4), Node::integer(2)});
  const std::vector requests = {batch, request_of(10'000'000, {1'000'000})};
  const Node metrics = metrics_document(requests, {.device = "cpu"});
  EXPECT_EQ(metrics.find_path("totals.images")->as_int(), 3);
  EXPECT_EQ(metrics.find_path("totals.new_tokens")->as_int(), 8);
  EXPECT_EQ(metrics.find_path("totals.decode_steps")->as_int(), 4);
  // Four tokens in three steps, then one in one.
  EXPECT_DOUBLE_EQ(number_at(metrics, "totals.tokens_per_s"), 5000.0 / 7);
  EXPECT_DOUBLE_EQ(number_at(metrics, "aggregates.tokens_per_s.min"), 4000.0 / 6);
  EXPECT_EQ(metrics.find_path("aggregates.step_ms.n")->as_int(), 3);
  EXPECT_EQ(metrics.find_path("aggregates.token_ms.n")->as_int(), 1);
}

TEST(Metrics, OfNoRequestsHaveNoNumbers) {
  const Node metrics = metrics_document({}, {.device = "cpu"});
  EXPECT_TRUE(metrics.find_path("aggregates.prefill_ms")->is_null());
  EXPECT_TRUE(metrics.find_path("totals.tokens_per_s")->is_null());
  EXPECT_TRUE(metrics.find("model_dims")->is_null());
  EXPECT_TRUE(write_json(metrics));
}

TEST(Metrics, CeilingsSayThatTheyWereMeasured) {
  const Node metrics =
      metrics_document({}, {.device = "cpu", .ceilings = CpuCeilings{1e10, 2e11, 2}});
  EXPECT_EQ(metrics.find_path("ceilings.source")->as_string(), "measured on this CPU");
  EXPECT_EQ(number_at(metrics, "ceilings.fp32_gemm_flops_per_s"), 2e11);
}

}  // namespace
}  // namespace profline::workload
