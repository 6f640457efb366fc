#include "inputs/images/views.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "inputs/images/testing_pictures.h"

namespace profline::images {
namespace {

using settings::deepseek_ocr::Preprocess;
using settings::deepseek_ocr::Resize;

TEST(Modes, HaveThePublishedSlots) {
  // Sections 3.1 and 9.2, without tiles.
  constexpr struct {
    std::string_view name;
    std::size_t slots;
  } kCases[] = {{"tiny", 73},     {"small", 111},     {"base", 273},     {"large", 421},
                {"gundam", 273},  {"gundam-m", 421},  {"tiny-base", 21}, {"tiny-gundam", 21},
                {"tiny-odd", 21}, {"tiny-large", 31}, {"tiny-small", 7}};
  for (const auto& c : kCases) {
    EXPECT_EQ(slot_count({}, mode(c.name)), c.slots) << c.name;
  }
}

TEST(SlotCount, CountsTilesWithTheirNewlines) {
  // (10w + 1) * 10h beside 273, (16w + 1) * 16h beside 421.
  EXPECT_EQ(slot_count({.columns = 1, .rows = 9}, mode("gundam")), 1263U);
  EXPECT_EQ(slot_count({.columns = 1, .rows = 6}, mode("gundam")), 933U);
  EXPECT_EQ(slot_count({.columns = 3, .rows = 2}, mode("gundam-m")), 421U + 49 * 32);
  EXPECT_EQ(slot_count({.columns = 3, .rows = 2}, mode("tiny-gundam")), 49U);
  EXPECT_EQ(slot_count({.columns = 2, .rows = 3}, mode("tiny-odd")), 84U);
}

TEST(ChooseGrid, FollowsThePublishedTable) {
  // Section 3.3.
  constexpr struct {
    Size size;
    Grid of_nine;
    std::size_t slots_of_nine;
    Grid of_six;
    std::size_t slots_of_six;
  } kCases[] = {
      {{640, 640}, {1, 1}, 273, {1, 1}, 273},    {{641, 640}, {2, 2}, 693, {2, 2}, 693},
      {{1654, 2339}, {2, 3}, 903, {2, 3}, 903},  {{2000, 1500}, {3, 2}, 893, {3, 2}, 893},
      {{2667, 1500}, {4, 2}, 1093, {2, 1}, 483}, {{614, 864}, {2, 3}, 903, {2, 3}, 903},
  };
  Preprocess nine = mode("gundam");
  Preprocess six = nine;
  six.max_tiles = 6;
  for (const auto& c : kCases) {
    SCOPED_TRACE(std::to_string(c.size.width) + 'x' + std::to_string(c.size.height));
    EXPECT_EQ(choose_grid(c.size, nine), c.of_nine);
    EXPECT_EQ(plan_views(c.size, nine).slots, c.slots_of_nine);
    EXPECT_EQ(choose_grid(c.size, six), c.of_six);
    EXPECT_EQ(plan_views(c.size, six).slots, c.slots_of_six);
  }
}

TEST(ChooseGrid, TakesTheLargerOfEqualsForLargePictures) {
  const Preprocess gundam = mode("gundam");
  // A square ties (2,2) with (3,3); half of nine tiles are 1 843 200 pixels.
  EXPECT_EQ(choose_grid({1357, 1357}, gundam), (Grid{2, 2}));
  EXPECT_EQ(choose_grid({1358, 1358}, gundam), (Grid{3, 3}));
  // (1,2) and (2,4): half of eight tiles are 1 638 400 pixels.
  EXPECT_EQ(choose_grid({905, 1810}, gundam), (Grid{1, 2}));
  EXPECT_EQ(choose_grid({906, 1812}, gundam), (Grid{2, 4}));
  EXPECT_EQ(choose_grid({100'000, 10}, gundam), (Grid{9, 1}));
  EXPECT_EQ(choose_grid({10, 100'000}, gundam), (Grid{1, 9}));
}

/// The published search, which tries every number of columns for every number of tiles.
Grid searched_grid(Size picture, const Preprocess& settings) {
  const double ratio = static_cast<double>(picture.width) / picture.height;
  const double pixels = static_cast<double>(picture.width) * picture.height;
  const double tile_pixels = static_cast<double>(settings.image_size) * settings.image_size;
  Grid best;
  double least = INFINITY;
  for (std::uint32_t tiles = 2; tiles <= settings.max_tiles; ++tiles) {
    for (std::uint32_t columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns != 0) continue;
      const double distance = std::abs(ratio - static_cast<double>(columns) / (tiles / columns));
      if (distance < least || (distance == least && pixels > 0.5 * tile_pixels * tiles)) {
        least = distance;
        best = {.columns = columns, .rows = tiles / columns};
      }
    }
  }
  return best;
}

TEST(ChooseGrid, FindsWhatTheLongerPublishedSearchFinds) {
  Preprocess settings = mode("gundam");
  for (const std::uint32_t most : {2U, 6U, 9U, 12U, 64U}) {
    settings.max_tiles = most;
    for (const std::uint32_t width : {641U, 960U, 1280U, 1920U, 3000U, 10'000U}) {
      for (const std::uint32_t height : {64U, 640U, 641U, 720U, 1280U, 2560U, 3000U, 9'600U}) {
        const Size size{width, height};
        EXPECT_EQ(choose_grid(size, settings), searched_grid(size, settings))
            << width << 'x' << height << " in up to " << most << " tiles";
      }
    }
  }
}

TEST(ChooseGrid, HasATresholdOfItsOwn) {
  Preprocess settings = mode("gundam");
  settings.crop_threshold = 1000;
  EXPECT_EQ(choose_grid({1000, 1000}, settings), (Grid{1, 1}));
  EXPECT_EQ(choose_grid({1000, 1001}, settings), (Grid{2, 2}));
  settings.crop_mode = false;
  EXPECT_EQ(choose_grid({5000, 5000}, settings), (Grid{1, 1}));
}

TEST(PlanViews, LetterboxesAsPillowPads) {
  // Section 3.4, for 1024.
  constexpr struct {
    Size size;
    Area placement;
  } kCases[] = {
      {{1654, 2339}, {150, 0, 724, 1024}}, {{2000, 1500}, {0, 128, 1024, 768}},
      {{612, 792}, {116, 0, 791, 1024}},   {{516, 729}, {150, 0, 725, 1024}},
      {{77, 77}, {0, 0, 1024, 1024}},      {{100'000, 3}, {0, 512, 1024, 1}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(plan_views(c.size, mode("base")).placement, c.placement) << c.size.width;
    EXPECT_EQ(plan_views(c.size, mode("gundam")).placement, c.placement) << c.size.width;
  }
}

TEST(PlanViews, SquashesSmallModesUnlessToldOtherwise) {
  const Size page{300, 200};
  EXPECT_EQ(plan_views(page, mode("tiny")).placement, (Area{0, 0, 512, 512}));
  EXPECT_EQ(plan_views(page, mode("small")).placement, (Area{0, 0, 640, 640}));
  Preprocess settings = mode("small");
  settings.resize = Resize::Letterbox;
  EXPECT_EQ(plan_views(page, settings).placement, (Area{0, 106, 640, 427}));
  settings = mode("gundam");
  settings.resize = Resize::Squash;
  EXPECT_EQ(plan_views(page, settings).placement, (Area{0, 0, 1024, 1024}));
}

/// The cases of section 9.3; pixel sums are those of the published modules.
TEST(MakeViews, GivesTheGoldenResults) {
  constexpr struct {
    std::string_view name, mode;
    Size size;
    Grid grid;
    Area placement;
    std::uint64_t pixel_sum;
    std::size_t slots;
  } kCases[] = {
      {"A", "tiny-base", {300, 200}, {1, 1}, {0, 42, 256, 171}, 25'036'312, 21},
      {"B", "tiny-small", {300, 200}, {1, 1}, {0, 0, 128, 128}, 6'267'142, 7},
      {"C", "tiny-gundam", {96, 64}, {1, 1}, {0, 42, 256, 171}, 25'034'025, 21},
      {"D", "tiny-gundam", {300, 200}, {3, 2}, {0, 42, 256, 171}, 25'036'312, 49},
      {"E", "tiny-large", {300, 200}, {1, 1}, {0, 54, 320, 213}, 39'119'166, 31},
      {"F", "tiny-odd", {200, 300}, {2, 3}, {42, 0, 171, 256}, 25'029'360, 84},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    const Preprocess settings = mode(c.mode);
    const Views views = make_views(test_pattern(c.size), settings);
    EXPECT_EQ(views.plan.grid, c.grid);
    EXPECT_EQ(views.plan.placement, c.placement);
    EXPECT_EQ(views.plan.slots, c.slots);
    EXPECT_EQ(views.global.size(), (Size{views.plan.global_side, views.plan.global_side}));
    EXPECT_EQ(std::accumulate(views.global.rgb.begin(), views.global.rgb.end(), std::uint64_t{0}),
              c.pixel_sum);
    EXPECT_EQ(views.tiles.size(), c.grid.is_tiled() ? c.grid.tiles() : 0);
    for (const Picture& tile : views.tiles) {
      EXPECT_EQ(tile.size(), (Size{settings.image_size, settings.image_size}));
    }
  }
}

TEST(MakeViews, CutsTilesRowByRow) {
  // As large as its grid: the tiles are parts of the image itself.
  const Picture picture = test_pattern({384, 256});
  const Views views = make_views(picture, mode("tiny-gundam"));
  ASSERT_EQ(views.plan.grid, (Grid{3, 2}));
  ASSERT_EQ(views.tiles.size(), 6U);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(views.tiles[i],
              crop(picture, {.x = i % 3 * 128, .y = i / 3 * 128, .width = 128, .height = 128}))
        << i;
  }
}

TEST(MakeViews, SurroundsALetterboxWithGrey) {
  const Views views = make_views(Picture(Size{300, 200}, {255, 0, 0}), mode("tiny-base"));
  const auto pixel = [&](std::size_t x, std::size_t y) {
    const std::uint8_t* const at = views.global.row(y) + x * Picture::kChannels;
    return Colour{at[0], at[1], at[2]};
  };
  EXPECT_EQ(pixel(0, 41), (Colour{127, 127, 127}));
  EXPECT_EQ(pixel(0, 42), (Colour{255, 0, 0}));
  EXPECT_EQ(pixel(255, 212), (Colour{255, 0, 0}));
  EXPECT_EQ(pixel(255, 213), (Colour{127, 127, 127}));
}

TEST(Normalise, GivesPlanesFromMinusOneToOne) {
  Picture view(Size{3, 2});
  view.rgb = {0, 127, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 128, 129, 130};
  std::vector<float> planes(view.rgb.size());
  normalise(view, planes);
  for (std::size_t i = 0; i < view.rgb.size(); ++i) {
    const float expected = (static_cast<float>(view.rgb[i]) / 255.0F - 0.5F) / 0.5F;
    EXPECT_EQ(planes[i % 3 * 6 + i / 3], expected) << i;
  }
  EXPECT_EQ(planes[0], -1.0F);
  EXPECT_EQ(planes[12], 1.0F);
  EXPECT_NEAR(planes[6], -0.0039216, 1e-7);  // the grey of a letterbox
}

}  // namespace
}  // namespace profline::images
