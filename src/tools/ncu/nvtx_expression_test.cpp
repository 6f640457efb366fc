#include "tools/ncu/nvtx_expression.h"

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

}  // namespace
}  // namespace profline::ncu
