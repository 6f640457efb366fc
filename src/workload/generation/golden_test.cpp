#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inputs/images/testing_modes.h"
#include "inputs/images/views.h"
#include "workload/generation/generate.h"
#include "workload/generation/testing_golden_cases.h"

/// Image in, tokens out: the tiny checkpoint against the numbers of testing_golden_cases.h.
namespace profline::workload {
namespace {

images::Picture golden_picture(std::uint32_t width, std::uint32_t height) {
  images::Picture picture(images::Size{width, height});
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t c = 0; c < 3; ++c) {
        picture.row(y)[3 * x + c] =
            static_cast<std::uint8_t>((7 * x + 13 * y + 29 * c + ((x * y) >> 3)) & 255U);
      }
    }
  }
  return picture;
}

at::Tensor pixels(const images::Picture& view) {
  at::Tensor planes = at::empty({1, 3, view.height, view.width}, at::kFloat);
  images::normalise(view, {planes.data_ptr<float>(), static_cast<std::size_t>(planes.numel())});
  return planes;
}

ImageViews model_views(const images::Views& views) {
  ImageViews made{pixels(views.global), {}, {views.plan.grid.columns, views.plan.grid.rows}};
  std::vector<at::Tensor> tiles;
  for (const images::Picture& tile : views.tiles) tiles.push_back(pixels(tile));
  if (!tiles.empty()) made.tiles = at::cat(tiles);
  return made;
}

void expect_stage(const golden::Stage& stage, const at::Tensor& computed) {
  SCOPED_TRACE(stage.what);
  ASSERT_EQ(computed.sizes(), (at::IntArrayRef{stage.rows, stage.columns}));
  const at::Tensor values = computed.to(at::kDouble).flatten();
  EXPECT_NEAR(values.norm().item<double>(), stage.l2, 1e-4 * stage.l2);
  EXPECT_NEAR(values.mean().item<double>(), stage.mean, 1e-5);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(values[i].item<double>(), stage.first[static_cast<std::size_t>(i)], 1e-3) << i;
  }
  EXPECT_NEAR(values[-1].item<double>(), stage.last, 1e-3);
}

/// The stages of a batch's first view, by the names of the golden table.
void add_stages(const DeepseekOcr& model, const at::Tensor& views, const std::string& prefix,
                std::map<std::string, at::Tensor>& stages) {
  const at::Tensor sam = model.sam(views);
  const at::Tensor clip = model.clip(sam);
  stages[prefix + " sam"] = sam[0].flatten(1).t();
  stages[prefix + " clip"] = clip[0];
  stages[prefix + " proj"] = model.project(clip, sam)[0];
}

class Golden : public ::testing::TestWithParam<golden::Case> {
 protected:
  Golden() {
    DeterministicWeights weights(tiny_config());
    model_.emplace(DeepseekOcr::load(tiny_config(), weights, {}).value());
    views_ = images::make_views(golden_picture(GetParam().width, GetParam().height),
                                images::testing::mode(GetParam().mode));
    inputs_ = model_views(views_);
  }
  tokenizer::Prompt prompt() const {
    tokenizer::Prompt made{{0}, {0}};
    made.ids.insert(made.ids.end(), static_cast<std::size_t>(GetParam().slots), 320);
    made.is_image.insert(made.is_image.end(), static_cast<std::size_t>(GetParam().slots), 1);
    made.ids.insert(made.ids.end(), GetParam().text_ids.begin(), GetParam().text_ids.end());
    made.is_image.resize(made.ids.size(), 0);
    return made;
  }

  std::optional<DeepseekOcr> model_;
  images::Views views_;
  ImageViews inputs_;
  Scopes scopes_;
};

TEST_P(Golden, PixelsAreExact) {
  const golden::Case& expected = GetParam();
  EXPECT_EQ(views_.plan.grid, (images::Grid{expected.tile_columns, expected.tile_rows}));
  EXPECT_EQ(views_.plan.slots, static_cast<std::size_t>(expected.slots));
  const auto [width, height, x, y] = expected.placement;
  EXPECT_EQ(views_.plan.placement, (images::Area{x, y, width, height}));
  EXPECT_EQ(std::accumulate(views_.global.rgb.begin(), views_.global.rgb.end(), std::uint64_t{0}),
            expected.pixel_sum);
}

TEST_P(Golden, StagesHaveTheirValues) {
  std::map<std::string, at::Tensor> stages;
  add_stages(*model_, inputs_.page, "page", stages);
  if (inputs_.tiles.defined()) add_stages(*model_, inputs_.tiles, "tile", stages);
  stages["fused"] = model_->encode_image(inputs_, scopes_);
  for (const golden::Stage& stage : GetParam().stages) expect_stage(stage, stages.at(stage.what));
}

TEST_P(Golden, PrefillHasItsLogitsAndRouting) {
  const golden::Case& expected = GetParam();
  std::map<std::int64_t, std::vector<std::int64_t>> routed;
  model_->watch_routing([&](std::int64_t layer, const Routing& routing) {
    const at::Tensor counts = routing.experts.flatten().bincount({}, 8);
    routed[layer] = {counts.data_ptr<std::int64_t>(), counts.data_ptr<std::int64_t>() + 8};
  });
  const tokenizer::Prompt prompt = this->prompt();
  KvCache cache = model_->new_cache(static_cast<std::int64_t>(prompt.ids.size()));
  const at::Tensor rows = model_->encode_image(inputs_, scopes_);
  const at::Tensor logits = model_->prefill(prompt.ids, prompt.is_image, rows, cache)[0];
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(logits[i].item<double>(), expected.logits[static_cast<std::size_t>(i)], 1e-3);
  }
  const at::Tensor top = std::get<0>(logits.topk(2));
  EXPECT_NEAR(top[0].item<double>(), expected.top[0], 1e-3);
  EXPECT_NEAR(top[1].item<double>(), expected.top[1], 1e-3);
  EXPECT_EQ(routed.size(), 2U);
  EXPECT_EQ(routed[1], expected.routed[0]);
  EXPECT_EQ(routed[2], expected.routed[1]);
}

TEST_P(Golden, GreedyIdsAreRight) {
  GenerationOptions options;
  options.max_new_tokens = 16;
  options.eos_id = 1;
  const auto generated = generate(*model_, &inputs_, prompt(), options, scopes_);
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_EQ(generated->ids, GetParam().ids);
  EXPECT_EQ(generated->finish, Finish::Length);
}

INSTANTIATE_TEST_SUITE_P(TinyModel, Golden, ::testing::ValuesIn(golden::kCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace profline::workload
