#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inputs/images/testing_pictures.h"
#include "inputs/images/views.h"
#include "workload/generation/generate.h"

// Image in, tokens out: the tiny checkpoint against the results of an independent double-precision
// implementation of the model, confirmed by the published modules.

namespace profline::workload::golden {

/// Values of one stage, token by token.
struct Stage {
  const char* what;
  std::int64_t rows, columns;
  double l2, mean;
  std::array<double, 4> first;
  double last;
};

struct Case {
  const char* name;
  const char* mode;
  std::uint32_t width, height;
  std::uint32_t tile_columns, tile_rows;
  std::array<std::uint32_t, 4> placement;  // width, height, x, y of the picture in the page's view
  std::uint64_t pixel_sum;
  std::int64_t slots;
  std::vector<std::int64_t> text_ids;
  std::vector<Stage> stages;
  std::array<double, 4> logits;
  std::array<double, 2> top;
  std::array<std::vector<std::int64_t>, 2> routed;  // tokens of each expert, layers 1 and 2
  std::vector<std::int64_t> ids;
};

/// Otherwise GoogleTest would print the bytes.
inline std::ostream& operator<<(std::ostream& out, const Case& shown) {
  return out << shown.name << ", mode " << shown.mode;
}

inline const std::vector<std::int64_t> kMarkdown = {201, 325, 283, 268, 300, 302, 301, 16};
inline const std::vector<std::int64_t> kFreeOcr = {201, 309, 314, 16};

inline const std::vector<Stage> kPageStages = {
    {"page sam",
     16,
     32,
     19.590505,
     0.02997659,
     {0.020011, -0.845602, 0.436309, 0.092856},
     1.256697},
    {"page clip",
     17,
     32,
     40.340099,
     -0.08459545,
     {0.353162, -2.650862, 2.986496, 0.985826},
     -1.121168},
    {"page proj",
     16,
     64,
     39.421007,
     -0.05403132,
     {-0.955543, 0.558887, -0.402174, -0.983359},
     -1.669635},
};

inline std::vector<Stage> with_page_stages(std::vector<Stage> more) {
  more.insert(more.begin(), kPageStages.begin(), kPageStages.end());
  return more;
}

inline const std::vector<Case> kCases = {
    {"A",
     "tiny-base",
     300,
     200,
     1,
     1,
     {256, 171, 0, 42},
     25036312,
     21,
     kMarkdown,
     with_page_stages({{"fused",
                        21,
                        64,
                        39.715034,
                        -0.04267207,
                        {-0.955543, 0.558887, -0.402174, -0.983359},
                        -0.404297}}),
     {0.551207, -5.345467, 4.181296, 1.616174},
     {4.822556, 4.775152},
     {{{3, 4, 1, 14, 19, 20, 6, 23}, {12, 0, 15, 12, 15, 7, 25, 4}}},
     {329, 141, 290, 255, 255, 255, 255, 255, 255, 255, 255, 10, 2, 198, 40, 237}},
    {"B",
     "tiny-small",
     300,
     200,
     1,
     1,
     {128, 128, 0, 0},
     6267142,
     7,
     kFreeOcr,
     {{"page sam",
       4,
       32,
       9.431089,
       0.12393847,
       {0.863115, -0.032540, 0.452193, -0.001970},
       -0.853184},
      {"page clip",
       5,
       32,
       22.393813,
       -0.22631640,
       {-0.322092, -0.450623, 3.310260, 0.951089},
       -2.065406},
      {"fused",
       7,
       64,
       19.651331,
       -0.05468293,
       {1.202068, 1.652883, -1.786817, -1.151946},
       -0.404297}},
     {-2.025983, -1.555644, 2.031039, 2.011270},
     {7.552782, 5.962498},
     {{{1, 3, 3, 3, 2, 8, 6, 10}, {6, 1, 4, 3, 4, 8, 6, 4}}},
     {168, 272, 19, 291, 145, 220, 54, 272, 54, 93, 238, 344, 10, 184, 184, 131}},
    {"C",
     "tiny-gundam",
     96,
     64,
     1,
     1,
     {256, 171, 0, 42},
     25034025,
     21,
     kFreeOcr,
     {{"page sam",
       16,
       32,
       20.809813,
       -0.05868064,
       {0.381619, -1.249047, -0.228374, -0.383455},
       0.588391},
      {"fused",
       21,
       64,
       39.515891,
       -0.05158919,
       {-0.364519, 0.887756, -2.046795, -0.688922},
       -0.404297}},
     {2.105803, -5.273737, 2.391988, -0.342893},
     {5.074995, 4.992100},
     {{{7, 1, 2, 4, 5, 22, 12, 25}, {8, 5, 17, 8, 7, 4, 23, 6}}},
     {125, 237, 272, 313, 175, 175, 175, 175, 175, 175, 112, 175, 379, 175, 123, 63}},
    {"D",
     "tiny-gundam",
     300,
     200,
     3,
     2,
     {256, 171, 0, 42},
     25036312,
     49,
     kMarkdown,
     with_page_stages({{"tile sam",
                        4,
                        32,
                        9.301249,
                        -0.15266821,
                        {-0.324516, -0.532064, 0.560167, -0.041658},
                        1.209410},
                       {"tile clip",
                        5,
                        32,
                        21.814870,
                        -0.08410714,
                        {0.323702, -0.878737, 4.653766, 0.527204},
                        -1.301809},
                       {"tile proj",
                        4,
                        64,
                        19.775708,
                        -0.01812790,
                        {-0.639469, 0.719632, -0.557827, -0.450294},
                        -2.554527},
                       {"fused",
                        49,
                        64,
                        63.333038,
                        -0.01775776,
                        {-0.639469, 0.719632, -0.557827, -0.450294},
                        -0.404297}}),
     {0.411289, -4.342603, 3.366842, 0.744076},
     {5.847330, 4.881847},
     {{{3, 5, 2, 26, 22, 41, 25, 50}, {34, 7, 13, 22, 31, 12, 49, 6}}},
     {329, 329, 329, 339, 255, 255, 255, 255, 255, 299, 2, 321, 63, 204, 255, 255}},
    {"E",
     "tiny-large",
     300,
     200,
     1,
     1,
     {320, 213, 0, 54},
     39119166,
     31,
     kMarkdown,
     {{"page sam",
       25,
       32,
       26.824292,
       0.01114692,
       {-0.366601, -1.372978, 0.338517, -0.119014},
       -0.167958},
      {"page clip",
       26,
       32,
       47.872595,
       -0.21471399,
       {-0.012617, -3.099835, 1.892132, 1.268837},
       0.143772},
      {"fused",
       31,
       64,
       52.077012,
       -0.02228527,
       {-1.488630, -1.040449, -0.094386, -0.302389},
       -0.404297}},
     {0.165595, -3.416733, 0.148875, -0.800931},
     {4.344145, 4.310882},
     {{{18, 2, 4, 24, 12, 5, 18, 37}, {19, 1, 26, 19, 16, 2, 33, 4}}},
     {345, 303, 210, 34, 64, 303, 289, 63, 176, 359, 198, 281, 325, 151, 68, 63}},
    {"F",
     "tiny-odd",
     200,
     300,
     2,
     3,
     {171, 256, 42, 0},
     25029360,
     84,
     kMarkdown,
     {{"tile sam",
       9,
       32,
       12.372011,
       -0.13053497,
       {0.307604, -0.677657, -0.476264, 0.306284},
       0.181918},
      {"tile clip",
       10,
       32,
       29.698710,
       -0.06391616,
       {0.863537, -2.222691, 3.405918, 0.438556},
       -3.138666},
      {"page sam",
       16,
       32,
       20.201506,
       -0.02057183,
       {-0.227280, -0.629603, 0.743588, -0.825879},
       0.214738},
      {"fused",
       84,
       64,
       83.642020,
       0.01263803,
       {0.881857, 0.355705, -1.596922, -0.874386},
       -0.404297}},
     {0.640757, -3.314399, 2.849089, -1.223009},
     {5.644213, 5.171494},
     {{{5, 3, 1, 44, 26, 83, 38, 79}, {57, 3, 26, 42, 71, 13, 55, 12}}},
     {63, 127, 184, 302, 302, 178, 292, 302, 44, 255, 127, 285, 166, 127, 285, 166}},
};

}  // namespace profline::workload::golden

namespace profline::workload {
namespace {

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
    views_ = images::make_views(images::test_pattern({GetParam().width, GetParam().height}),
                                images::mode(GetParam().mode));
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
