#include "tools/ncu/nvtx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

TEST(NvtxExpression, IsTranslatedToNcusGrammar) {
  struct Case {
    std::string_view given, passed;
  };
  constexpr Case kCases[] = {
      {"decode", "decode/"},
      {"  decode ", "decode/"},
      {"block.conv1", "block.conv1/"},
      {"decode*", "regex:decode.*/"},
      {"*", "regex:.*/"},
      {"layer?.mlp*", "regex:layer.\\.mlp.*/"},
      {"A::A1", "A/*/A1"},
      {"A::A1::A2", "A/*/A1/*/A2"},
      {"prefill::s*", "regex:prefill/*/s.*"},
      // ncu's own
      {"decode/", "decode/"},
      {"regex:decode.*/", "regex:decode.*/"},
      {"llm@decode/", "llm@decode/"},
      {"A_range/*/B range", "A_range/*/B range"},
      {"[A_range", "[A_range"},
      {"A,B", "A,B"},
      {"B range/+/Range D", "B range/+/Range D"},
      {"A_range\\[i\\]", "A_range\\[i\\]"},
  };
  for (const Case& c : kCases) EXPECT_EQ(translate_range(c.given), c.passed) << c.given;
}

TEST(NvtxExpression, ThatIsBlankIsLeftOut) {
  const std::vector<std::string> items = {"decode", " ", "prefill"};
  EXPECT_EQ(translate_ranges(items),
            (std::vector<NvtxExpression>{{"decode", "decode/"}, {"prefill", "prefill/"}}));
}

TEST(NvtxExpression, InsideOfAnotherIsInAGroupOfItsOwn) {
  const std::vector<NvtxExpression> ranges = translate_ranges(std::vector<std::string>{
      "A::A1::A2", "stem", "A", "A::A1", "regex:A.*/", "A_/", "AB::A1", "A::other"});
  const auto groups = by_nesting(ranges);
  std::vector<std::vector<std::string>> given;
  for (const auto& group : groups) {
    given.emplace_back();
    for (const NvtxExpression& range : group) given.back().push_back(range.given);
  }
  EXPECT_EQ(
      given,
      (std::vector<std::vector<std::string>>{
          {"stem", "A", "regex:A.*/", "A_/", "AB::A1"}, {"A::A1", "A::other"}, {"A::A1::A2"}}));
  EXPECT_EQ(by_nesting({}).size(), 0U);
}

TEST(NvtxExpression, NamesRegions) {
  struct Case {
    std::string given;
    std::string_view region;
    bool is_named;
  };
  const std::vector<Case> cases = {
      {"A", "A", true},          {"A", "B::A", true},         {"A", "A::B", false},
      {"A::A1", "A::A1", true},  {"A::A1", "A::B::A1", true}, {"A::A1", "A1", false},
      {"A::A1", "A1::A", false}, {"A::A", "A", false},        {"A*", "whatever", true},
      {"regex:A/", "B", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(names_range({c.given, ""}, c.region), c.is_named) << c.given << " " << c.region;
  }
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NcuNvtxState, HasTheOpenRangesOutermostFirst) {
  EXPECT_THAT(
      parse_nvtx_state("920  \"<default domain>:decode:none:none:none:none:ASCII:decode\" "),
      ElementsAre(NvtxRange{"", "decode"}));
  EXPECT_THAT(
      parse_nvtx_state("920  \"<default domain>:prefill:none:none:none:none:ASCII:prefill\" "
                       "\"llm:sam:none:none:none:none:REGISTERED:sam\" "),
      ElementsAre(NvtxRange{"", "prefill"}, NvtxRange{"llm", "sam"}));
  EXPECT_THAT(parse_nvtx_state(""), IsEmpty());
  EXPECT_THAT(parse_nvtx_state("920 "), IsEmpty());
}

TEST(NcuNvtxState, LeavesColonsAndQuotesInNames) {
  EXPECT_THAT(
      parse_nvtx_state("1 \"<default domain>:aten::mm:none:none:none:none:ASCII:aten::mm\""),
      ElementsAre(NvtxRange{"", "aten::mm"}));
  EXPECT_THAT(parse_nvtx_state("1 \"d:say \"hi\":none:none:none:none:ASCII:say \"hi\"\" "),
              ElementsAre(NvtxRange{"d", "say \"hi\""}));
  EXPECT_THAT(parse_nvtx_state("1 \"d:a:int32:7:ARGB:ff00ff00:ASCII:a\""),
              ElementsAre(NvtxRange{"d", "a"}));
}

// As written by ncu 2025.3.1.
TEST(NcuNvtxState, KnowsRangesWithoutAttributesAndStartedOnes) {
  EXPECT_THAT(parse_nvtx_state("473  \"<default domain>:outer:none:none:none:none:none:none\"  "
                               "\"llm:aten::mm:none:none:none:none:ASCII:aten::mm\" "),
              ElementsAre(NvtxRange{"", "outer"}, NvtxRange{"llm", "aten::mm"}));
  EXPECT_THAT(parse_nvtx_state(" \"0:<default domain>:started:none:none:none:none:none:none\" "),
              ElementsAre(NvtxRange{"", "started"}));
  EXPECT_THAT(parse_nvtx_state("1 \"<default domain>:aten::mm:none:none:none:none:none:none\""),
              ElementsAre(NvtxRange{"", "aten::mm"}));
}

TEST(NcuNvtxState, KeepsWhatItCannotTakeApart) {
  EXPECT_THAT(parse_nvtx_state("1 \"decode\""), ElementsAre(NvtxRange{"", "decode"}));
  EXPECT_THAT(parse_nvtx_state("1 \"a:b\""), ElementsAre(NvtxRange{"", "a:b"}));
  EXPECT_THAT(parse_nvtx_state("1 \"never closed"), ElementsAre(NvtxRange{"", "never closed"}));
}

}  // namespace
}  // namespace profline::ncu
