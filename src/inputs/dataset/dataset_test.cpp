#include "inputs/dataset/dataset.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/sha256.h"
#include "inputs/dataset/internal/random.h"
#include "inputs/images/encode.h"
#include "testing/temp_dir.h"

namespace profline::dataset {
namespace {

std::vector<Image> letters(std::size_t count) {
  std::vector<Image> images;
  for (std::size_t i = 0; i < count; ++i) {
    images.push_back(
        {.name = std::string(1, static_cast<char>('a' + i)), .source = SyntheticPage{}});
  }
  return images;
}

/// `abc|cab`: the names, an epoch between bars.
std::string order(const std::vector<Item>& items) {
  std::string text;
  std::uint32_t index = 0;
  for (const Item& item : items) {
    if (item.index == 0 && item.epoch > 0) {
      text += '|';
      index = 0;
    }
    EXPECT_EQ(item.index, index++);
    text += item.image.name;
  }
  return text;
}

TEST(Sample, MovesAWindowOverTheImages) {
  constexpr struct {
    std::optional<std::uint32_t> per_epoch;
    std::uint32_t epochs;
    std::string_view expected;
  } kCases[] = {
      {std::nullopt, 1, "abcde"},
      {std::nullopt, 2, "abcde|abcde"},
      {2, 4, "ab|cd|ea|bc"},
      {3, 3, "abc|dea|bcd"},
      {5, 2, "abcde|abcde"},
      {7, 2, "abcde|cdeab"},
      {1, 1, "a"},
  };
  for (const auto& c : kCases) {
    settings::Sampling sampling;
    sampling.num_samples_per_epoch = c.per_epoch;
    sampling.num_epochs = c.epochs;
    EXPECT_EQ(order(sample(letters(5), sampling, 1)), c.expected);
  }
}

TEST(Sample, ShufflesTheSameWayOnEveryMachine) {
  settings::Sampling sampling;
  sampling.num_epochs = 3;
  sampling.randomize = true;
  sampling.seed = 42;
  const std::string all = order(sample(letters(6), sampling, 1));
  EXPECT_EQ(all, "edacfb|cdbefa|daecbf");
  EXPECT_EQ(order(sample(letters(6), sampling, 2)), all);  // the seed of the settings counts
  sampling.num_samples_per_epoch = 2;
  EXPECT_EQ(order(sample(letters(6), sampling, 1)),
            all.substr(0, 2) + "|" + all.substr(7, 2) + "|" + all.substr(14, 2));
  sampling.seed.reset();
  EXPECT_EQ(order(sample(letters(6), sampling, 42)).substr(0, 2), all.substr(0, 2));
  EXPECT_NE(order(sample(letters(26), sampling, 1)), order(sample(letters(26), sampling, 2)));
}

TEST(Random, GivesEachValueAboutEquallyOften) {
  internal::Random random(1);
  int counts[6] = {};
  for (int i = 0; i < 60'000; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Load, ReadsAFileOrDrawsAPage) {
  const testing::TempDir folder;
  images::Picture picture(images::Size{4, 3}, {1, 2, 3});
  const std::string png = images::encode_png(picture).value();
  ASSERT_TRUE(write_file_atomic(folder / "a.png", png));
  const Image file{.name = "a.png", .source = folder / "a.png"};
  EXPECT_EQ(load(file).value(), picture);
  EXPECT_EQ(facts(file).value(),
            (Facts{.bytes = png.size(), .sha256 = sha256_hex(png), .size = {4, 3}}));

  const SyntheticPage page{.number = 2, .size = {300, 200}, .seed = 5};
  const Image drawn{.name = "page-0002", .source = page};
  EXPECT_EQ(load(drawn).value(), draw_page(page));
  EXPECT_EQ(facts(drawn).value().bytes, 180'000U);
  EXPECT_EQ(facts(drawn).value().size, (images::Size{300, 200}));

  const Image broken{.name = "b.png", .source = folder / "b.png"};
  ASSERT_TRUE(write_file_atomic(folder / "b.png", png.substr(0, 20)));
  const std::string message = "reading " + (folder / "b.png").string() +
                              ": cut off: the PNG data ends after 20 bytes, before it is complete";
  EXPECT_EQ(load(broken).error().to_string(), message);
  EXPECT_EQ(facts(broken).error().to_string(), message);
}

}  // namespace
}  // namespace profline::dataset
