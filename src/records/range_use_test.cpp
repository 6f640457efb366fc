#include "records/range_use.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(RegionFolder, IsAPlainNameOfTheRange) {
  struct Case {
    std::string_view label, folder;
  };
  constexpr Case kCases[] = {
      {"decode", "decode"},
      {"A::A1", "A__A1"},
      {"A::A1::A2", "A__A1__A2"},
      {" block.conv1 ", "block.conv1"},
      {"a b/c", "a_b_c"},
      {"decode@*", "decode"},
      {"../../etc", "etc"},
      {"..", "range"},
      {"", "range"},
      {"\xC3\xA9t\xC3\xA9", "t"},
      {"_x_", "x"},
  };
  for (const Case& c : kCases) EXPECT_EQ(folder_name(c.label), c.folder) << c.label;
  EXPECT_EQ(folder_name(std::string(5000, 'x')).size(), 100U);
}

}  // namespace
}  // namespace profline
