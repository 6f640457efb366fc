#include "workload/model/deepseek_ocr.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workload/model/testing_tensors.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

using testing::largest_difference;
using testing::random_tensor;

DeepseekOcr tiny_model(const ModelOptions& options = {},
                       const DeepseekOcrConfig& config = tiny_config()) {
  DeterministicWeights weights(config);
  return DeepseekOcr::load(config, weights, options).value();
}

/// A prompt of text only.
at::Tensor prefill_text(const DeepseekOcr& model, const std::vector<std::int64_t>& ids,
                        KvCache& cache) {
  return model.prefill(ids, std::vector<std::uint8_t>(ids.size(), 0), {}, cache);
}

const std::vector<std::int64_t> kIds = {0, 17, 4, 230, 99, 99, 321, 5, 60, 2, 140, 31};

void expect_cache_equals_recompute(const DeepseekOcr& model) {
  KvCache cache = model.new_cache(static_cast<std::int64_t>(kIds.size()));
  at::Tensor stepped = prefill_text(model, {kIds.begin(), kIds.begin() + 4}, cache);
  for (std::size_t length = 4; length <= kIds.size(); ++length) {
    KvCache fresh = model.new_cache(static_cast<std::int64_t>(length));
    const at::Tensor recomputed = prefill_text(
        model, {kIds.begin(), kIds.begin() + static_cast<std::ptrdiff_t>(length)}, fresh);
    EXPECT_LT(largest_difference(stepped, recomputed), 1e-4) << length;
    if (length < kIds.size()) stepped = model.decode(at::tensor({kIds[length]}), cache);
  }
  EXPECT_EQ(cache.length(), static_cast<std::int64_t>(kIds.size()));
}

TEST(DeepseekOcr, DecodingWithTheCacheEqualsRecomputing) {
  expect_cache_equals_recompute(tiny_model());
}

TEST(DeepseekOcr, SoDoFewerKeyHeadsThanQueryHeads) {
  DeepseekOcrConfig config = tiny_config();
  config.num_key_value_heads = 2;
  expect_cache_equals_recompute(tiny_model({}, config));
}

TEST(DeepseekOcr, AClearedCacheStartsAnew) {
  const DeepseekOcr model = tiny_model();
  KvCache cache = model.new_cache(16);
  const at::Tensor first = prefill_text(model, kIds, cache);
  cache.clear();
  EXPECT_EQ(cache.length(), 0);
  EXPECT_TRUE(at::equal(prefill_text(model, kIds, cache), first));
}

TEST(DeepseekOcr, FusedAndExplicitAttentionAgree) {
  ModelOptions explicit_attention;
  explicit_attention.fused_attention = false;
  const DeepseekOcr fused = tiny_model();
  const DeepseekOcr plain = tiny_model(explicit_attention);
  Scopes scopes;
  const ImageViews views{
      random_tensor({1, 3, 256, 256}, 1), random_tensor({2, 3, 128, 128}, 2), {2, 1}};
  const at::Tensor rows = fused.encode_image(views, scopes);
  EXPECT_LT(largest_difference(rows, plain.encode_image(views, scopes)), 1e-4);

  std::vector<std::int64_t> ids(static_cast<std::size_t>(rows.size(0)), 320);
  std::vector<std::uint8_t> is_image(ids.size(), 1);
  ids.push_back(201);
  is_image.push_back(0);
  KvCache fused_cache = fused.new_cache(64);
  KvCache plain_cache = plain.new_cache(64);
  EXPECT_LT(largest_difference(fused.prefill(ids, is_image, rows, fused_cache),
                               plain.prefill(ids, is_image, rows, plain_cache)),
            1e-4);
}

