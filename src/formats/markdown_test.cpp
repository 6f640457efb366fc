#include "formats/markdown.h"

#include <gtest/gtest.h>

namespace profline::markdown {
namespace {

TEST(Markdown, PlainTextOpensNoMarkup) {
  EXPECT_EQ(plain("a|b *c* [d](http://x) <e>"), "a\\|b \\*c\\* \\[d\\](http\\://x) \\<e\\>");
  EXPECT_EQ(plain("two\nlines"), "two\\\\nlines");
}

TEST(Markdown, CodeIsFencedByMoreBackticksThanItHolds) {
  EXPECT_EQ(code("gemm<a|b>"), "`gemm<a\\|b>`");
  EXPECT_EQ(code("a`b"), "``a`b``");
  EXPECT_EQ(code("`a`"), "`` `a` ``");
  EXPECT_EQ(code(""), "–");
}

TEST(Markdown, TablesAlignTheirColumns) {
  Table table({{"name", Table::Align::Left}, {"time"}});
  EXPECT_TRUE(table.empty());
  table.add({"`a`", "1"});
  EXPECT_EQ(table.text(), "| name | time |\n|:--|--:|\n| `a` | 1 |\n");
}

}  // namespace
}  // namespace profline::markdown
