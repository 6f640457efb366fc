#include "formats/html.h"

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
