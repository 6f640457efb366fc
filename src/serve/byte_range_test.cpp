#include "serve/byte_range.h"

#include <gtest/gtest.h>

namespace profline::serve {
namespace {

using Kind = ByteRange::Kind;

TEST(AByteRange, LiesWithinTheFile) {
  struct Case {
    std::string_view header;
    ByteRange expected;
  };
  const ByteRange whole{.kind = Kind::Whole, .first = 0, .size = 100};
  const ByteRange none{.kind = Kind::None};
  const Case cases[] = {
      {"", whole},
      {"bytes=0-9", {Kind::Part, 0, 10}},
      {"bytes=90-", {Kind::Part, 90, 10}},
      {"bytes=90-1000", {Kind::Part, 90, 10}},
      {"bytes=0-99999999999999999999999", {Kind::Part, 0, 100}},
      {"bytes=99-99", {Kind::Part, 99, 1}},
      {"bytes=-10", {Kind::Part, 90, 10}},
      {"bytes=-1000", {Kind::Part, 0, 100}},
      {"bytes=100-", none},
      {"bytes=60000000-", none},
      {"bytes=99999999999999999999999-", none},
      {"bytes=-0", none},
      {"bytes=9-0", whole},
      {"bytes=0-9,20-29", whole},
      {"bytes=-", whole},
      {"bytes=", whole},
      {"bytes=a-b", whole},
      {"lines=0-9", whole},
  };
  for (const Case& c : cases) EXPECT_EQ(byte_range(c.header, 100), c.expected) << c.header;
}

}  // namespace
}  // namespace profline::serve
