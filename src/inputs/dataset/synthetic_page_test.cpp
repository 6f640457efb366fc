#include "inputs/dataset/synthetic_page.h"

#include <string>

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace profline::dataset {
namespace {

std::string digest(const SyntheticPage& page) {
  const images::Picture picture = draw_page(page);
  EXPECT_EQ(picture.size(), page.size);
  return sha256_hex({reinterpret_cast<const char*>(picture.rgb.data()), picture.rgb.size()});
}

/// A change here changes every profile of the demo: look at the pages before taking new digests.
TEST(DrawPage, GivesTheSameBytesEverywhere) {
  const struct {
    SyntheticPage page;
    std::string_view sha256;
  } cases[] = {
      {{1, {612, 792}, 0}, "810c76df3605d4f62225b303aadcc5ad2a4059db411c0176292aca4e986730b7"},
      {{2, {960, 540}, 0}, "857966a4c47c2c2314f784667ab313c617eb489958b99ae7556bd28d4d7e7872"},
      {{3, {300, 200}, 0}, "ec2241bcd6fbf0188c7f2c30bd9189d6d6f23f11d0a7dd893fd832d0850f653c"},
      {{4, {96, 64}, 0}, "147ba9faa01e5900cdcfdaed1cd0296f0318a581063b7e67b8b1328545419214"},
      {{5, {1654, 2339}, 0}, "e933c55d00a3f96f6b3ded1461ba9892bbd5b4c13df11abe6360737eeeb06584"},
      {{6, {612, 792}, 1}, "a27f244adb7cae817ad02cda92068e4c7a4e9a588b09c3ba935c855a58449846"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(digest(c.page), c.sha256) << c.page.number;
  }
}

TEST(DrawPage, DiffersWithNumberAndSeed) {
  const std::string page = digest({1, {400, 500}, 0});
  EXPECT_EQ(digest({1, {400, 500}, 0}), page);
  EXPECT_NE(digest({2, {400, 500}, 0}), page);
  EXPECT_NE(digest({1, {400, 500}, 1}), page);
}

TEST(DrawPage, HasInkOnPaper) {
  const images::Picture picture = draw_page({1, {612, 792}, 3});
  std::size_t dark = 0;
  for (const std::uint8_t value : picture.rgb) dark += value < 128 ? 1 : 0;
  const double share = static_cast<double>(dark) / static_cast<double>(picture.rgb.size());
  EXPECT_GT(share, 0.03);
  EXPECT_LT(share, 0.25);
}

TEST(DrawPage, CopesWithEverySize) {
  for (const images::Size size :
       {images::Size{1, 1}, {1, 900}, {900, 1}, {13, 13}, {50, 2000}, {2000, 50}, {401, 301}}) {
    for (std::uint32_t number = 1; number <= 4; ++number) {
      EXPECT_EQ(draw_page({number, size, 9}).size(), size);
    }
  }
}

}  // namespace
}  // namespace profline::dataset
