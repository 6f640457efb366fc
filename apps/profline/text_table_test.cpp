#include "text_table.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

using Align = TextTable::Align;

TextTable three_columns() {
  TextTable table({{"time"},
                   {"could see", Align::Right, false, 2},
                   {"calls", Align::Right, false, 1},
                   {"kernel", Align::Left, true}});
  table.add({"1.25 ms", "3.0 %", "17", "a_kernel_with_a_long_name"});
  return table;
}

TEST(TextTable, CutsOnlyTheColumnThatStretches) {
  EXPECT_EQ(three_columns().render(80, Palette(false)),
            "     time  could see  calls  kernel\n"
            "  1.25 ms      3.0 %     17  a_kernel_with_a_long_name\n");
  EXPECT_EQ(three_columns().render(47, Palette(false)),
            "     time  could see  calls  kernel\n"
            "  1.25 ms      3.0 %     17  a_kernel_with_a_l…\n");
}

TEST(TextTable, LeavesSpareColumnsOutWhereALineIsTooNarrowAndNamesThem) {
  EXPECT_EQ(three_columns().render(40, Palette(false)),
            "     time  calls  kernel\n"
            "  1.25 ms     17  a_kernel_with_a_long_…\n"
            "  not shown at this width: could see\n");
  EXPECT_EQ(three_columns().render(28, Palette(false)),
            "     time  kernel\n"
            "  1.25 ms  a_kernel_with_a_…\n"
            "  not shown at this width: could see, calls\n");
}

TEST(WrapLines, ContinuesBelowTheLastColumn) {
  EXPECT_EQ(wrap_lines("short\n", 40), "short\n");
  EXPECT_EQ(wrap_lines("nsys      broken   captures, but its importer lacks a library\n", 40),
            "nsys      broken   captures, but its\n"
            "                   importer lacks a\n"
            "                   library\n");
  EXPECT_EQ(wrap_lines("  note: a sentence that is too long for it", 24),
            "  note: a sentence that\n"
            "  is too long for it");
}

TEST(WrapLines, LeavesCommandsToCopyAsTheyAre) {
  constexpr std::string_view kLine = "    $ nsys profile --trace=cuda,nvtx --sample=none program\n";
  EXPECT_EQ(wrap_lines(kLine, 30), kLine);
}

}  // namespace
}  // namespace profline
