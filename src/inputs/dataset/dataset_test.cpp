#include "inputs/dataset/dataset.h"

#include <sys/stat.h>

#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "inputs/dataset/internal/page_blocks.h"
#include "inputs/images/codec.h"
#include "testing/temp_dir.h"

namespace profline::dataset {
namespace {

std::string digest(const SyntheticPage& page) {
  const images::Picture picture = draw_page(page);
  EXPECT_EQ(picture.size(), page.size);
  return sha256_hex({reinterpret_cast<const char*>(picture.rgb.data()), picture.rgb.size()});
}

/// A change here changes every profile of the demo: look at the pages before updating the digests.
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

std::vector<Image> letters(std::size_t count) {
  std::vector<Image> images;
  for (std::size_t i = 0; i < count; ++i) {
    images.push_back(
        {.name = std::string(1, static_cast<char>('a' + i)), .source = SyntheticPage{}});
  }
  return images;
}

/// `abc|cab`: the names, with bars between epochs.
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

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Listing : public ::testing::Test {
 protected:
  Listing() {
    for (const char* name : {"data/images/b.png", "data/images/a.jpg", "data/images/c d, (1).png",
                             "data/images/\xe9\xa1\xb5.png", "data/notes.md", "elsewhere/x.JPEG"}) {
      write(name, "x");
    }
  }

  void write(const fs::path& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  static Names names(const dataset::Listing& listing) {
    Names result;
    for (const Image& image : listing.images) result.push_back(image.name);
    return result;
  }
  static Names missing(const dataset::Listing& listing) {
    Names result;
    for (const Missing& each : listing.missing) result.push_back(each.to_string());
    return result;
  }

  Result<dataset::Listing> list_folder(std::optional<fs::path> filelist,
                                       std::vector<std::string> patterns = {"images/*.png",
                                                                            "images/*.jpg"}) {
    settings::ImageFolder images;
    images.root = "data";
    images.subset_filelist = std::move(filelist);
    images.fallback_patterns = std::move(patterns);
    return list_images({images}, folder_.path());
  }
  Result<dataset::Listing> list_files(std::vector<fs::path> files) {
    settings::ImageFiles images;
    images.root = "data";
    images.files = std::move(files);
    return list_images({images}, folder_.path());
  }
  std::string in(const fs::path& name) const { return (folder_ / name).string(); }

  testing::TempDir folder_;
};

TEST_F(Listing, OfAFolderFollowsThePatternsInTurn) {
  const auto listing = list_folder(std::nullopt, {"images/*.png", "images/*", "images/a.jpg"});
  ASSERT_TRUE(listing) << listing.error().to_string();
  EXPECT_EQ(names(*listing), (Names{"images/b.png", "images/c d, (1).png",
                                    "images/\xe9\xa1\xb5.png", "images/a.jpg"}));
  EXPECT_EQ(missing(*listing), Names{});
  EXPECT_EQ(std::get<fs::path>(listing->images[0].source),
            fs::canonical(folder_ / "data/images/b.png"));
}

TEST_F(Listing, OfAFilelistKeepsItsOrderAndTellsWhatIsMissing) {
  write("data/subset.txt",
        "\xef\xbb\xbfimages/\xe9\xa1\xb5.png\r\n\n  images/c d, (1).png  \nimages/none.png\n"
        "images\nimages/../images/\xe9\xa1\xb5.png\n" +
            in("elsewhere/x.JPEG"));
  const auto listing = list_folder("subset.txt");
  ASSERT_TRUE(listing) << listing.error().to_string();
  EXPECT_EQ(names(*listing),
            (Names{"images/\xe9\xa1\xb5.png", "images/c d, (1).png", in("elsewhere/x.JPEG")}));
  EXPECT_EQ(missing(*listing),
            (Names{"images/none.png: no such file", "images: a folder, not a file"}));
}

TEST_F(Listing, SeeksARelativeFilelistWhereTheCommandWasStartedFirst) {
  write("subset.txt", "images/a.jpg\n");
  write("data/subset.txt", "images/b.png\n");
  EXPECT_EQ(names(list_folder("subset.txt").value()), Names{"images/a.jpg"});
  fs::remove(folder_ / "subset.txt");
  EXPECT_EQ(names(list_folder("subset.txt").value()), Names{"images/b.png"});
  fs::remove(folder_ / "data/subset.txt");
  EXPECT_EQ(list_folder("subset.txt").error().to_string(),
            "dataset.subset_filelist: there is no file " + in("subset.txt") + " and no file " +
                in("data/subset.txt"));
  EXPECT_EQ(list_folder("subset.txt").error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(list_folder(in("gone.txt")).error().to_string(),
            "dataset.subset_filelist: there is no file " + in("gone.txt"));
}

TEST_F(Listing, WithoutImagesIsAnErrorThatSaysWhatWasMissing) {
  write("data/bad.txt", "1\n2\n3\n4\n5\n");
  write("data/empty.txt", "\n  \n");
  write("data/binary.txt", std::string_view("images/a.jpg\na\0b\n", 17));
  const struct {
    Result<dataset::Listing> listing;
    std::string message;
  } cases[] = {
      {list_folder("bad.txt"),
       "dataset 'OmniDocBench' has no images: 1: no such file, 2: no such file, 3: no such file "
       "and 2 more"},
      {list_folder("empty.txt"),
       "dataset 'OmniDocBench' has no images: " + in("data/empty.txt") + " is empty"},
      {list_folder("binary.txt"),
       "reading the list of dataset 'OmniDocBench': " + in("data/binary.txt") +
           ":2: a name with a NUL byte: this is not a list of images"},
      {list_folder(std::nullopt, {"*.gif", "*.bmp"}),
       "dataset 'OmniDocBench' has no images: nothing in " + in("data") +
           " matches *.gif or *.bmp"},
      {list_files({"none.png", "*.gif", "../elsewhere/.."}),
       "dataset 'files' has no images: none.png: no such file, *.gif: matches no file, "
       "../elsewhere/..: a folder without .png, .jpg or .jpeg files"},
  };
  for (const auto& c : cases) {
    ASSERT_FALSE(c.listing);
    EXPECT_EQ(c.listing.error().to_string(), c.message);
  }
  EXPECT_EQ(cases[0].listing.error().kind(), ErrorKind::NotFound);
  fs::remove_all(folder_ / "data");
  EXPECT_EQ(list_folder(std::nullopt).error().to_string(),
            "dataset 'OmniDocBench': no folder " + in("data") +
                "; set dataset.root, or use dataset=synthetic");
}

TEST_F(Listing, OfFilesTakesImagesFoldersListsAndPatterns) {
  write("data/list.txt", "images/b.png\nimages/gone.png\n");
  write("data/odd[1].png", "x");
  const auto listing = list_files({"odd[1].png", "list.txt", "../elsewhere", "images/[a-b]*",
                                   "images", "images/pipe", "images/none*"});
  ASSERT_TRUE(listing) << listing.error().to_string();
  EXPECT_EQ(names(*listing),
            (Names{"odd[1].png", "images/b.png", in("elsewhere/x.JPEG"), "images/a.jpg",
                   "images/c d, (1).png", "images/\xe9\xa1\xb5.png"}));
  EXPECT_EQ(missing(*listing), (Names{"images/gone.png: no such file", "images/pipe: no such file",
                                      "images/none*: matches no file"}));
}

TEST_F(Listing, TellsOfWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((folder_ / "data/pipe.png").c_str(), 0600), 0);
  fs::create_symlink("loop.png", folder_ / "data/loop.png");
  const auto listing = list_files({"pipe.png", "loop.png", "images/a.jpg"});
  EXPECT_EQ(missing(*listing),
            (Names{"pipe.png: not a regular file", "loop.png: too many symbolic links"}));
}

TEST_F(Listing, OfSyntheticPagesTakesTheSizesInTurn) {
  settings::SyntheticPages pages;
  pages.pages = 3;
  pages.page_sizes = {{30, 40}, {50, 60}};
  pages.seed = 7;
  const auto listing = list_images({pages}, folder_.path()).value();
  EXPECT_EQ(
      listing.images,
      (std::vector<Image>{{"page-0001", SyntheticPage{.number = 1, .size = {30, 40}, .seed = 7}},
                          {"page-0002", SyntheticPage{.number = 2, .size = {50, 60}, .seed = 7}},
                          {"page-0003", SyntheticPage{.number = 3, .size = {30, 40}, .seed = 7}}}));
  pages.page_sizes = {{100'000, 100'000}};
  EXPECT_EQ(list_images({pages}, folder_.path()).error().to_string(),
            "dataset 'synthetic': a page of 100000x100000 is too large; at most 178956970 pixels");
}

TEST_F(Listing, IsRefusedWhenItComesToTooManyRequests) {
  settings::SyntheticPages pages;
  pages.pages = 1'000;
  pages.sampling.num_epochs = 1'000;
  EXPECT_TRUE(list_images({pages}, folder_.path()));
  pages.sampling.num_epochs = 1'001;
  EXPECT_EQ(
      list_images({pages}, folder_.path()).error().to_string(),
      "dataset 'synthetic': 1000 images in 1001 epochs are 1001000 requests; at most 1000000: "
      "lower dataset.sampling.num_samples_per_epoch or num_epochs");
  pages.sampling.num_samples_per_epoch = 999;
  EXPECT_TRUE(list_images({pages}, folder_.path()));
}

}  // namespace
}  // namespace profline::dataset
