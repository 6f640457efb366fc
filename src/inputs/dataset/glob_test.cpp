#include "inputs/dataset/internal/glob.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace profline::dataset {
namespace {

namespace fs = std::filesystem;

TEST(Matches, KnowsStarsQuestionMarksAndSets) {
  constexpr struct {
    std::string_view pattern, name;
    bool expected;
  } kCases[] = {
      {"*.png", "a.png", true},
      {"*.png", ".png", false},  // hidden
      {".*", ".png", true},
      {"*.png", "a.png.txt", false},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"a*b*c", "a--b--bc", true},
      {"a*b*c", "a--b--bd", false},
      {"**a", "bba", true},
      {"page?.png", "page1.png", true},
      {"page?.png", "page.png", false},
      {"[a-c]x", "bx", true},
      {"[a-c]x", "dx", false},
      {"[!a-c]x", "dx", true},
      {"[^a-c]x", "ax", false},
      {"[]]x", "]x", true},
      {"[a-]x", "-x", true},
      {"[ax", "[ax", true},
      {"[ax", "a", false},
      {"[^ax", "[^ax", true},
      {"*\xe9\xa1\xb5*", "1 \xe9\xa1\xb5.jpg", true},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(matches(c.pattern, c.name), c.expected) << c.pattern << " and " << c.name;
  }
}

TEST(Matches, TakesNoLongTimeForManyStars) {
  const std::string name(5000, 'a');
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "a*";
  EXPECT_FALSE(matches(pattern + "b", name));
  EXPECT_TRUE(matches(pattern, name));
}

class Glob : public ::testing::Test {
 protected:
  void touch(const fs::path& name) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "x";
  }
  std::vector<std::string> found(std::string_view pattern) {
    std::vector<std::string> names;
    const auto paths = glob(folder_.path(), pattern);
    EXPECT_TRUE(paths) << paths.error().to_string();
    for (const fs::path& path : *paths) {
      names.push_back(path.lexically_relative(folder_.path()).string());
    }
    return names;
  }

  testing::TempDir folder_;
};

using Names = std::vector<std::string>;

TEST_F(Glob, FindsFilesInBytewiseOrder) {
  for (const char* name : {"images/b.png", "images/B.png", "images/a 1.png", "images/\xc3\xa9.png",
                           "images/a.jpg", "images/.hidden.png", "images/folder.png/x"}) {
    touch(name);
  }
  EXPECT_EQ(found("images/*.png"),
            (Names{"images/B.png", "images/a 1.png", "images/b.png", "images/\xc3\xa9.png"}));
  EXPECT_EQ(found("./images//a.jpg"), Names{"images/a.jpg"});
  EXPECT_EQ(found("*/a.*"), Names{"images/a.jpg"});
  EXPECT_EQ(found("nowhere/*.png"), Names{});
  EXPECT_EQ(found("images/a.jpg/*"), Names{});
  EXPECT_EQ(found(""), Names{});
  EXPECT_EQ(found((folder_ / "images/a.*").string()), Names{"images/a.jpg"});
}

TEST_F(Glob, GoesDeepWithoutGoingInCircles) {
  for (const char* name : {"a.png", "x/b.png", "x/y/c.png", "x/.git/d.png"}) touch(name);
  fs::create_directory_symlink(folder_.path(), folder_ / "x/loop");
  fs::create_symlink("self.png", folder_ / "self.png");
  EXPECT_EQ(found("**/*.png"), (Names{"a.png", "x/b.png", "x/y/c.png"}));
  EXPECT_EQ(found("**/**/c.png"), Names{"x/y/c.png"});
  EXPECT_EQ(found("x/**"), Names{});
  // A link that a pattern names is followed, once for each time it is named.
  EXPECT_EQ(found("x/loop/a.png"), Names{"x/loop/a.png"});
}

}  // namespace
}  // namespace profline::dataset
