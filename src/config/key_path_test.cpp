#include "config/key_path.h"

#include <gtest/gtest.h>

namespace profline::config {
namespace {

TEST(SplitKey, TakesDotsAndBracketsApart) {
  using Steps = std::vector<std::string>;
  const std::pair<std::string_view, Steps> cases[] = {
      {"a", {"a"}},
      {"a.b", {"a", "b"}},
      {"a[b]", {"a", "b"}},
      {"[a].b", {"a", "b"}},
      {"[a][b]", {"a", "b"}},
      {"a[b.c].d", {"a", "b.c", "d"}},
      {".a.b[c].d", {"", "a", "b", "c", "d"}},
      {"..a", {"", "", "a"}},
      {"..[a]", {"", "", "a"}},
      {"a.", {"a", ""}},
      {"a..b", {"a", "", "b"}},
      {"a[]", {"a", ""}},
      {"", {""}},
      {"a[b]c.d", {"a", "b", "d"}},
      {"a[b", {"a"}},
      {"[a", {"[a"}},
      {"a[b.c", {"a", "c"}},
      {"a[b\nc].d", {"a", "d"}},
  };
  for (const auto& [key, steps] : cases) {
    SCOPED_TRACE(key);
    EXPECT_EQ(split_key(key), steps);
  }
}

TEST(ListIndex, ReadsWhatPythonTakesForAnInteger) {
  const std::pair<std::string_view, std::optional<std::int64_t>> cases[] = {
      {"0", 0},
      {"12", 12},
      {"-1", -1},
      {"+7", 7},
      {"007", 7},
      {" 3\n", 3},
      {"1_000", 1000},
      {"99999999999999999999", INT64_MAX},
      {"", std::nullopt},
      {"-", std::nullopt},
      {"x", std::nullopt},
      {"1.0", std::nullopt},
      {"1__0", std::nullopt},
      {"_1", std::nullopt},
      {"1_", std::nullopt},
      {"1 2", std::nullopt},
  };
  for (const auto& [text, index] : cases) {
    SCOPED_TRACE(text);
    EXPECT_EQ(list_index(text), index);
  }
}

TEST(JoinKey, WritesKeysAsPeopleDo) {
  EXPECT_EQ(join_key("", "a"), "a");
  EXPECT_EQ(join_key("a", "b"), "a.b");
  EXPECT_EQ(join_key("a.b", std::size_t{3}), "a.b[3]");
  EXPECT_EQ(join_key("a[3]", "c"), "a[3].c");
}

}  // namespace
}  // namespace profline::config
