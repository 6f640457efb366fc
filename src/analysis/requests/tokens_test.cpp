#include "analysis/requests/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/requests/series.h"

namespace profline::requests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Steps of 2 ms each after a prefill of 10 ms.
Request generated(std::uint64_t new_tokens, std::size_t steps) {
  Request made;
  made.source = RequestSource::Python;
  made.prompt_tokens = 16;
  made.new_tokens = new_tokens;
  made.batch = 1;
  const auto decode_ns = static_cast<std::int64_t>(steps) * 2'000'000;
  made.ns = 10'000'000 + decode_ns;
  made.phases = {{"prefill", 0, 10'000'000, {}},
                 {"decode", 10'000'000, decode_ns, std::vector<std::int64_t>(steps, 2'000'000)}};
  return made;
}

/// transformers: num_beams=4.
Request beam_search(std::uint64_t prompts) {
  Request made = generated(9, 8);
  made.batch = 4 * prompts;
  made.attributes = {{"mode", Node::string("beam_search")}, {"beams", Node::integer(4)}};
  return made;
}

/// transformers: assistant_model=; 8 steps made 32 tokens.
Request assisted() {
  Request made = generated(33, 8);
  made.attributes = {{"mode", Node::string("assisted_generation")}, {"beams", Node::integer(1)}};
  return made;
}

Node list_of(const std::vector<std::int64_t>& numbers) {
  Node::List nodes;
  for (const std::int64_t number : numbers) nodes.push_back(Node::integer(number));
  return Node::list(std::move(nodes));
}

double figure(const Request& one, std::string_view name) {
  for (const Series& series : series_of(std::vector{one})) {
    if (series.name == name) return series.units.at(0);
  }
  return 0;
}

TEST(Tokens, AreOnePerStepAndSequence) {
  const Tokens tokens = tokens_of(generated(9, 8)).value();
  EXPECT_EQ(tokens.all, 9U);
  EXPECT_EQ(tokens.decoded, 8U);
  EXPECT_EQ(tokens.per_step(), 1);
  Request batched = generated(9, 8);
  batched.batch = 3;
  EXPECT_EQ(tokens_of(batched)->all, 27U);
  EXPECT_EQ(tokens_of(batched)->decoded, 24U);
  EXPECT_EQ(tokens_of(batched)->per_step(), 3);
  batched.new_tokens.reset();
  EXPECT_EQ(tokens_of(batched), std::nullopt);
}

TEST(Tokens, OfABeamSearchAreThoseOfTheSequencesItReturned) {
  EXPECT_EQ(tokens_of(beam_search(1))->all, 9U);
  EXPECT_EQ(tokens_of(beam_search(2))->decoded, 16U);
  Request several = beam_search(2);
  several.attributes["num_return_sequences"] = Node::integer(3);
  EXPECT_EQ(tokens_of(several)->all, 54U);
  EXPECT_DOUBLE_EQ(figure(beam_search(1), "tokens_per_s"), 500);
  EXPECT_EQ(figure(beam_search(1), "token_ms"), 0) << "a step computes four sequences";
  EXPECT_DOUBLE_EQ(figure(beam_search(1), "step_ms"), 2);
}

TEST(Tokens, OfAssistedGenerationAreMoreThanItsSteps) {
  EXPECT_EQ(tokens_of(assisted())->decoded, 32U);
  EXPECT_EQ(tokens_of(assisted())->per_step(), 4);
  EXPECT_DOUBLE_EQ(figure(assisted(), "tokens_per_s"), 2000);
  EXPECT_DOUBLE_EQ(figure(assisted(), "steps_per_s"), 500);
  EXPECT_EQ(PhaseTree(std::vector{assisted()}).find("decode")->unit, "step");
}

TEST(Tokens, OfSequencesThatEndEarlyAreFewer) {
  Request ends_early = generated(9, 8);
  ends_early.batch = 3;
  ends_early.attributes["new_tokens_each"] = list_of({9, 2, 4});
  EXPECT_EQ(tokens_of(ends_early)->all, 15U);
  EXPECT_EQ(tokens_of(ends_early)->decoded, 12U);
  EXPECT_DOUBLE_EQ(figure(ends_early, "tokens_per_s"), 750);
  ends_early.attributes["new_tokens_each"] = list_of({4, 2, 4});
  EXPECT_EQ(tokens_of(ends_early)->all, 27U) << "the list is that of another call";
  ends_early.attributes["new_tokens_each"] = Node::string("unknown");
  EXPECT_EQ(tokens_of(ends_early)->all, 27U);
}

TEST(Tokens, OfAProgramsOwnLoopMayIncludeTheFirst) {
  const Request loop = generated(8, 8);
  EXPECT_EQ(tokens_of(loop)->decoded, 8U);
  EXPECT_EQ(PhaseTree(std::vector{loop}).find("decode")->unit, "token");
  Request search = beam_search(1);
  search.new_tokens = 8;
  EXPECT_EQ(tokens_of(search)->decoded, 7U) << "its best sequence ended early";
}

TEST(Tokens, AreStepsOnlyIfTheNumbersAgree) {
  EXPECT_EQ(PhaseTree(std::vector{generated(9, 8)}).find("decode")->unit, "token");
  EXPECT_EQ(PhaseTree(std::vector{generated(1, 0)}).find("decode")->unit, "token");
  EXPECT_EQ(PhaseTree(std::vector{generated(9, 4)}).find("decode")->unit, "step");
  EXPECT_EQ(PhaseTree(std::vector{generated(9, 8), generated(9, 4)}).find("decode")->unit, "step");
}

TEST(Tokens, OfStepsInsideStepsCountOnce) {
  Request nested = generated(9, 8);
  nested.phases.push_back({"decode/sample", 10'000'000, 800, std::vector<std::int64_t>(8, 100)});
  EXPECT_EQ(tokens_of(nested)->steps, 8U);
  EXPECT_DOUBLE_EQ(figure(nested, "tokens_per_s"), 500);
  const PhaseTree tree(std::vector{nested});
  EXPECT_EQ(generating_phases(tree).size(), 1U);
}

TEST(GenerationNotes, NameTheWaysThatDoNotMakeOneTokenPerStep) {
  EXPECT_THAT(generation_notes(std::vector{generated(9, 8)}), IsEmpty());
  EXPECT_THAT(generation_notes(std::vector{assisted(), assisted()}),
              ElementsAre("assisted generation: 4 tokens per step on average"));
  EXPECT_THAT(generation_notes(std::vector{beam_search(2), generated(9, 8)}),
              ElementsAre("beam search, 4 beams (1 of 2 requests): 2 tokens per step on average"));
}

}  // namespace
}  // namespace profline::requests
