
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
    return KnownSpread{{.deviation = 0.0001}, "the test says so", KnownSpread::Basis::Given};
  }};
  return compare({a}, {b}, rules).value();
}

/// Every text that an outsider can choose, everywhere it is shown.
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
  for (Row& row : found.rows) row.name = row.short_name = row.shape = row.withheld = name;
  return found;
}

TEST(Pages, SayWhatMattersFirst) {
  const Comparison found = example();
  EXPECT_EQ(tally_text(found), "1 SLOWER (token_ms +10.0 %)");
  const std::string markdown = markdown_page(found);
  EXPECT_THAT(markdown,
              testing::StartsWith("### profline compare: 1 SLOWER (token\\_ms +10.0 %)\n"));
  EXPECT_THAT(markdown, HasSubstr("| `token_ms` | 10.0 ms | 11.0 ms | +10.0 % | "));
  EXPECT_THAT(markdown, HasSubstr("| **SLOWER** |"));
  EXPECT_THAT(markdown, HasSubstr("| only in B |"));
  EXPECT_THAT(markdown, HasSubstr("config: the same"));
  const std::string html = html_page(found);
  EXPECT_THAT(html, HasSubstr("<h1>1 SLOWER (token_ms +10.0 %)</h1>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"l SLOWER\">SLOWER</td>"));
  EXPECT_THAT(html, HasSubstr("<code title=\"ns::gemm\">gemm</code>"));
}

TEST(Pages, NameTheSidesByTheirFolders) {
  Comparison found = example();
  found.a.front().folder = "runs/main/1";
  found.b = {found.b.front(), found.b.front()};
  found.b[0].folder = "runs/branch/1";
  found.b[1].folder = "runs/branch/5";
  EXPECT_EQ(side_text(found.a), "runs/main/1");
  EXPECT_EQ(side_text(found.b), "runs/branch (2 runs, 1 to 5)");
  EXPECT_THAT(markdown_page(found),
              HasSubstr("A: `runs/main/1`, B: `runs/branch (2 runs, 1 to 5)`\n"));
  EXPECT_THAT(html_page(found), HasSubstr("<b>B</b> runs/branch (2 runs, 1 to 5)"));
}

TEST(Pages, ShowWhatGotSlowerFirst) {
  Comparison found = example();
  const Row slower = found.rows.front();
  const auto named = [&](std::string name, double change, Verdict verdict) {
    Row row = slower;
    row.name = row.short_name = std::move(name);
    row.change = change;
    row.verdict = verdict;
    return row;
  };
  found.rows = {named("token_ms", -0.12, Verdict::Faster), named("decode_ms", 0, Verdict::Same),
                named("request_ms", 0.095, Verdict::Slower)};
  EXPECT_EQ(tally_text(found), "1 SLOWER (request_ms +9.5 %), 1 FASTER (token_ms -12.0 %), 1 SAME");
  const std::vector<Section> sections = sections_of(found);
  ASSERT_EQ(sections.size(), 1U);
  std::vector<std::string> names;
  for (const Row* row : sections.front().rows) names.push_back(row->name);
  EXPECT_THAT(names, testing::ElementsAre("request_ms", "token_ms", "decode_ms"));
  for (int i = 0; i < 4; ++i) found.rows.push_back(named("sam", 0.2, Verdict::Slower));
  EXPECT_THAT(
      tally_text(found),
      testing::StartsWith("5 SLOWER (request_ms +9.5 %, sam +20.0 %, sam +20.0 % and 2 more), "));
}

TEST(Pages, ExplainAChangeThatTheColumnsDoNotShow) {
  // Two inputs got slower by 10 %, and the slowest one faster: the medians do not change.
  RunMeasurements a = measured_run("a", {10, 11, 12});
  RunMeasurements b = measured_run("b", {11, 12.1, 6});
  const Rules rules{.known_spread = [](const Series&) {
    return KnownSpread{{.deviation = 0.0001}, "the test says so", KnownSpread::Basis::Given};
  }};
  const Comparison found = compare({a}, {b}, rules).value();
  EXPECT_EQ(change_cell(found.rows.front()), "+10.0 % *");
  EXPECT_THAT(markdown_page(found), HasSubstr("\\* each input is compared with itself, and the "
                                              "change is the median over inputs; it need not "
                                              "equal B / A\n"));
  EXPECT_THAT(html_page(found), HasSubstr("<p class=\"none\">* each input is compared"));
  EXPECT_EQ(change_cell(example().rows.front()), "+10.0 %");
  EXPECT_THAT(markdown_page(example()), Not(HasSubstr("each input is compared")));
}

TEST(Pages, SayWhyThereIsNoVerdict) {
  Comparison found = example();
  EXPECT_THAT(withheld_texts(found), testing::IsEmpty());
  for (Row& row : found.rows) row.withheld = "runs/a was disturbed";
  const std::string text =
      "no verdict: runs/a was disturbed; compare folders with several runs each";
  EXPECT_THAT(withheld_texts(found), testing::ElementsAre(text));
  EXPECT_THAT(markdown_page(found), HasSubstr(text));
  EXPECT_THAT(html_page(found), HasSubstr(text));
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

/// What tables consist of: bars that are not escaped.
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
  EXPECT_EQ(change_text(10.0), "11x");
  EXPECT_EQ(change_text(1689.4), "1690x");
  EXPECT_EQ(change_text(std::nullopt), "–");
  Row row;
  row.smallest_effect = 0.021;
  EXPECT_EQ(smallest_text(row), "2.1 %");
  row.smallest_effect = 390.0;
  EXPECT_EQ(smallest_text(row), "391x");
  EXPECT_EQ(value_text(Amount{12.34, 1, 1, {}, {}}, "ms"), "12.3 ms");
  EXPECT_EQ(value_text(Amount{2874, 1, 1, {}, {}}, "tokens/s"), "2.87 k tokens/s");
}

}  // namespace
}  // namespace profline::comparison
