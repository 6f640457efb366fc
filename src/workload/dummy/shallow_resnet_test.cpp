#include "workload/dummy/shallow_resnet.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::workload {
namespace {

using ::testing::ElementsAre;

class WrittenScopes final : public Scopes {
 public:
  void enter(const char* name) override {
    names.push_back(std::string(depth_, ' ') + name);
    ++depth_;
  }
  void leave() override { --depth_; }

  std::vector<std::string> names;

 private:
  std::size_t depth_ = 0;
};

TEST(ShallowResnet, HasItsPartsInOrder) {
  WrittenScopes scopes;
  const ShallowResnet network(at::kFloat, 1);
  network.forward(at::ones({1, 3, 8, 8}), scopes);
  EXPECT_THAT(scopes.names,
              ElementsAre("stem", "residual", " block.conv1", " block.conv2", " block.conv1",
                          " block.conv2", " block.conv1", " block.conv2", "head"));
}

TEST(ShallowResnet, GivesOneRowAPicture) {
  Scopes none;
  const ShallowResnet network(at::kFloat, 1);
  const at::Tensor out = network.forward(at::ones({4, 3, 64, 64}), none);
  EXPECT_EQ(out.sizes(), (std::vector<std::int64_t>{4, 10}));
  EXPECT_TRUE(at::isfinite(out).all().item<bool>());
  EXPECT_TRUE(out[0].equal(out[3]));
}

TEST(ShallowResnet, FollowsFromItsSeed) {
  Scopes none;
  const at::Tensor images = at::ones({1, 3, 16, 16});
  const at::Tensor first = ShallowResnet(at::kFloat, 1).forward(images, none);
  EXPECT_TRUE(first.equal(ShallowResnet(at::kFloat, 1).forward(images, none)));
  EXPECT_FALSE(first.equal(ShallowResnet(at::kFloat, 2).forward(images, none)));
}

TEST(ShallowResnet, RunsInHalfPrecision) {
  Scopes none;
  const ShallowResnet network(at::kBFloat16, 1);
  const at::Tensor out = network.forward(at::ones({2, 3, 16, 16}, at::kBFloat16), none);
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace profline::workload
