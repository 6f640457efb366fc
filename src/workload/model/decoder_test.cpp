#include "workload/model/decoder.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "workload/model/attention.h"
#include "workload/model/testing_tensors.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

using testing::largest_difference;
using testing::random_tensor;

DeepseekOcrConfig small_config() {
  DeepseekOcrConfig config = tiny_config();
  config.n_routed_experts = 8;
  config.num_experts_per_tok = 3;
  return config;
}

/// The tiny model's values for one layer's experts, and each expert apart.
class OneLayer {
 public:
  explicit OneLayer(const DeepseekOcrConfig& config) : weights_(config), config_(config) {}

  Moe moe() {
    TensorLoader loader(weights_, {});
    return {loader, "model.layers.1.mlp", config_};
  }

  /// Token by token, expert by expert.
  at::Tensor naive(const at::Tensor& x, const Routing& routing) {
    TensorLoader loader(weights_, {});
    const std::int64_t width = config_.hidden_size;
    at::Tensor result = at::zeros_like(x);
    for (std::int64_t t = 0; t < x.size(0); ++t) {
      for (std::int64_t i = 0; i < routing.experts.size(1); ++i) {
        const std::string name =
            experts_ + std::to_string(routing.experts[t][i].item<std::int64_t>());
        const GatedMlp mlp = loader.gated_mlp(name, width, config_.moe_intermediate_size);
        result[t] += routing.weights[t][i] * mlp(x[t]);
      }
    }
    return result;
  }

 private:
  std::string experts_ = "model.layers.1.mlp.experts.";
  DeterministicWeights weights_;
  DeepseekOcrConfig config_;
};

TEST(Moe, BothWaysOfRunningExpertsEqualTheNaiveLoop) {
  OneLayer layer(small_config());
  const Moe moe = layer.moe();
  for (const std::int64_t tokens : {1, 2, 13}) {
    const at::Tensor x = random_tensor({tokens, 64}, 5);
    const Routing routing = moe.route(x);
    const at::Tensor expected = layer.naive(x, routing);
    EXPECT_LT(largest_difference(moe.routed_by_group(x, routing), expected), 2e-6) << tokens;
    EXPECT_LT(largest_difference(moe.routed_by_gather(x, routing), expected), 2e-6) << tokens;
  }
}

TEST(Moe, ExpertsWithoutTokensAreFine) {
  OneLayer layer(small_config());
  const Moe moe = layer.moe();
  const at::Tensor x = random_tensor({4, 64}, 5);
  for (const std::int64_t expert : {0, 3, 7}) {  // all tokens to one: first, middle, last
    const Routing routing{at::full({4, 1}, expert, at::kLong), at::full({4, 1}, 0.5F)};
    EXPECT_LT(largest_difference(moe.routed_by_group(x, routing), layer.naive(x, routing)), 2e-6)
        << expert;
  }
}

TEST(Moe, WeightsAreTheLargestProbabilitiesAndNotRenormalised) {
  OneLayer layer(small_config());
  const at::Tensor x = random_tensor({6, 64}, 5);
  const Routing routing = layer.moe().route(x);
  EXPECT_EQ(routing.experts.sizes(), (at::IntArrayRef{6, 3}));
  EXPECT_EQ(routing.weights.scalar_type(), at::kFloat);
  const at::Tensor sums = routing.weights.sum(-1);
  EXPECT_LT(sums.max().item<double>(), 1.0);
  EXPECT_GT(sums.min().item<double>(), 3.0 / 8.0);  // more than any three at random
}

TEST(Moe, NormalisesOrScalesWhenTheConfigSaysSo) {
  const at::Tensor x = random_tensor({6, 64}, 5);
  const Routing plain = OneLayer(small_config()).moe().route(x);

  DeepseekOcrConfig normalised = small_config();
  normalised.norm_topk_prob = true;
  const at::Tensor sums = OneLayer(normalised).moe().route(x).weights.sum(-1);
  EXPECT_LT(largest_difference(sums, at::ones_like(sums)), 1e-6);

  DeepseekOcrConfig scaled = small_config();
  scaled.routed_scaling_factor = 2.5;
  EXPECT_LT(largest_difference(OneLayer(scaled).moe().route(x).weights, plain.weights * 2.5), 1e-6);
}

TEST(Rope, TurnsPairsHalfAVectorApart) {
  const Rope rope(/*head_dim=*/4, /*theta=*/100.0, /*positions=*/2, at::kCPU);
  // Pairs (0, 2) and (1, 3); frequencies 1 and 1/10. Position 3 is beyond the first tables.
  const at::Tensor x = at::tensor({1.0, 0.0, 0.0, 1.0}).to(at::kFloat).view({1, 1, 1, 4});
  const at::Tensor expected =
      at::tensor({std::cos(3.0), -std::sin(0.3), std::sin(3.0), std::cos(0.3)}).to(at::kFloat);
  EXPECT_LT(largest_difference(rope(x, 3).flatten(), expected), 1e-6);
}

TEST(Rope, TokensOfOneCallHaveConsecutivePositions) {
  const Rope rope(8, 10000.0, 16, at::kCPU);
  const at::Tensor x = random_tensor({1, 5, 2, 8}, 1);
  const at::Tensor together = rope(x, 2);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(largest_difference(rope(x.narrow(1, i, 1), 2 + i), together.narrow(1, i, 1)), 0.0);
  }
}

TEST(RmsNorm, FollowsTheFormula) {
  const at::Tensor x = random_tensor({3, 16}, 1);
  const at::Tensor weight = random_tensor({16}, 2);
  const at::Tensor wide = x.to(at::kDouble);
  const at::Tensor expected =
      wide / (wide.square().mean(-1, true) + 1e-6).sqrt() * weight.to(at::kDouble);
  EXPECT_LT(largest_difference(compat::rms_norm(x, weight, 1e-6), expected), 1e-6);
}

}  // namespace
}  // namespace profline::workload
