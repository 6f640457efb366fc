#include "summary/torch_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(OperatorFlops, ReadsShapesAsTracesWriteThem) {
  EXPECT_THAT(parse_shapes("[[1, 64], [64, 64]]"),
              Optional(ElementsAre(ElementsAre(1, 64), ElementsAre(64, 64))));
  EXPECT_THAT(parse_shapes("[[], [2], []]"),
              Optional(ElementsAre(IsEmpty(), ElementsAre(2), IsEmpty())));
  EXPECT_THAT(parse_shapes("[[[1, 2], [3]], [4]]"),
              Optional(ElementsAre(IsEmpty(), ElementsAre(4))));
  EXPECT_THAT(parse_shapes("[]"), Optional(IsEmpty()));
  for (const char* text : {"", "[", "[[1, 64]", "[[1 64]]", "[[a]]", "[[1]] x", "1", "[[[1]"}) {
    EXPECT_FALSE(parse_shapes(text)) << text;
  }
}

TEST(OperatorFlops, CountsProductsAndAttention) {
  struct Case {
    const char* name;
    const char* shapes;
    std::optional<double> flops;
  };
  const Case cases[] = {
      {"aten::mm", "[[2, 3], [3, 5]]", 60},
      {"aten::addmm", "[[5], [2, 3], [3, 5], [], []]", 60},
      {"aten::bmm", "[[4, 2, 3], [4, 3, 5]]", 240},
      {"aten::baddbmm", "[[4, 2, 5], [4, 2, 3], [4, 3, 5], [], []]", 240},
      // 2 x 4 heads x 3 queries x 7 keys x (8 + 8)
      {"aten::_scaled_dot_product_flash_attention", "[[1, 4, 3, 8], [1, 4, 7, 8], [1, 4, 7, 8]]",
       2 * 4 * 3 * 7 * 16},
      {"aten::mm", "", std::nullopt},                  // shapes were not recorded
      {"aten::mm", "[[2, 3], [4, 5]]", std::nullopt},  // do not fit
      {"aten::mm", "[[2, 3]]", std::nullopt},
      {"aten::silu", "[[2, 3]]", std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(operator_flops(c.name, c.shapes), c.flops) << c.name << " " << c.shapes;
  }
}

}  // namespace
}  // namespace profline::summary