TEST(DeepseekOcr, Bf16StaysNearFp32) {
  ModelOptions half;
  half.dtype = at::kBFloat16;
  const DeepseekOcr model = tiny_model(half);
  KvCache cache = model.new_cache(16);
  const at::Tensor logits = prefill_text(model, kIds, cache);
  EXPECT_EQ(logits.scalar_type(), at::kFloat);
  KvCache exact_cache = tiny_model().new_cache(16);
  const at::Tensor exact = prefill_text(tiny_model(), kIds, exact_cache);
  EXPECT_LT(largest_difference(logits, exact), 0.5);  // logits reach about ±6
  Scopes scopes;
  const at::Tensor rows = model.encode_image({random_tensor({1, 3, 256, 256}, 1), {}, {}}, scopes);
  EXPECT_EQ(rows.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(rows.isfinite().all().item<bool>());
}

class NamedScopes : public Scopes {
 public:
  void enter(const char* name) override { text += std::string("(") + name; }
  void leave() override { text += ")"; }
  std::string text;
};

TEST(DeepseekOcr, ReportsItsScopesTilesFirst) {
  const DeepseekOcr model = tiny_model();
  NamedScopes scopes;
  model.encode_image({random_tensor({1, 3, 128, 128}, 1), {}, {}}, scopes);
  EXPECT_EQ(scopes.text, "(sam)(clip)(projector)");
  scopes.text.clear();
  model.encode_image(
      {random_tensor({1, 3, 128, 128}, 1), random_tensor({2, 3, 128, 128}, 1), {2, 1}}, scopes);
  EXPECT_EQ(scopes.text, "(sam)(clip)(projector)(sam)(clip)(projector)");
}

TEST(DeepseekOcr, RandomWeightsKeepActivationsSaneAndFollowTheirSeed) {
  const DeepseekOcrConfig config = tiny_config();
  const auto logits = [&](std::uint64_t seed) {
    RandomWeights weights(config, seed, at::kCPU);
    const DeepseekOcr model = DeepseekOcr::load(config, weights, {}).value();
    KvCache cache = model.new_cache(16);
    return prefill_text(model, kIds, cache);
  };
  const at::Tensor one = logits(1);
  EXPECT_TRUE(at::equal(one, logits(1)));
  EXPECT_GT(largest_difference(one, logits(2)), 0.1);
  EXPECT_LT(one.abs().max().item<double>(), 50.0);
  EXPECT_GT(one.abs().max().item<double>(), 0.5);
}

TEST(DeepseekOcr, RefusesFp16OnACpu) {
  DeterministicWeights weights(tiny_config());
  ModelOptions options;
  options.dtype = at::kHalf;
  const auto model = DeepseekOcr::load(tiny_config(), weights, options);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().to_string(),
            "model.dtype is fp16, which libtorch does not compute on a CPU (bf16, fp32)");
  EXPECT_EQ(model.error().kind(), ErrorKind::Config);
}

TEST(DeepseekOcr, ReportsTheFirstWeightThatIsMissing) {
  class Without : public DeterministicWeights {
   public:
    using DeterministicWeights::DeterministicWeights;
    Result<void> fill(std::string_view name, at::Tensor destination) override {
      if (name.find("experts.3.up") != std::string_view::npos) {
        return Error(ErrorKind::NotFound, "no tensor '" + std::string(name) + "'");
      }
      return DeterministicWeights::fill(name, destination);
    }
  };
  Without weights(tiny_config());
  const auto model = DeepseekOcr::load(tiny_config(), weights, {});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().to_string(), "no tensor 'model.layers.1.mlp.experts.3.up_proj.weight'");
}

TEST(Devices, AreOpenedByName) {
  EXPECT_EQ(open_device("cpu").value(), at::Device(at::kCPU));
  EXPECT_EQ(open_device("gpu").error().to_string(),
            "there is no device named 'gpu' (cpu, cuda, cuda:N)");
  EXPECT_EQ(open_device("meta").error().kind(), ErrorKind::Config);
  if (!at::hasCUDA()) {
    EXPECT_EQ(open_device("cuda:0").error().to_string(),
              "cannot use device cuda:0: this libtorch has no CUDA, or finds no driver and no GPU");
    EXPECT_EQ(open_device("cuda:0").error().kind(), ErrorKind::NotFound);
  } else {
    EXPECT_EQ(open_device("cuda:99").error().kind(), ErrorKind::NotFound);
  }
}

TEST(TorchErrors, AreOneLine) {
  const auto failed = catch_torch([] { return at::ones({2, 3}).view({4}); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(), "libtorch: shape '[4]' is invalid for input of size 6");
  EXPECT_EQ(catch_torch([] { return 3; }).value(), 3);
  const auto own = catch_torch([]() -> Result<int> { return Error(ErrorKind::Config, "mine"); });
  EXPECT_EQ(own.error().to_string(), "mine");
}

}  // namespace
}  // namespace profline::workload
