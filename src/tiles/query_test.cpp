#include "tiles/query.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::tiles {
namespace {

TEST(TilesQuery, ReadsEachKindAndWritesItBack) {
  for (const std::string text : {
           "what=capture",
           "what=window&from=-5&to=1000&pixels=1200&depths=64",
           "what=window&from=0&to=1&pixels=1&lanes=0,4,2&depths=3",
           "what=totals&limit=20",
           "what=totals&from=0&to=10&lanes=1&limit=5",
           "what=find&text=gemm%3Cfloat%3E%20%C3%A9&at=-1",
           "what=find&from=1&to=2&name=17&at=99&direction=previous",
           "what=tile&lane=1&level=20&index=3",
           "what=event&id=3.1234567890123",
       }) {
    const auto query = parse_query(text);
    ASSERT_TRUE(query) << text << ": " << query.error().to_string();
    EXPECT_EQ(to_text(*query), text);
  }
  const auto query = parse_query("text=a+b%26c&what=find");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text, "a b&c");
}

TEST(TilesQuery, NamesTheParameterThatIsWrong) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "'what' must be one of capture, window, tile, totals, find, event"},
      {"what=all", "'what' must be one of capture, window, tile, totals, find, event"},
      {"what=window&from=0&to=1&pixel=3",
       "window has no parameter 'pixel' (did you mean 'pixels'?)"},
      {"what=window&from=0&to=1", "window needs the parameter 'pixels'"},
      {"what=window&from=0&from=0&to=1&pixels=3", "'from' is given twice"},
      {"what=window&from=5&to=5&pixels=3", "'to' must be greater than 'from'"},
      {"what=window&from=x&to=5&pixels=3",
       "'from' must be a whole number from -2305843009213693952 to 2305843009213693952, not 'x'"},
      {"what=window&from=0&to=5&pixels=0",
       "'pixels' must be a whole number from 1 to 16384, not '0'"},
      {"what=window&from=0&to=5&pixels=3&lanes=1,,2",
       "'lanes' must be numbers of lanes with commas between them, at most 4096"},
      {"what=totals&from=1", "'from' and 'to' belong together"},
      {"what=find", "find takes 'text', a part of the name, or 'name', its number"},
      {"what=find&text=", "'text' is empty"},
      {"what=find&text=%4", "'%' must be followed by two hexadecimal digits"},
      {"what=find&text=%ff", "the query is not UTF-8"},
      {"what=find&text=a&direction=up", "'direction' must be next or previous, not 'up'"},
      {"what=event&id=7", "'id' must be the id of an event, such as 0.17"},
      {"what=tile&lane=0&level=51&index=0",
       "'level' must be a whole number from 0 to 50, not '51'"},
  };
  for (const Case& c : kCases) {
    const auto query = parse_query(c.text);
    ASSERT_FALSE(query) << c.text;
    EXPECT_EQ(query.error().message(), c.message);
    EXPECT_EQ(query.error().kind(), ErrorKind::Config);
  }
}

}  // namespace
}  // namespace profline::tiles
