#include "analysis/requests/phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::requests {
namespace {

using ::testing::ElementsAre;

/// Two requests of a model with two towers; only the second generates more than one token.
std::vector<Request> two_requests() {
  Request first;
  first.new_tokens = 1;
  first.ns = 110;
  first.phases = {{"preprocess", 0, 10, {}, true},
                  {"prefill", 10, 100, {}},
                  {"prefill/left", 10, 30, {}},
                  {"prefill/right", 40, 50, {}}};
  Request second = first;
  second.id = 1;
  second.new_tokens = 4;
  second.ns = 140;
  second.phases.push_back({"decode", 110, 30, std::vector<std::int64_t>{9, 10, 11}});
  second.phases.insert(second.phases.begin() + 2, {"prefill/left/attention", 12, 5, {}});
  return {first, second};
}

std::vector<std::string> names_of(const PhaseTree& tree) {
  std::vector<std::string> names;
  for (const PhaseInfo& phase : tree.phases()) names.push_back(phase.name);
  return names;
}

TEST(PhaseTree, ListsPartsAfterTheirParent) {
  const PhaseTree tree(two_requests());
  EXPECT_THAT(names_of(tree),
              ElementsAre("preprocess", "prefill", "left", "attention", "right", "decode"));
  const PhaseInfo& attention = *tree.find("attention");
  EXPECT_EQ(attention.path, "prefill/left/attention");
  EXPECT_EQ(attention.parent, "prefill/left");
  EXPECT_FALSE(attention.has_parts);
  EXPECT_TRUE(tree.find("left")->has_parts);
  EXPECT_EQ(tree.outermost(attention).name, "prefill");
  EXPECT_TRUE(tree.is_inside(attention, *tree.find("prefill")));
  EXPECT_FALSE(tree.is_inside(*tree.find("prefill"), attention));
  EXPECT_FALSE(tree.is_inside(*tree.find("right"), *tree.find("left")));
  EXPECT_TRUE(tree.find("preprocess")->is_host);
  EXPECT_EQ(tree.find("vision"), nullptr);
}

TEST(PhaseTree, KnowsUnits) {
  std::vector<Request> requests = two_requests();
  EXPECT_EQ(PhaseTree(requests).find("decode")->unit, "token");
  EXPECT_EQ(PhaseTree(requests).find("prefill")->unit, "request");
  requests.back().batch = 4;
  EXPECT_EQ(PhaseTree(requests).find("decode")->unit, "step") << "it makes four tokens";
  for (Request& request : requests) request.new_tokens.reset();
  EXPECT_EQ(PhaseTree(requests).find("decode")->unit, "step");
  requests.front().attributes = {{"image", Node::string("a.png")}};
  EXPECT_EQ(PhaseTree(requests).find("prefill")->unit, "image");
}

TEST(PhaseTree, UsesPathsAsNamesWhereTheLastOneIsAmbiguous) {
  Request request;
  request.phases = {{"encode", 0, 5, {}},
                    {"encode/attention", 0, 2, {}},
                    {"decode", 5, 5, {}},
                    {"decode/attention", 5, 2, {}}};
  const PhaseTree tree(std::vector{request});
  EXPECT_THAT(names_of(tree),
              ElementsAre("encode", "encode/attention", "decode", "decode/attention"));
  EXPECT_EQ(tree.find("attention"), nullptr);
}

TEST(PhaseTree, APathWithoutItsParentIsOutermost) {
  Request request;
  request.phases = {{"a/b/c", 0, 5, {}}, {"a", 0, 6, {}}, {"x/y", 6, 1, {}}};
  const PhaseTree tree(std::vector{request});
  EXPECT_EQ(tree.find("c")->parent, "a");
  EXPECT_TRUE(tree.find("y")->is_outermost());
}

TEST(PhaseTree, FindsThePhaseOfAStackOfRanges) {
  const PhaseTree tree(two_requests());
  EXPECT_EQ(tree.phase_of({"request", "prefill", "left", "attention", "gemm"}), "attention");
  EXPECT_EQ(tree.phase_of({"decode", "decode_step"}), "decode");
  EXPECT_EQ(tree.phase_of({"prefill", "copy"}), "prefill");
  EXPECT_EQ(tree.phase_of({"warmup"}), "warmup");
  EXPECT_EQ(tree.phase_of({}), "");
  EXPECT_EQ(PhaseTree().phase_of({"forward", "layer"}), "forward");
}

TEST(PhaseTime, CountsStepsOfAPhaseThatRepeatsAndRequestsOfOthers) {
  const std::vector<Request> requests = two_requests();
  EXPECT_EQ(phase_time(requests, "decode").units, 3);
  EXPECT_EQ(phase_time(requests, "decode").ns, 30);
  EXPECT_EQ(phase_time(requests, "prefill/right").units, 2);
  EXPECT_EQ(phase_time(requests, "prefill/right").ns, 100);
  EXPECT_EQ(phase_time(requests.front(), "decode").units, 0);
  EXPECT_EQ(whole_ns(requests, PhaseTree(requests)), 250);
  Request plain;
  plain.ns = 7;
  EXPECT_EQ(whole_ns(std::vector{plain}, PhaseTree(std::vector{plain})), 7);
}

TEST(PhaseTime, HasASpread) {
  const std::vector<Request> requests = two_requests();
  const auto steps = phase_spread(requests, "decode");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->n, 3U);
  EXPECT_EQ(steps->median, 10);
  EXPECT_EQ(phase_spread(requests, "vision"), std::nullopt);
}

TEST(InputOf, IsThePictureOrTheId) {
  Request request;
  request.id = 3;
  EXPECT_EQ(input_of(request), "id 3");
  request.attributes = {{"image", Node::string("a.png")}, {"epoch", Node::integer(1)}};
  EXPECT_EQ(input_of(request), "a.png\n1\n0");
}

TEST(Units, OfRequestsWithSeveralImagesAreBatches) {
  Request one;
  EXPECT_EQ(unit_of(std::vector{one}), "request");
  one.attributes["image"] = Node::string("a");
  EXPECT_EQ(unit_of(std::vector{one}), "image");
  Request two;
  two.batch = 2;
  two.attributes["images"] = Node::list({Node::string("b"), Node::string("c")});
  EXPECT_EQ(unit_of(std::vector{two, one}), "batch") << "the last of an epoch may have one left";
  Request other = two;
  other.id = 1;
  EXPECT_EQ(subject_of(other), subject_of(two)) << "the same images";
  other.attributes["images"] = Node::list({Node::string("b"), Node::string("d")});
  EXPECT_NE(subject_of(other), subject_of(two));
  other.attributes["epoch"] = Node::integer(1);
  EXPECT_NE(input_of(other), input_of(two));
}

}  // namespace
}  // namespace profline::requests
