#include "web/markup.h"

#include <gtest/gtest.h>

namespace profline::web {
namespace {

TEST(Markup, TextIsNeverMarkup) {
  struct Case {
    std::string_view name, given, html;
  };
  constexpr Case kCases[] = {
      {"elements", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
      {"quotes", R"("a" 'b')", "&quot;a&quot; &#39;b&#39;"},
      {"entities", "&amp;", "&amp;amp;"},
      {"control characters", "a\nb\x1b", "a\\nb\\x1b"},
      {"reordering marks",
       "a\xE2\x80\xAE"
       "b",
       "a\\u202eb"},
      {"no UTF-8", "a\xFF", "a\\xff"},
      {"letters of any script", "größe 核", "größe 核"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(text(c.given).html(), c.html);
  }
}

TEST(Markup, AttributesCannotBeLeft) {
  EXPECT_EQ(
      element("p", {{"title", "\"><img src=x>"}, {"", "left out"}}, text("a") + text("b")).html(),
      "<p title=\"&quot;&gt;&lt;img src=x&gt;\">ab</p>");
  EXPECT_EQ(element("meta", {{"charset", "utf-8"}}).html(), "<meta charset=\"utf-8\">");
}

TEST(Markup, NothingInDataOrCodeEndsTheScript) {
  EXPECT_EQ(json_for_script(R"({"a": "</script><!--"})"), R"({"a": "\u003c/script>\u003c!--"})");
  EXPECT_EQ(code_for_script("x = '</script>' + '<!--' + (1 < 2)"),
            R"(x = '<\/script>' + '\x3c!--' + (1 < 2))");
}

TEST(Table, SaysWhatItSortsByAndHowFull) {
  Table table("t", "a table", {{"name", Table::Align::Left}, {"share"}});
  table.with_search();
  table.add({code_cell("k<1>"), bar_cell(0.25)});
  table.add({code_cell("unknown"), bar_cell({})});
  const std::string html = table.markup().html();
  EXPECT_NE(html.find(R"(<th scope="row"><code>k&lt;1&gt;</code></th>)"), std::string::npos)
      << html;
  EXPECT_NE(html.find(R"(<td class="n bar" data-v="0.25" style="--fill-to:25.0%">25.0 %</td>)"),
            std::string::npos)
      << html;
  EXPECT_NE(html.find(R"(<td class="n">–</td>)"), std::string::npos) << html;
  EXPECT_EQ(table.rows(), 2U);
}

TEST(Table, KeepsTheWholeOfALongName) {
  const std::string whole(10'000, 'x');
  const std::string html = long_name("short", whole).html();
  EXPECT_NE(html.find("<summary><code>short</code></summary>"), std::string::npos);
  EXPECT_NE(html.find(whole), std::string::npos);
  EXPECT_EQ(long_name("", "aten::mm").html(), "<code>aten::mm</code>");
}

}  // namespace
}  // namespace profline::web
