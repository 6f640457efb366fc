#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(Printable, EscapesWhatWouldActOnATerminalOrBreakALine) {
  struct Case {
    std::string_view name, text, shown;
  };
  constexpr Case kCases[] = {
      {"plain", "gemm_kernel<float>", "gemm_kernel<float>"},
      {"letters beyond ASCII", "größe 图像 😀", "größe 图像 😀"},
      {"line ends and tabs", "a\nb\r\tc", "a\\nb\\r\\tc"},
      {"colour", "\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
      {"NUL", std::string_view("a\0b", 3), "a\\x00b"},
      {"a C1 control",
       "a\xC2\x9B"
       "31m",
       "a\\u009b31m"},
      {"line separator",
       "a\xE2\x80\xA8"
       "b",
       "a\\u2028b"},
      {"reordering",
       "a\xE2\x80\xAE"
       "b\xE2\x81\xA6",
       "a\\u202eb\\u2066"},
      {"marks of direction", "a\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "a\\u200e\\u200f\\u061c"},
      {"not UTF-8", "a\xFF\xE2\x82", "a\\xff\\xe2\\x82"},
      {"lone continuation before a letter", "\x80é", "\\x80é"},
      {"backslash stays", "C:\\new", "C:\\new"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(printable(c.text), c.shown);
  }
}

TEST(DisplayWidth, KnowsWideAndCombiningCharacters) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);
  EXPECT_EQ(display_width("图像"), 4U);
  EXPECT_EQ(display_width("ｆ한😀"), 6U);
  EXPECT_EQ(display_width("█░…"), 3U);
  EXPECT_EQ(display_width("\x1b[1;31mred\x1b[0m"), 3U);
  EXPECT_EQ(display_width("\x1b[31"), 4U) << "not a colour code";
}

TEST(FitWidth, CutsBetweenCharactersAndMarksTheCut) {
  EXPECT_EQ(fit_width("abcdef", 6), "abcdef");
  EXPECT_EQ(fit_width("abcdef", 5), "abcd…");
  EXPECT_EQ(fit_width("图像图像", 6), "图像…");
  EXPECT_EQ(fit_width("图像图像", 5), "图像…");
  EXPECT_EQ(fit_width("图像图像", 4), "图…");
  EXPECT_EQ(fit_width("e\xCC\x81"
                      "abc",
                      2),
            "e\xCC\x81…");
  EXPECT_EQ(fit_width("abcdef", 1), "…");
  EXPECT_EQ(fit_width("abcdef", 0), "");
  EXPECT_EQ(fit_width("abcdef", 5, "..."), "ab...");
}

TEST(WrapWords, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrap_words("", 10), "");
  EXPECT_EQ(wrap_words("one two", 7), "one two");
  EXPECT_EQ(wrap_words("one two", 6), "one\ntwo");
  EXPECT_EQ(wrap_words("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap_words("a 图像 b", 6), "a 图像\nb");
  EXPECT_EQ(wrap_words("first\nsecond", 20, 2), "first\n  second");
  EXPECT_EQ(wrap_words("a  b", 20), "a b");
}

TEST(WrapWords, LeavesALongWordWhole) {
  EXPECT_EQ(wrap_words("at /a/long/path now", 8), "at\n/a/long/path\nnow");
}

TEST(PadWidth, CountsColumns) {
  EXPECT_EQ(pad_width("图", 4), "图  ");
  EXPECT_EQ(pad_width("abcdef", 4), "abcdef");
}

TEST(PrintableLines, KeepsTheLines) {
  EXPECT_EQ(printable_lines("a\x1b[31m\nb\t\n"), "a\\x1b[31m\nb\\t\n");
  EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace profline
