#include "config/interpolation/value.h"

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

TEST(PythonText, QuotesStringsAsReprDoes) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "''"},
      {"a b", "'a b'"},
      {"it's", "\"it's\""},
      {"say \"x\"", "'say \"x\"'"},
      {"it's \"x\"", "'it\\'s \"x\"'"},
      {"a\\b", "'a\\\\b'"},
      {"a\nb\tc\rd", "'a\\nb\\tc\\rd'"},
      {std::string_view("\0\x1b\x7f", 3), "'\\x00\\x1b\\x7f'"},
      {"é€🤓", "'é€🤓'"},
      {"\xC2\xA0", "'\\xa0'"},
      {"\xE2\x80\xA8", "'\\u2028'"},
      {"\xF3\xA0\x80\x81", "'\\U000e0001'"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(python_repr(text), shown);
}

TEST(PythonText, ShowsEveryKindOfNode) {
  NodeMap map;
  map.set("k", Node::list({Node(), Node::boolean(true), Node::real(1e-5)}));
  map.set(Node::integer(3), Node::bytes("a'\n\xFF"));
  map.set(Node::boolean(false), Node::big_integer("123456789012345678901"));
  const Node node = Node::map(std::move(map));
  EXPECT_EQ(python_repr(node),
            "{'k': [None, True, 1e-05], 3: b\"a'\\n\\xff\", False: 123456789012345678901}");
  EXPECT_EQ(python_str(node), python_repr(node));
  EXPECT_EQ(python_str(Node::string("it's")), "it's");
  EXPECT_EQ(python_repr(Node::list()), "[]");
  EXPECT_EQ(python_repr(Node::map()), "{}");
}

}  // namespace
}  // namespace profline::config
