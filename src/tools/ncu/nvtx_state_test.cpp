#include "tools/ncu/nvtx_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

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

// As ncu 2025.3.1 wrote them.
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
