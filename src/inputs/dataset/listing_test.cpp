#include <sys/stat.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "inputs/dataset/dataset.h"
#include "testing/temp_dir.h"

namespace profline::dataset {
namespace {

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
           ":2: a name with a NUL byte: this is no list of images"},
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
