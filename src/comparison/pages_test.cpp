#include "comparison/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "comparison/compare.h"
#include "comparison/row_text.h"
#include "comparison/testing_measurements.h"

namespace profline::comparison {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Comparison example() {
  RunMeasurements a = measured_run("20261115-100000", noisy(1, 40, 10, 0.001));
  RunMeasurements b = measured_run("20261115-110000", noisy(2, 40, 11, 0.001));
  add_kernel(a, "gemm", noisy(3, 20, 5, 0.001));
  add_kernel(b, "gemm", noisy(4, 20, 5, 0.001));
  add_kernel(b, "copy", {1, 1});
  b.series.back().calls = 3;
  const Rules rules{.known_spread = [](const Series&) {
    return KnownSpread{{0.0001}, "the test says so"};
  }};
  return compare(std::vector{a}, std::vector{b}, rules).value();
}

/// Every text a stranger can choose, in every place where it is shown.
Comparison hostile(const std::string& name) {
  Comparison found = example();
  for (auto* side : {&found.a, &found.b}) {
    side->front().id = side->front().experiment = side->front().host = name;
    side->front().device = side->front().commit = side->front().folder = name;
  }
  for (auto* list :
       {&found.differences.config, &found.differences.environment, &found.differences.inputs}) {
    list->push_back({name, name, name});
  }
  found.notes = {name};
  found.run_spread = name;
  for (Row& row : found.rows) row.name = row.short_name = row.shape = name;
  return found;
}

TEST(Pages, SayWhatMattersFirst) {
  const Comparison found = example();
  EXPECT_EQ(tally_text(found), "1 SLOWER");
  const std::string markdown = markdown_page(found);
  EXPECT_THAT(markdown, testing::StartsWith("### profline compare: 1 SLOWER\n"));
  EXPECT_THAT(markdown, HasSubstr("| `token_ms` | 10.0 ms | 11.0 ms | +10.0 % | "));
  EXPECT_THAT(markdown, HasSubstr("| **SLOWER** |"));
  EXPECT_THAT(markdown, HasSubstr("| only in B |"));
  EXPECT_THAT(markdown, HasSubstr("config: the same"));
  const std::string html = html_page(found);
  EXPECT_THAT(html, HasSubstr("<h1>1 SLOWER</h1>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"l SLOWER\">SLOWER</td>"));
  EXPECT_THAT(html, HasSubstr("<code title=\"ns::gemm\">gemm</code>"));
}

TEST(Pages, LoadNothing) {
  const std::string html = html_page(example());
  for (const char* word : {"src=", "href=", "http:", "https:", "url(", "@import", "<script"}) {
    EXPECT_THAT(html, Not(HasSubstr(word)));
  }
}

TEST(Pages, ShowAtMostSoManyRows) {
  const std::string markdown = markdown_page(example(), {.top = 1});
  EXPECT_THAT(markdown, HasSubstr("`gemm`"));
  EXPECT_THAT(markdown, Not(HasSubstr("`copy`")));
  EXPECT_THAT(markdown, HasSubstr("and 1 more"));
  EXPECT_THAT(html_page(example(), {.top = 1}), HasSubstr("and 1 more"));
}

/// Tags in the order in which they open, with their attributes.
std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    std::string tag = html.substr(at, end - at + 1);
    if (tag.starts_with("<code title=")) tag = "<code title>";
    tags.push_back(std::move(tag));
  }
  return tags;
}

TEST(Pages, KeepHostileNamesInertInHtml) {
  const std::vector<std::string> harmless = tags_of(html_page(hostile("harmless")));
  for (const std::string& name : hostile_names()) {
    const std::string html = html_page(hostile(name));
    EXPECT_EQ(tags_of(html), harmless) << name.substr(0, 40);
    for (const char* byte : {"\x1b", "\x07", "\u202E", "\u2066"}) {
      EXPECT_THAT(html, Not(HasSubstr(byte)));
    }
  }
}

/// What tables are made of: bars that are not escaped.
std::size_t bars_in(const std::string& markdown) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown[i] == '\\') {
      ++i;
    } else if (markdown[i] == '|') {
      ++bars;
    }
  }
  return bars;
}

TEST(Pages, KeepHostileNamesInertInMarkdown) {
  const std::string harmless = markdown_page(hostile("harmless"));
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(name.substr(0, 40));
    const std::string page = markdown_page(hostile(name));
    EXPECT_EQ(lines(page).size(), lines(harmless).size()) << "no name makes a line";
    EXPECT_EQ(bars_in(page), bars_in(harmless)) << "no name ends a cell";
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("\u202E")));
  }
}

TEST(RowText, KeepsToPlainDigits) {
  EXPECT_EQ(change_text(0.0491), "+4.9 %");
  EXPECT_EQ(change_text(-0.004), "-0.4 %");
  EXPECT_EQ(change_text(9.99), "+999.0 %");
  EXPECT_EQ(change_text(10.0), "x11.0");
  EXPECT_EQ(change_text(1689.4), "x1690");
  EXPECT_EQ(change_text(std::nullopt), "–");
  Row row;
  row.smallest_effect = 0.021;
  EXPECT_EQ(smallest_text(row), "2.1 %");
  row.smallest_effect = 390.0;
  EXPECT_EQ(smallest_text(row), "x391");
  EXPECT_EQ(value_text(Amount{12.34, 1, 1, {}, {}}, "ms"), "12.3 ms");
  EXPECT_EQ(value_text(Amount{2874, 1, 1, {}, {}}, "tokens/s"), "2.87 k tokens/s");
}

}  // namespace
}  // namespace profline::comparison
