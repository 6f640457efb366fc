#include "serve/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Target parsed(std::string_view text) {
  const auto target = parse_target(text);
  EXPECT_TRUE(target) << text << ": " << target.error().to_string();
  return target ? *target : Target();
}

TEST(AnAddress, NamesAPage) {
  struct Case {
    std::string_view text;
    Page page;
    std::string_view id;
    std::string_view path;
  };
  constexpr Case kCases[] = {
      {"/", Page::Runs, "", ""},
      {"/runs", Page::Runs, "", ""},
      {"/trends", Page::Trends, "", ""},
      {"/compare?a=x&b=y", Page::Compare, "", ""},
      {"/sweeps", Page::Sweeps, "", ""},
      {"/sweeps/night/", Page::Sweep, "night", ""},
      {"/sweeps/night/3/report.html", Page::SweepJob, "night", "3/report.html"},
      {"/runs/20261115-100000", Page::Run, "20261115-100000", ""},
      {"/runs/20261115-100000/", Page::Run, "20261115-100000", ""},
      {"/runs/night%2F3/", Page::Run, "night/3", ""},
      {"/runs/2%3Ar/files", Page::Files, "2:r", ""},
      {"/runs/r/files/nsys/run.sqlite", Page::File, "r", "nsys/run.sqlite"},
      {"/runs/r/nsys/kernels.json", Page::RunLink, "r", "nsys/kernels.json"},
      {"/runs/r/timeline", Page::Timeline, "r", ""},
      {"/api/runs/night%2F3/tiles/0/17", Page::Tiles, "night/3", "0/17"},
      {"/api/runs/r/tiles", Page::Tiles, "r", ""},
      {"/assets/serve.css?v=1", Page::Asset, "", "serve.css"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Target target = parsed(c.text);
    EXPECT_EQ(target.page, c.page);
    EXPECT_EQ(target.id, c.id);
    EXPECT_EQ(target.path, c.path);
    EXPECT_EQ(parsed(address_of(target)), target) << address_of(target);
  }
}

TEST(AnAddress, HasDecodedParametersInOrder) {
  const Target target = parsed("/compare?a=one+two&b=%C3%A9&a=3&empty=&flag&&q=a%26b%3Dc");
  EXPECT_THAT(target.query.entries,
              ElementsAre(Pair("a", "one two"), Pair("b", "é"), Pair("a", "3"), Pair("empty", ""),
                          Pair("flag", ""), Pair("q", "a&b=c")));
  EXPECT_THAT(target.query.all("a"), ElementsAre("one two", "3"));
  EXPECT_EQ(target.query.get("none"), "");
  EXPECT_EQ(parsed(address_of(target)), target);
}

TEST(AnAddress, NeverLeadsOutOfAFolder) {
  for (const char* text : {"/runs/../etc/",
                           "/runs/%2e%2e/files/x",
                           "/runs/r/files/../../x",
                           "/runs/r/files/%2E%2E/x",
                           "/runs/r/files/a%2F..%2Fb",
                           "/runs/a%2F..%2Fb/",
                           "/runs/%2Fetc/",
                           "/runs/r/files//etc/passwd",
                           "/runs/r/files/./x",
                           "/assets/../serve.css",
                           "/assets/..%2fx",
                           "/sweeps/a%2F%2E%2E/",
                           "/api/runs/r/tiles/../x",
                           "//",
                           "/runs//",
                           "runs",
                           "",
                           "?",
                           "*",
                           "http://other/runs/r/files/../x"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(AnAddress, IsRefusedWithTheReason) {
  struct Case {
    std::string text;
    std::string_view message;
  };
  const std::string prefix = "this is not an address of a page: ";
  const Case cases[] = {
      {"/" + std::string(kLongestTarget, 'x'), "it is too long"},
      {"/?a=%0a", "it has a control character"},
      {"/?a=%", "'%' without two hexadecimal digits"},
      {"/?a=%4", "'%' without two hexadecimal digits"},
      {"/?a=%zz", "'%' without two hexadecimal digits"},
      {"/?a=%ff", "it is not UTF-8"},
      {"/runs/%00/", "it has a control character"},
      {"/runs/r/files/..", "its path leads out of its folder"},
      {"trends", "it does not begin with '/'"},
  };
  for (const Case& c : cases) {
    const auto target = parse_target(c.text);
    ASSERT_FALSE(target) << c.text;
    EXPECT_EQ(target.error().to_string(), prefix + std::string(c.message)) << c.text;
  }
  std::string many = "/?";
  for (std::size_t i = 0; i <= kMostParameters; ++i) many += "a&";
  EXPECT_EQ(parse_target(many).error().to_string(), prefix + "too many parameters");
  const auto none = parse_target("/runs/r/files%2Fx");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(), "there is no such page");
  EXPECT_EQ(none.error().kind(), ErrorKind::NotFound);
}

TEST(AnAddress, EscapesEverythingThatMeansSomething) {
  EXPECT_EQ(escaped("a-b.c_d~E9"), "a-b.c_d~E9");
  EXPECT_EQ(escaped("a b&c=d/é\"<"), "a%20b%26c%3Dd%2F%C3%A9%22%3C");
  const Target hostile{.page = Page::File, .id = "a?b#c", .path = "x y/<script>%41", .query = {}};
  EXPECT_EQ(address_of(hostile), "/runs/a%3Fb%23c/files/x%20y/%3Cscript%3E%2541");
  EXPECT_EQ(parsed(address_of(hostile)), hostile);
}

}  // namespace
}  // namespace profline::serve
