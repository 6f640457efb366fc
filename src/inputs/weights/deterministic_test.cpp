#include "inputs/weights/deterministic.h"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/weights/dtype.h"

namespace profline::weights {
namespace {

using ::testing::ElementsAre;

TensorSpec tiny_spec(std::string_view name) {
  for (TensorSpec& spec : tensor_specs(tiny_config())) {
    if (spec.name == name) return spec;
  }
  ADD_FAILURE() << name;
  return {"", {1}, Role::Bias};
}

std::array<float, 3> first_three(std::string_view name) {
  std::array<float, 3> values{};
  fill(tiny_spec(name), values);
  return values;
}

// Section 9.3 of the model's description.
TEST(DeterministicWeights, AreTheDescribedNumbers) {
  EXPECT_EQ(name_hash("model.norm.weight"), 0xd6d6e5afd11604e4U);
  EXPECT_EQ(name_hash("lm_head.weight"), 0xab67eb515e1b6f0dU);
  EXPECT_THAT(first_three("model.norm.weight"), ElementsAre(0.91015625F, 0.92578125F, 0.98046875F));
  EXPECT_THAT(first_three("lm_head.weight"),
              ElementsAre(0.427734375F, 0.419921875F, -0.396484375F));
  EXPECT_THAT(first_three("model.sam_model.pos_embed"),
              ElementsAre(0.1640625F, 0.1474609375F, 0.09814453125F));
}

TEST(DeterministicWeights, CanBeMadeInPieces) {
  const TensorSpec spec = tiny_spec("model.embed_tokens.weight");
  std::vector<float> whole(100);
  std::vector<float> pieces(100);
  std::vector<std::uint16_t> halves(40);
  fill(spec, whole);
  fill(spec, std::span(pieces).first(33));
  fill(spec, std::span(pieces).subspan(33), 33);
  fill_bf16(spec, halves, 60);
  EXPECT_EQ(pieces, whole);
  for (std::size_t i = 0; i < halves.size(); ++i) EXPECT_EQ(from_bf16(halves[i]), whole[60 + i]);
}

TEST(DeterministicWeights, StayInTheRangeOfTheirRole) {
  for (const TensorSpec& spec : tensor_specs(tiny_config())) {
    std::vector<float> values(static_cast<std::size_t>(spec.element_count()));
    fill(spec, values);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GT(*most, *least) << spec.name;
    EXPECT_LE(*most, spec.role == Role::Norm ? 1.1015625F : 1.0F) << spec.name;
    EXPECT_GE(*least, spec.role == Role::Norm ? 0.8984375F : -1.0F) << spec.name;
  }
}

}  // namespace
}  // namespace profline::weights
