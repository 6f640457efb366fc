#include "formats/markup.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(HtmlText, LeavesNothingThatMeansSomething) {
  EXPECT_EQ(html_text("gemm<float, 4>(a && b)"), "gemm&lt;float, 4&gt;(a &amp;&amp; b)");
  EXPECT_EQ(html_text("\"'`"), "&quot;&#39;&#96;");
  EXPECT_EQ(html_text("&lt;"), "&amp;lt;");
  EXPECT_EQ(html_text("größe 漢字"), "größe 漢字");
}

TEST(HtmlText, ShowsWhatCannotBeSeen) {
  EXPECT_EQ(html_text("a\n\x1b[31m"), "a\\n\\x1b[31m");
  EXPECT_EQ(html_text("\u202Eevil"), "\\u202eevil");
  EXPECT_EQ(html_text("\xff"), "\\xff");
}

}  // namespace
}  // namespace profline

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
